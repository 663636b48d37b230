/**
 * Stage 8: the handler runs. A read answers with its data. An effect is sent under a claim that is durable already, and
 * only the ledger's row, applied or void, is its result: an error after the send says nothing about what happened.
 */
import { DriftedAnswer } from '../../log-line.ts';
import type { Verdict } from '../../outcome.ts';
import type { Attempt, EffectRecord, FinalAnswer, LedgerRow } from '../../ports.ts';
import type { ConfirmedCall, KeyedRead } from '../calls.ts';
import { sendExternal, settleAs, settleExternal, type Run } from '../external.ts';
import type { Gate } from '../gate.ts';
import { effectKeyOf } from '../effect-key.ts';
import { failedRead, toolCode } from './5-business-rules.ts';
import { deadlineOf } from '../deadline.ts';

export async function executeRead(call: KeyedRead, gate: Gate): Promise<Verdict> {
  const { definition, bound } = call;
  const { customer_id } = gate.scope();
  try {
    const ran = await gate.upstream.run((signal) => bound.run(gate.kit, { customer_id, signal }), {
      tryMs: definition.timeoutMs,
      deadline: deadlineOf(call),
    });
    if (!ran.ok) return { ok: false, refusal: toolCode(definition, ran.code, ran.facts) };
    const misfit = definition.misfit(ran.data);
    // The field goes to the log, not to the model: a drifted backend must not leak what it now sends.
    if (misfit !== null) throw new DriftedAnswer(definition.name, misfit);
    return { ok: true, data: ran.data, replayed: false };
  } catch (error) {
    return { ok: false, refusal: failedRead(error, definition, gate) };
  }
}

/** Sends the claimed attempt; null: nobody said what became of it, and the record stays unknown. */
export async function sendEffect(call: ConfirmedCall, record: EffectRecord, gate: Gate): Promise<LedgerRow | null> {
  const { bound, definition, started_at } = call;
  const { customer_id } = gate.scope();
  if (bound.external !== null)
    return sendExternal(record, { ...runOf(record, started_at, gate), recipe: bound.external });
  return settledBy(gate, started_at, definition.timeoutMs, (signal) =>
    bound.send(gate.kit, attemptOf(record, gate), { customer_id, signal }),
  );
}

/** An attempt that may have left for another system; null: still unknown. */
export const settleSent = (record: EffectRecord, started_at: number, gate: Gate): Promise<LedgerRow | null> =>
  settleExternal(record, runOf(record, started_at, gate));

/** Says "this attempt will never be applied", or learns that it was; null: the ledger did not say. */
export async function voidAttempt(record: EffectRecord, code: string, gate: Gate): Promise<LedgerRow | null> {
  if (record.external !== null) return settleSentAs(record, { applied: false, code, facts: {} }, gate);
  return settledBy(gate, gate.now(), VOID_TRY_MS, () => gate.attempts.void(attemptOf(record, gate), code));
}
const VOID_TRY_MS = 2_000;

/** Settles an attempt in another system by what is known of it. */
export const settleSentAs = (record: EffectRecord, final: FinalAnswer, gate: Gate): Promise<LedgerRow | null> =>
  settleAs(record, final, runOf(record, gate.now(), gate));

export const runOf = (record: EffectRecord, started_at: number, gate: Gate): Run => ({
  gate,
  attempt: attemptOf(record, gate),
  deadline: deadlineOf({ started_at }),
});

async function settledBy(
  gate: Gate,
  started_at: number,
  tryMs: number,
  work: (signal: AbortSignal) => Promise<LedgerRow>,
): Promise<LedgerRow | null> {
  try {
    return await gate.upstream.run(work, { tryMs, deadline: deadlineOf({ started_at }) });
  } catch (error) {
    gate.report(gate.newId('err'), error);
    return null;
  }
}

/** From the record alone: a later version of the tool must not write an attempt to another place than the first did. */
function attemptOf(record: EffectRecord, gate: Gate): Attempt {
  const { caller_id, uid } = gate.scope();
  const { key, attempt, tool, backend, money } = record;
  const effect_key = effectKeyOf(record);
  const subject = record.subject ?? effect_key;
  return { effect_key, call_key: key, attempt, uid, caller_id, tool, backend, subject, money };
}
