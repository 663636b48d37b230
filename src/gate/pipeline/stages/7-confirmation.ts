/**
 * Stage 7: a risky action above the limit waits for a person. There is no flag on the agent's or the host's side that
 * stands for a person: only a decision through an approver's link makes `approval` non-null.
 */
import { limitsIn } from '../../policy/limits.ts';
import type { Scope } from '../../ports.ts';
import type { ConfirmedCall, PermittedCall, Proposal } from '../calls.ts';
import type { Gate } from '../gate.ts';

export function confirmation(call: PermittedCall, gate: Gate): { ok: true; call: ConfirmedCall } | { ok: false } {
  return needsPerson(call, gate.scope()) ? { ok: false } : { ok: true, call: call as ConfirmedCall };
}

/** Risky tools above `confirm_above_cents`; those without an amount always; a repetition under `"ask"` always. */
export function needsPerson(call: Proposal, scope: Scope): boolean {
  if (call.approval !== null) return false;
  if (call.repeated) return true;
  if (!call.definition.risky) return false;
  const { money } = call.bound;
  return money === null || money.amount_cents > (limitsIn(scope, money.currency)?.confirm_above_cents ?? 0);
}
