/**
 * `npm run audit:verify -- URL [--since FILE] [--evidence FILE]`: recomputes every chain of the audit, compares its end with what
 * the session objects say, every effect and total with the ledger and every decision with the approvals, and names everything
 * that is wrong. Needs ADMIN_TOKEN in the environment; for a Worker on this machine, that of .dev.vars will do.
 *
 * `--since FILE` goes on from what the last run with this FILE confirmed, and keeps there what this one did. `--evidence FILE`
 * holds log lines of the Worker, or lines of `uid seq hash`, each of which must be in the chains.
 */
import { join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs, parseEnv } from 'node:util';
import { isWrong, reportOf } from './breaks.ts';
import { readConfirmed, writeConfirmed } from './confirmed.ts';
import { readEvidence } from './evidence.ts';
import { OperatorView } from './operator-view.ts';
import { VerificationRun } from './verify.ts';

const PROGRESS_MS = 5_000;

const { url, since, evidence } = wanted();
const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
// The local token is never sent to another Worker, which needs a token of its own.
const adminToken = process.env['ADMIN_TOKEN'] ?? (isHere ? keptAdminToken() : undefined);
try {
  await verify(adminToken ?? usage());
} catch (error) {
  // Neither whole nor broken: the audit could not be read to its end.
  console.error(`Not verified: ${reasonOf(error)}`);
  process.exitCode = 2;
}

async function verify(token: string): Promise<void> {
  const begun = Date.now();
  const earlier = since !== undefined && existsSync(since) ? await readConfirmed(since, url.origin) : null;
  const run = new VerificationRun(new OperatorView(url, token), {
    earlier,
    note: (line) => console.error(line),
    ...(evidence === undefined ? {} : { evidence: readEvidence(evidence) }),
  });
  const progress = setInterval(() => console.error(`${told(run.read)} read …`), PROGRESS_MS);
  const breaks = await run.breaks().finally(() => clearInterval(progress));
  if (breaks.length > 0) {
    const wrong = breaks.filter(isWrong).length;
    console.error(`${wrong > 0 ? `Broken: ${counted(wrong, 'break')}` : 'Not verified'}.\n\n${reportOf(breaks)}`);
    process.exitCode = wrong > 0 ? 1 : 2;
    return;
  }
  const { verification } = run;
  const from = earlier === null ? '' : `, going on from ${new Date(earlier.at).toISOString()}`;
  console.log(`The audit is whole${from}: ${summary(verification.counts)}.`);
  if (since !== undefined) writeConfirmed(since, url.origin, begun, verification.confirmed());
}

function told(read: VerificationRun['read']): string {
  return Object.entries(read)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function summary({ rows, sessions, effects, decisions, pieces }: VerificationRun['verification']['counts']): string {
  return [
    `${counted(rows, 'row')} of ${counted(sessions, 'session')}`,
    `${counted(effects, 'effect')}, each in the ledger with its figures`,
    ...(decisions === 0 ? [] : [`${counted(decisions, 'decision')}, each by the person whom the list names`]),
    ...(pieces === 0 ? [] : [`${counted(pieces, 'piece')} of evidence, each in the chains`]),
  ].join('; ');
}

function wanted(): { url: URL; since: string | undefined; evidence: string | undefined } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { since: { type: 'string' }, evidence: { type: 'string' } },
    });
    const [url, ...more] = positionals;
    if (url === undefined || more.length > 0 || !URL.canParse(url)) return usage();
    return { url: new URL(url), since: values.since, evidence: values.evidence };
  } catch {
    return usage();
  }
}

function usage(): never {
  console.error('usage: ADMIN_TOKEN=… npm run audit:verify -- URL [--since FILE] [--evidence FILE]');
  process.exit(2);
}

/** A refused answer says so itself; of a failed connection the cause says more. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Of the Worker that `npm run dev` serves. */
function keptAdminToken(): string | undefined {
  const file = join(import.meta.dirname, '../.dev.vars');
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))['ADMIN_TOKEN'] : undefined;
}

function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
