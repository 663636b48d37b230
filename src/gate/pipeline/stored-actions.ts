/**
 * What happens to stored actions outside a call of the agent: a person's decision, the resumption of what they approved,
 * the settling of what nobody runs, expiry. All of it judges the stored arguments under the policy of now. Whoever calls
 * these holds the record's key, apart from `expire`, which awaits nothing.
 */
import { UNREACHED } from '../outcome.ts';
import type { EffectRecord, LedgerRow } from '../ports.ts';
import type { ConfirmedCall, Proposal } from './calls.ts';
import { isLate, mayHaveLeft } from './external.ts';
import type { Decision, Gate, Origin, Refused, Stage } from './gate.ts';
import { endingOf, voidOpen } from './settlement.ts';
import { allowedTool } from './stages/1-resolve.ts';
import type { Checking } from './stages/5-business-rules.ts';
import { businessRules, isJudgement } from './stages/5-business-rules.ts';
import { policy } from './stages/6-policy.ts';
import { confirmation } from './stages/7-confirmation.ts';
import { sendEffect, settleSent } from './stages/8-execute.ts';
import { isPaused } from '../policy/pauses.ts';
import { digestsOf } from '../tool/facts.ts';

/** How an approval ended. `lost`: something else came first; `stale`: the page showed what is no longer so. */
export type Approved = 'approved' | 'failed' | 'unreadable' | 'stale' | 'paused' | 'barred' | 'lost';

/** Stages 1, 3 and 5 to 8 on the stored arguments, then the effect. */
export async function approve(
  record: EffectRecord,
  decision: Decision,
  /** Asked again once the ledger was read: the approver may have been removed meanwhile. */
  mayDecide: () => boolean,
  gate: Gate,
): Promise<Approved> {
  const checked = await checkStored(record, decision, gate);

  // From here to the claim nothing is awaited: of a decision, an expiry and a withdrawal one wins.
  const now = gate.records.reread(record);
  if (now.state !== 'pending' || expire(now, 'session', gate)) return 'lost';
  if (!mayDecide()) return 'barred';
  if (isPaused(gate.scope(), now.tool)) return 'paused';
  if (!checked.ok && !isJudgement(checked.refusal)) return 'unreadable';
  if (factsChanged(checked, decision)) return 'stale';
  const confirmed = confirmStored(checked, gate);
  if (!confirmed.ok) {
    const { refusal, stage } = confirmed;
    const change = { to: 'failed', record: now, refusal, voided: false, decision } as const;
    gate.settle({
      origin: { kind: 'decision', decision, record: now },
      stage,
      verdict: { ok: false, refusal },
      key: now.key,
      change,
    });
    return 'failed';
  }
  const approved = gate.approve(now, decision, confirmed.call);
  if (approved === null) return 'lost';
  endDecision(await sendEffect(confirmed.call, approved, gate), approved, decision, gate);
  return 'approved';
}

/** A person's no: final for this session. */
export function reject(record: EffectRecord, decision: Decision, gate: Gate): void {
  const { key, contract } = record;
  gate.settle({
    origin: { kind: 'decision', decision, record },
    stage: 7,
    verdict: { ok: false, refusal: { code: 'CONFIRMATION_REJECTED', note: decision.note } },
    key,
    contract,
    change: { to: 'rejected', record, decision },
  });
}

/**
 * Carries on an approved action that nobody runs: the same attempt if it is still good, else its void. After its hour it is
 * failed for good, because nobody expects it any more; what may have left for another system is settled at any time.
 */
export async function resumeApproved(record: EffectRecord, gate: Gate): Promise<void> {
  const decision = decisionOf(record, gate);
  const definition = gate.tools.get(record.tool);
  const abandoned = isLate(record, gate.now());
  const release = gate.occupy(record.key);
  try {
    if (!abandoned && !mayHaveLeft(record) && isPaused(gate.scope(), record.tool)) return;
    if (mayHaveLeft(record)) return endDecision(await settleSent(record, gate.now(), gate), record, decision, gate);
    const confirmed = abandoned ? tooLate : await judgeStored(record, decision, gate);
    if (confirmed.ok) return endDecision(await sendEffect(confirmed.call, record, gate), record, decision, gate);
    if (!isJudgement(confirmed.refusal) && !abandoned) return;
    const ending = await voidOpen(record, confirmed, definition, gate);
    if (ending.change !== undefined) gate.settle({ ...ending, origin: { kind: 'decision', decision, record } });
  } finally {
    release();
  }
}
const tooLate = { ok: false, refusal: UNREACHED, stage: 8 } as const;

