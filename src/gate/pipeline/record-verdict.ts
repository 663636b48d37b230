/** What a record says to whoever asks about it: a repeated call, a transport retry, a poll. */
import { UNREACHED, UNSETTLED, type ApprovalNotice, type ApprovalStatus, type Verdict } from '../outcome.ts';
import type { JsonObject } from '../json.ts';
import type { EffectRecord } from '../ports.ts';
import { timestamp } from '../time.ts';

/** An effect that was done; null: what the other system answered cannot be read, and it must not be done again. */
export const doneVerdict = (answer: JsonObject | null, replayed: boolean): Verdict =>
  answer === null
    ? { ok: false, refusal: { code: 'ANSWER_UNREADABLE' }, replayed }
    : { ok: true, data: answer, replayed };

/** An applied effect is replayed from what the ledger's row held; nothing else is ever told as done. */
export function verdictOf(record: EffectRecord): Verdict {
  switch (record.state) {
    case 'executed':
      return doneVerdict(record.answer, true);
    case 'rejected':
      return { ok: false, refusal: { code: 'CONFIRMATION_REJECTED', note: record.approval?.note ?? null } };
    case 'failed':
      return { ok: false, refusal: record.refusal ?? UNREACHED };
    case 'expired':
      return { ok: false, refusal: { code: 'APPROVAL_EXPIRED' } };
    default: {
      const approval = noticeOf(record);
      return approval === null
        ? { ok: false, refusal: UNSETTLED }
        : { ok: false, refusal: { code: 'CONFIRMATION_REQUIRED', approval } };
    }
  }
}

/** A record's state as its approval has it; one with an approval is never *claimed*, since *approved* is its claim. */
export const statusOf = ({ state }: EffectRecord): ApprovalStatus => (state === 'claimed' ? 'approved' : state);

/** What a caller sees of an approval: never a link, never an address. */
function noticeOf(record: EffectRecord): ApprovalNotice | null {
  const { approval } = record;
  if (approval === null) return null;
  return {
    id: approval.id,
    status: statusOf(record),
    expires_at: timestamp(approval.expires_at),
    arguments: record.input,
  };
}
