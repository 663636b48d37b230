/** What settles after a death, and who settles it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent, Call } from './agent.ts';
import type { BuiltWorker } from './built-worker.ts';
import type { OpenRecord } from './disk.ts';
import { isUnsettled, Violation } from './truth.ts';

/** The alarm looks after a claim four seconds after it was made; a busy machine is given some more. */
export const SETTLE_LIMIT_MS = 20_000;
const LOOK_MS = 100;
/** A call is taken again ten times. */
const ASK_AGAIN_MS = 2_500;

/** Until every attempt that may have been on its way is settled; how long that took since the restart. */
export async function untilSettled(
  worker: BuiltWorker,
  open: { asked: readonly OpenRecord[]; silent: readonly OpenRecord[] },
  restartedAt: number,
): Promise<number> {
  if (open.asked.length + open.silent.length === 0) return 0;
  for (;;) {
    const left = [...(await withoutRow(worker, open.asked)), ...(await withoutAlarm(worker, open.silent))];
    const ms = Date.now() - restartedAt;
    if (left.length === 0) return ms;
    if (ms > SETTLE_LIMIT_MS) throw new Violation(`not settled: ${JSON.stringify(left)}`);
    await sleep(LOOK_MS);
  }
}

/** Sends again what was answered with "not known yet", as a host is told to, until it is known. What stays open the checks name. */
export async function untilTold(agents: readonly Agent[]): Promise<void> {
  for (const deadline = Date.now() + SETTLE_LIMIT_MS; Date.now() < deadline; await sleep(ASK_AGAIN_MS)) {
    const open = agents.map((agent) => ({ agent, calls: agent.calls.filter(isOpen) }));
    if (open.every(({ calls }) => calls.length === 0)) return;
    for (const { agent, calls } of open) for (const call of calls) await agent.send(call);
  }
}

const isOpen = ({ told }: Call): boolean => {
  const last = told.at(-1);
  return last !== undefined && isUnsettled(last);
};

/** Those whose attempt has no row in the ledger: it may still come to be, and to nothing. */
async function withoutRow(worker: BuiltWorker, records: readonly OpenRecord[]): Promise<OpenRecord[]> {
  const rows = await worker.rows<{ call_key: string; attempt: number }>(
    'SELECT call_key, attempt FROM attempts WHERE call_key IN (SELECT value FROM json_each(?))',
    JSON.stringify(records.map(({ key }) => key)),
  );
  const settled = new Set(rows.map(({ call_key, attempt }) => `${call_key} ${attempt}`));
  return records.filter(({ key, attempt }) => !settled.has(`${key} ${attempt}`));
}

/**
 * Those of which no alarm has told since the death. The ledger's row may be older than that, and would not show that anybody
 * came back for it: the alarm does, by its own event for a claim, by the row of the decision for what was approved.
 */
async function withoutAlarm(worker: BuiltWorker, records: readonly OpenRecord[]): Promise<OpenRecord[]> {
  const rows = await worker.auditRows<{ uid: string; key: string; kind: string; seq: number }>(
    `SELECT uid, key, kind, seq FROM audit
     WHERE uid IN (SELECT value FROM json_each(?)) AND (kind = 'decision' OR (kind = 'event' AND actor = 'alarm'))`,
    JSON.stringify(records.map(({ uid }) => uid)),
  );
  return records.filter(({ uid, key, state, head }) => {
    const kind = state === 'approved' ? 'decision' : 'event';
    return !rows.some((row) => row.uid === uid && row.key === key && row.kind === kind && row.seq > head);
  });
}