/** The alarm's part: a claim nobody runs is voided, or found to have been applied; what may have left is settled. */
export async function settleClaimed(record: EffectRecord, gate: Gate): Promise<void> {
  const release = gate.occupy(record.key);
  try {
    const definition = gate.tools.get(record.tool);
    const ending = mayHaveLeft(record)
      ? endingOf(await settleSent(record, gate.now(), gate), record, definition)
      : await voidOpen(record, tooLate, definition, gate);
    const origin: Origin = { kind: 'event', actor: 'alarm', record, request_id: null };
    if (ending.change !== undefined) gate.settle({ ...ending, origin });
  } finally {
    release();
  }
}

/** Expires a pending action whose time is over; whoever meets it first does it. */
export function expire(record: EffectRecord, actor: 'alarm' | 'session', gate: Gate): boolean {
  if (record.state !== 'pending' || record.approval === null || gate.now() < record.approval.expires_at) return false;
  gate.settle({
    origin: { kind: 'event', actor, record, request_id: null },
    verdict: { ok: false, refusal: { code: 'APPROVAL_EXPIRED' } },
    key: record.key,
    contract: record.contract,
    change: { to: 'expired', record },
  });
  return true;
}

async function judgeStored(record: EffectRecord, decision: Decision, gate: Gate): Promise<Confirming> {
  const checked = await checkStored(record, decision, gate);
  return factsChanged(checked, decision)
    ? { ok: false, refusal: { code: 'FACTS_CHANGED' }, stage: 5 }
    : confirmStored(checked, gate);
}

/**
 * Whether the ledger says something else now than the approver was shown. A resumed action whose own attempt was applied
 * changes its facts, too: its void then loses, and the record is executed.
 */
const factsChanged = ({ shown }: StoredCheck, decision: Decision): boolean =>
  shown !== null && shown !== decision.shown;

type Confirming = { ok: true; call: ConfirmedCall } | (Refused & { ok: false });

function confirmStored(checked: StoredCheck, gate: Gate): Confirming {
  if (!checked.ok) return checked;
  const permitted = policy(checked.call, gate);
  if (!permitted.ok) return { ...permitted, stage: 6 };
  const confirmed = confirmation(permitted.call, gate);
  if (!confirmed.ok) throw new Error('an approved action needs no further person');
  return confirmed;
}

/** `shown`: digests of the facts as they are now; null where the ledger did not say. */
type StoredCheck = ((Checking & { ok: true }) | (Checking & Refused & { ok: false })) & { shown: string | null };

const refusedAt = (stage: Stage, refusal: Refused['refusal']): StoredCheck => ({
  ok: false,
  refusal,
  stage,
  shown: null,
});

async function checkStored(record: EffectRecord, decision: Decision, gate: Gate): Promise<StoredCheck> {
  const definition = allowedTool(record.tool, gate);
  if ('code' in definition) return refusedAt(1, definition);
  // A person approved what the old contract meant.
  if (definition.contract !== record.contract) return refusedAt(1, { code: 'TOOL_CHANGED' });
  const valid = definition.bind(record.input);
  if (!valid.ok) return refusedAt(3, { code: 'INVALID_ARGUMENTS', problems: valid.problems });
  const { bound } = valid;
  if (bound.effect === 'none') return refusedAt(1, { code: 'TOOL_CHANGED' });
  const { key, attempt, call_id, step, fingerprint } = record;
  const stored: Proposal = {
    origin: { kind: 'decision', decision, record },
    definition,
    bound,
    key,
    attempt,
    call_id,
    step,
    fingerprint,
    started_at: gate.now(),
    open: record,
    approval: decision,
    repeated: false,
  };
  const checked = await businessRules(stored, gate);
  // Approvers saw the history of another subject.
  if (checked.ok && checked.call.subject !== record.subject) return refusedAt(5, { code: 'FACTS_CHANGED' });
  const seen = checked.ok ? checked.call.seen : checked.seen;
  const shown = seen === undefined ? null : digestsOf(bound.facts(seen));
  return checked.ok ? { ...checked, shown } : { ...checked, stage: 5, shown };
}

/** A decision leaves one row, written when the execution it started ends; until then the record stays approved. */
function endDecision(row: LedgerRow | null, record: EffectRecord, decision: Decision, gate: Gate): void {
  if (row === null) return;
  const ending = endingOf(row, record, gate.tools.get(record.tool));
  gate.settle({ ...ending, origin: { kind: 'decision', decision, record } });
}

/** The decision that stands in an approved record. */
function decisionOf({ approval }: EffectRecord, gate: Gate): Decision {
  if (approval?.decided_by == null) throw new Error('an approved record names who approved it');
  const { decided_by: approver, note, request_id, shown } = approval;
  return { approver, note, request_id: request_id ?? '', shown: shown ?? '', started_at: gate.now() };
}
