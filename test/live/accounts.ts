/** What must hold in sum over all sessions: limits and consents of effects, and counts that leave no room for one more. */
import { CONFIRM_ABOVE_CENTS, type Call } from './agent.ts';
import type { Asked } from './approver.ts';
import type { BuiltWorker } from './built-worker.ts';
import type { Session } from './gate.ts';
import { demand } from './truth.ts';

/** No session moved more than it was opened for. */
export async function checkLimits(worker: BuiltWorker, sessions: readonly Session[]): Promise<void> {
  const rows = await worker.rows<{ uid: string; cents: number }>(
    'SELECT uid, sum(amount_cents) AS cents FROM attempts WHERE applied = 1 GROUP BY uid',
  );
  const moved = new Map(rows.map(({ uid, cents }) => [uid, cents]));
  for (const { uid, session_id, limits } of sessions) {
    const { max_session_refund_cents: most = Infinity } = limits;
    const cents = moved.get(uid) ?? 0;
    demand(cents <= most, () => `${session_id} moved ${cents} cents, and ${most} is its limit`);
  }
}

/** What needs a person was done once for each yes that was carried out, and never for a no. */
export async function checkConsents(worker: BuiltWorker, asked: readonly Asked[]): Promise<void> {
  const rows = await worker.rows<{ call_key: string; amount_cents: number }>(
    'SELECT call_key, amount_cents FROM attempts WHERE applied = 1',
  );
  const applied = new Set(rows.map(({ call_key }) => call_key));
  const executed = new Map<string | null, number>();
  for (const { id, status, wanted, call } of asked) {
    const isApplied = call.key !== null && applied.has(call.key);
    demand(status !== 'rejected' || !isApplied, () => `${id} is rejected, but ${call.key} was applied`);
    if (status !== 'executed') continue;
    demand(wanted === 'approve' && isApplied, () => `${id} is executed, wanted ${wanted}, applied ${isApplied}`);
    executed.set(call.key, (executed.get(call.key) ?? 0) + 1);
  }
  // One that failed may be asked for anew, so what counts is the yes that was carried out.
  for (const { call_key, amount_cents } of rows) {
    const consents = executed.get(call_key) ?? 0;
    const due = amount_cents > CONFIRM_ABOVE_CENTS ? 1 : 0;
    demand(consents === due, () => `${call_key} moved ${amount_cents} cents with ${consents} consents`);
  }
}

/** Every call has its row and every effect its host, and nothing else is there. */
export async function account(worker: BuiltWorker, calls: readonly Call[]): Promise<string> {
  const isDone = ({ key, told }: Call): boolean => key !== null && told.at(-1)?.ok === true;
  const told = { calls: calls.length, effects: new Set(calls.filter(isDone).map(({ key }) => key)).size };
  const [audited] = await worker.auditRows<{ calls: number }>(
    "SELECT count(*) AS calls FROM (SELECT DISTINCT uid, call_id FROM audit WHERE kind = 'call')",
  );
  const [counted] = await worker.rows<{ effects: number; cents: number; moved: number }>(
    `SELECT (SELECT count(*) FROM attempts WHERE applied = 1) AS effects,
            (SELECT coalesce(sum(amount_cents), 0) FROM attempts WHERE applied = 1) AS cents,
            (SELECT coalesce(sum(applied_cents), 0) FROM subject_totals) AS moved`,
  );
  demand(
    audited?.calls === told.calls && counted?.effects === told.effects && counted.cents === counted.moved,
    () => `hosts count ${JSON.stringify(told)}, the ledger and the audit ${JSON.stringify({ ...audited, ...counted })}`,
  );
  return (
    `${told.calls} calls answered, ${audited?.calls} in the audit; ${told.effects} refunds told as done, ` +
    `${counted?.effects} applied; ${counted?.cents} cents applied, ${counted?.moved} moved.`
  );
}
