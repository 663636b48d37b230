/**
 * `npm run demo [-- --wait]`: the real Worker on this machine, a scripted agent, one approval by mail, one refund in another
 * system whose answer is lost, and the proof at the end. With `--wait` the approval is left to you: open the printed link.
 */
import { onEnding } from './ending.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { askJson } from './answer.ts';
import { approveOnPage, linkInMail } from './demo-approval.ts';
import { openDemo } from './demo-caller.ts';
import { afterApproval, beforeApproval, CONFIRM_ABOVE_CENTS, MAX_STEPS, type Scene } from './demo-script.ts';
import { playPayments, preparePayments, type PaymentsDemo } from './demo-payments.ts';
import { personRow, tableHead, tableRow } from './demo-table.ts';
import { runGuarded, stopAll } from './guarded.ts';
import { startWorker, type LocalWorker } from './local-worker.ts';

const VERIFY_LIMIT_MS = 60_000;
const SESSION_ID = 'demo';
const CALLER = {
  name: 'Demo shop',
  allowed_tools: ['get_order', 'refund_order', 'refund_payment'],
  approvers: ['owner@example.com'],
  confirm_above_cents: CONFIRM_ABOVE_CENTS,
  max_steps: MAX_STEPS,
};

const ROOT = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { wait: { type: 'boolean', default: false } } });

const outcome = z.object({
  code: z.string(),
  replayed: z.boolean(),
  approval: z.object({ id: z.string() }).optional(),
});
const attempts = z.object({ rows: z.array(z.object({ call_key: z.string(), applied: z.boolean() })) });
const auditRows = z.object({
  rows: z.array(
    z.object({
      seq: z.int(),
      kind: z.string(),
      actor: z.string(),
      tool: z.string().nullable(),
      code: z.string(),
      attempt: z.int().nullable(),
      hash: z.string(),
    }),
  ),
});

const folder = mkdtempSync(join(tmpdir(), 'toolgate-demo-'));
let ending: Promise<never> | undefined;
let payments: PaymentsDemo | undefined;

onEnding(() => void end(130));
try {
  payments = await preparePayments();
  const worker = await startWorker({
    variables: payments.variables,
    persistTo: folder,
    secretsFile: join(folder, 'secrets'),
    main: join(ROOT, 'demo/worker.ts'),
    onPhase: (phase) => console.log(phase),
  });
  await Promise.race([play(worker), worker.ended.then((reason) => Promise.reject(new Error(reason)))]);
  await end(0);
} catch (error) {
  if (ending === undefined) console.error(error instanceof Error ? error.message : error);
  await end(1);
}

/** Leaves nothing behind: no process, no port, no file. The first reason to end gives the exit code. */
async function end(exitCode: number): Promise<never> {
  ending ??= cleanUp().then(() => process.exit(exitCode));
  return ending;
}

async function cleanUp(): Promise<void> {
  await stopAll();
  await payments?.server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function play({ url, adminToken, mails }: LocalWorker): Promise<void> {
  const ask = (path: string, credential: string, body?: object) => askJson(`${url}${path}`, credential, body);
  const { token, apiKey } = await openDemo({ url, adminToken }, CALLER, { session_id: SESSION_ID });
  const ledger = async (): Promise<number> =>
    attempts.parse(await ask('/admin/ledger', adminToken)).rows.filter(({ applied }) => applied).length;

  console.log(
    `\nRefunds above ${CONFIRM_ABOVE_CENTS / 100}.00 need a person; the agent acts for customer CUS-1.\n\n${tableHead()}`,
  );
  let number = 0;
  let approvalId: string | undefined;
  const propose = async (scene: Scene) => {
    const before = await ledger();
    const told = outcome.parse(await ask('/v1/calls', token, { tool: scene.tool, arguments: scene.arguments }));
    const moved = (await ledger()) - before;
    number += 1;
    const fromRecord = told.replayed || (approvalId !== undefined && told.approval?.id === approvalId);
    approvalId = told.approval?.id ?? approvalId;
    const ledgerDid = moved === 0 ? '—' : moved === 1 ? 'moved once' : `moved ${moved} times`;
    console.log(tableRow(number, scene, { ...told, fromRecord }, ledgerDid));
  };

  for (const scene of beforeApproval) await propose(scene);
  if (approvalId === undefined) throw new Error('nothing was left for a person to approve');
  const before = await ledger();
  const link = await linkInMail({ url, mails }, approvalId);
  if (values.wait) await waitForPerson(link, () => ask(`/v1/approvals/${approvalId}?wait=25`, token));
  else await approveOnPage(link, '25.90');
  const decided = (await ledger()) > before ? 'moved once' : '—';
  console.log(personRow(`a person reads the mail and ${values.wait ? 'decides' : 'types 25.90'} on the page`, decided));
  for (const scene of afterApproval) await propose(scene);

  if (payments !== undefined) await playPayments({ url, adminToken, apiKey }, payments);
  await showAudit(url, adminToken, ask);
}

type Ask = (path: string, credential: string, body?: object) => Promise<unknown>;

async function waitForPerson(link: string, poll: () => Promise<unknown>): Promise<void> {
  console.log(`\nOpen this link, type 25.90 and send your decision (Ctrl-C ends the demo):\n${link}\n`);
  const undecided = ['pending', 'approved'];
  while (undecided.includes(z.object({ status: z.string() }).parse(await poll()).status));
}

async function showAudit(url: string, adminToken: string, ask: Ask): Promise<void> {
  console.log('\nThe audit trail, each row chained to the one before:');
  const verified = await verify(url, adminToken);
  const { rows } = auditRows.parse(await ask(`/admin/audit?session_id=${SESSION_ID}&limit=100`, adminToken));
  for (const { seq, kind, actor, tool, code, attempt, hash } of rows) {
    const effect = attempt === null ? '' : `  ← attempt ${attempt} applied`;
    console.log(
      `${String(seq).padStart(3)}  ${hash.slice(0, 8)}  ${kind.padEnd(8)}  ${actor.padEnd(10)}  ${(tool ?? '').padEnd(17)}  ${code}${effect}`,
    );
  }
  console.log(`\n${verified}`);
}

/** What `npm run audit:verify` says; throws where the audit is broken. Waits for rows that are still on their way. */
async function verify(url: string, adminToken: string): Promise<string> {
  const script = join(ROOT, 'scripts/audit-verify.ts');
  const env = { ...process.env, ADMIN_TOKEN: adminToken };
  const command = [process.execPath, script, url];
  const { code, stdout, stderr } = await runGuarded(command, { cwd: ROOT, env }, VERIFY_LIMIT_MS);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}
