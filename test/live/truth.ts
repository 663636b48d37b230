/**
 * What must hold once everything has settled, whatever died on the way: the ledger, the audit and what hosts were told are
 * one story. Each check names the first thing that is wrong.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson } from '../../src/gate/canonical.ts';
import type { JsonValue } from '../../src/gate/json.ts';
import { disagreements, type BookedAttempt, type BookedRow, type SubjectTotal } from '../../scripts/books.ts';
import { runGuarded } from '../../scripts/guarded.ts';
import type { Call } from './agent.ts';
import type { Asked } from './approver.ts';
import { DECIDED } from './approver.ts';
import { ADMIN_TOKEN, type BuiltWorker } from './built-worker.ts';
import type { Session, Told } from './gate.ts';

const ROOT = join(import.meta.dirname, '../..');
const VERIFY_LIMIT_MS = 120_000;

/** Rows travel within five seconds; ten more where the object died with its alarm. */
const TRAVEL_LIMIT_MS = 25_000;
const LOOK_MS = 100;

export class Violation extends Error {}

export function demand(holds: boolean, what: () => string): void {
  if (!holds) throw new Violation(what());
}

/** One intent, one effect, and never more is refunded than was paid. */
export async function checkLedger(worker: BuiltWorker): Promise<void> {
  // No policy here lets a session repeat an effect, so equal rows are doubles whatever key the product gave them.
  for (const intent of ['call_key', 'uid, subject, amount_cents, currency, details']) {
    const twice = await worker.rows<{ keys: string }>(
      `SELECT group_concat(call_key) AS keys FROM attempts WHERE applied = 1 GROUP BY ${intent} HAVING count(*) > 1`,
    );
    demand(twice.length === 0, () => `applied twice: ${twice.map(({ keys }) => keys).join('; ')}`);
  }
  const overpaid = await worker.rows<{ order_id: string }>(
    `SELECT order_id FROM orders
     JOIN subject_totals ON backend = 'ledger:orders' AND subject = order_id WHERE applied_cents > total_cents`,
  );
  demand(overpaid.length === 0, () => `refunded more than was paid: ${JSON.stringify(overpaid)}`);
}

/** Ledger, totals and audit, of all sessions and once all rows have travelled. */
export async function checkBooks(worker: BuiltWorker): Promise<void> {
  const rows = await worker.auditRows<Required<BookedRow>>(
    'SELECT uid, seq, key, attempt, result_hash FROM audit WHERE attempt IS NOT NULL',
  );
  const attempts = await worker.rows<Required<BookedAttempt> & { applied: number; answer: string }>(
    'SELECT call_key, attempt, uid, applied, backend, subject, amount_cents, currency, answer FROM attempts',
  );
  const totals = await worker.rows<Required<SubjectTotal>>('SELECT * FROM subject_totals');
  const [first] = disagreements({ rows, attempts, totals });
  demand(first === undefined, () => `the books disagree: ${JSON.stringify(first)}`);
}

/** What hosts were told of their refunds is so: done exactly if and as the ledger says, and never taken back. */
export async function checkTold(worker: BuiltWorker, calls: readonly Call[]): Promise<void> {
  const rows = await worker.rows<{ call_key: string; intent: string; answer: string }>(
    `SELECT call_key, answer, json_patch(details, json_object('uid', uid)) AS intent
     FROM attempts WHERE applied = 1 AND uid IN (SELECT value FROM json_each(?))`,
    JSON.stringify([...new Set(calls.map(({ session }) => session.uid))]),
  );
  const applied = new Map(rows.map((row) => [row.call_key, row]));
  const told = new Set<string>();
  for (const call of calls) {
    checkCodes(call);
    const { key } = call;
    if (key === null) continue;
    const row = applied.get(key);
    checkAnswers(call, row === undefined ? undefined : canonical(row.answer));
    const intent = canonicalJson({ uid: call.session.uid, ...call.arguments });
    demand(row === undefined || canonical(row.intent) === intent, () => `asked for ${intent}, applied ${row?.intent}`);
    if (call.told.at(-1)?.ok === true) told.add(key);
  }
  for (const [key, { intent }] of applied)
    demand(told.has(key), () => `applied, but no host was told so at last: ${key} ${intent}`);
}

const canonical = (json: string): string => canonicalJson(JSON.parse(json) as JsonValue);

const OPEN = new Set(['CONFIRMATION_REQUIRED', 'UPSTREAM_UNAVAILABLE']);

/** Only what an answer leaves open may become something else when its call is sent again. */
function checkCodes({ session, call_id, told }: Call): void {
  const codes = told.map(({ code }) => code);
  const isOff = codes.some((code, place) => {
    const before = codes[place - 1];
    return code === 'INTERNAL_ERROR' || (before !== undefined && !OPEN.has(before) && before !== code);
  });
  demand(!isOff, () => `${session.session_id} ${call_id} was told ${codes.join(', then ')}`);
}

