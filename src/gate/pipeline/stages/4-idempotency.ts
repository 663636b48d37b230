/**
 * Stage 4: one intent, one effect. First the call's id and its repetitions, then what the record of its key says
 * (the table of docs/specification.md#life-of-an-effect). Reads are never answered from a record.
 */
import { hashOf } from '../../canonical.ts';
import { UNSETTLED, type Verdict } from '../../outcome.ts';
import type { EffectRecord } from '../../ports.ts';
import type { KeyedCall, KeyedEffect, Proposal, Step, ValidCall } from '../calls.ts';
import { originOf } from '../calls.ts';
import type { Gate } from '../gate.ts';
import { expire, resumeApproved } from '../stored-actions.ts';
import { verdictOf } from '../record-verdict.ts';
import { deadlineOf } from '../deadline.ts';

/** Names the intent: same caller, session, tool and arguments (defaults filled in). A stored key is never recomputed. */
export function bindKey(call: ValidCall, gate: Gate): Step<KeyedCall> & { key: string } {
  const { caller_id, uid, max_duplicate_calls } = gate.scope();
  const { name, effect } = call.definition;
  const key = hashOf(['toolgate-1', caller_id, uid, name, call.bound.input]);
  const earlier = gate.earlier(call.call_id);
  const count = gate.countCall(key, effect);
  if (earlier !== null && earlier.fingerprint !== call.fingerprint)
    return { ok: false, key, refusal: { code: 'CALL_ID_REUSED' } };
  if (count > max_duplicate_calls && !isOpen(gate.records.current(key)))
    return { ok: false, key, refusal: { code: 'LOOP_DETECTED', max_duplicate_calls } };
  return { ok: true, key, call: { ...call, key } };
}

/** What is not decided yet may change: asking again is no loop. */
const isOpen = (record: EffectRecord | null): boolean =>
  record !== null && ['pending', 'approved', 'claimed'].includes(record.state);

/** Either an answer the record holds, or the call to be judged, its key taken: `release` gives the key back. */
export type Consulted =
  | { answered: true; verdict: Verdict; record: EffectRecord }
  | { answered: false; call: Proposal; release: () => void };

/**
 * Waits while the key runs, then goes by the record. From the last look at `isRunning` to `occupy` nothing is awaited:
 * of many equal calls exactly one is judged.
 */
export async function consultRecord(call: KeyedEffect, gate: Gate): Promise<Consulted> {
  const doneBefore = gate.records.executedRound(call.key);
  let joined = false;
  for (;;) {
    while (gate.isRunning(call.key)) {
      joined = true;
      await gate.whenFree(call.key);
    }
    const record = gate.records.current(call.key);
    if (record === null) return judged(call, null, gate);
    switch (record.state) {
      case 'pending':
        if (!expire(record, 'session', gate)) return { answered: true, record, verdict: verdictOf(record) };
        break;
      case 'approved':
        if (joined || gate.now() > deadlineOf(call)) return { answered: true, record, verdict: unsettled };
        await resumeApproved(record, gate);
        joined = true;
        break;
      case 'claimed':
        return joined ? { answered: true, record, verdict: unsettled } : judged(call, record, gate);
      case 'executed':
        // Executed before this call came, it is a repetition to ask about; executed while it waited, it is its answer.
        if (gate.scope().identical_effects === 'ask' && record.round <= doneBefore)
          return judged(call, null, gate, true);
        return { answered: true, record, verdict: verdictOf(record) };
      case 'rejected':
        return { answered: true, record, verdict: verdictOf(record) };
      case 'expired':
      case 'failed':
        return judged(call, null, gate);
    }
  }
}

/** The one who ran the key could not tell; asking the ledger again at once would only hammer it. */
const unsettled: Verdict = { ok: false, refusal: UNSETTLED };

function judged(call: KeyedEffect, open: EffectRecord | null, gate: Gate, repeated = false): Consulted {
  const { definition, bound, key, call_id, step, fingerprint, started_at } = call;
  const attempt = open?.attempt ?? gate.records.nextAttempt(key);
  const shared = { origin: originOf(call), definition, bound, key, attempt, call_id, step, fingerprint, started_at };
  return {
    answered: false,
    release: gate.occupy(key),
    call: { ...shared, open, approval: null, repeated },
  };
}