function checkAnswers(call: Call, applied: string | undefined): void {
  const last = call.told.at(-1);
  const name = `${call.session.session_id} ${call.call_id}`;
  demand(last !== undefined, () => `${name} was never answered`);
  demand(new Set(call.told.map(({ step }) => step)).size <= 1, () => `${name} was told of two steps`);
  for (const told of call.told.filter(({ ok }) => ok)) {
    const data = canonicalJson((told.data ?? {}) as JsonValue);
    demand(data === applied, () => `${name} was told ${data}, the ledger says ${applied ?? 'nothing'}`);
  }
  demand(last === undefined || !isUnsettled(last), () => `${name} is stuck: ${last?.code} ${last?.message}`);
}

/** Answers that say "not known yet"; none may stand once the alarm had its time. */
export const isUnsettled = ({ code, message, approval }: Told): boolean =>
  (code === 'UPSTREAM_UNAVAILABLE' && message?.includes('Nothing was changed') !== true) ||
  approval?.status === 'approved';

type AuditRow = {
  seq: number;
  hash: string;
  kind: string;
  call_id: string | null;
  step: number | null;
  ok: number;
  code: string;
};

/** Every answered call has its one row, which says what its host was told, and no two calls share a step. */
export async function checkRows(worker: BuiltWorker, session: Session, calls: readonly Call[]): Promise<void> {
  const rows = await worker.auditRows<AuditRow>(
    'SELECT seq, hash, kind, call_id, step, ok, code FROM audit WHERE uid = ?',
    session.uid,
  );
  const placed = new Map(rows.map((row) => [row.seq, row]));
  const steps = new Set<number>();
  for (const { key, call_id, sent, told } of calls) {
    const name = `${session.session_id} ${call_id}`;
    const own = rows.filter((row) => row.kind === 'call' && row.call_id === call_id).length;
    // A read whose answer was lost is read again, and leaves a row each time.
    demand(own === 1 || (key === null && own > 1 && own <= sent), () => `${name} has ${own} rows`);
    for (const answer of told) checkRow(name, answer, placed.get(answer.audit.seq));
    const step = told.at(-1)?.step;
    demand(step != null && !steps.has(step), () => `${name} shares step ${step} with another call`);
    if (step != null) steps.add(step);
  }
}

/** An answer that is told again may say more than the row it names: what was open then is told as it is now. */
function checkRow(name: string, { audit, replayed, step, ok, code }: Told, row: AuditRow | undefined): void {
  demand(row?.hash === audit.hash, () => `${name} was shown another hash of row ${audit.seq}`);
  const isSame = row?.step === step && row.ok === Number(ok) && row.code === code;
  demand(replayed || isSame, () => `${name} was told ${code} at step ${step}, its row says ${JSON.stringify(row)}`);
}

/** A person's decision stands, and only an approval that was executed moved money. */
export async function checkDecisions(worker: BuiltWorker, asked: readonly Asked[]): Promise<void> {
  const rows = await worker.auditRows<{ approval_id: string; decisions: number; attempts: number }>(
    `SELECT approval_id, sum(kind = 'decision') AS decisions, sum(attempt IS NOT NULL) AS attempts
     FROM audit WHERE approval_id IS NOT NULL GROUP BY approval_id`,
  );
  const counted = new Map(rows.map((row) => [row.approval_id, row]));
  for (const { id, status, wanted, answers } of asked) {
    const { decisions = 0, attempts = 0 } = counted.get(id) ?? {};
    const isDecided = status === 'executed' || status === 'rejected' || status === 'failed';
    const told = `${id} is ${status}, wanted ${wanted}, answers ${answers.join(' ')}`;
    demand(status !== 'approved', () => `${told}: stuck`);
    demand(!answers.includes(DECIDED) || isDecided, () => `${told}: the decision was lost`);
    demand(wanted === 'approve' ? status !== 'rejected' : status === 'pending' || status === 'rejected', () => told);
    demand(decisions === (isDecided ? 1 : 0), () => `${told}: ${decisions} rows of decisions`);
    demand(attempts === (status === 'executed' ? 1 : 0), () => `${told}: ${attempts} rows of effects`);
  }
}

/** `npm run audit:verify`; what it says. */
export async function verifyAudit(worker: BuiltWorker): Promise<string> {
  const command = [process.execPath, 'scripts/audit-verify.ts', worker.url];
  const env = { ...process.env, ADMIN_TOKEN };
  const { code, stdout, stderr } = await runGuarded(command, { cwd: ROOT, env }, VERIFY_LIMIT_MS);
  demand(code === 0, () => stderr.trim());
  return stdout.trim();
}

/** Rows travel for some seconds before they can be looked at. */
export async function inTime(check: () => Promise<void>, limitMs = TRAVEL_LIMIT_MS): Promise<void> {
  for (const deadline = Date.now() + limitMs; ; await sleep(LOOK_MS)) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof Violation) || Date.now() > deadline) throw error;
    }
  }
}
