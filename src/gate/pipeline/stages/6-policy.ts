/**
 * Stage 6: the limits of the policy as it is now. Runs in the same synchronous step as the parking or the claim that
 * follows, so that two calls cannot both pass under a sum that has room for one.
 */
import type { PolicyLimit, Refusal } from '../../outcome.ts';
import { limitsIn } from '../../policy/limits.ts';
import { isPaused } from '../../policy/pauses.ts';
import type { Scope } from '../../ports.ts';
import type { CheckedCall, PermittedCall, Step } from '../calls.ts';
import type { Gate } from '../gate.ts';
import { allowedTool } from './1-resolve.ts';
import { needsPerson } from './7-confirmation.ts';

const MAX_PENDING_APPROVALS = 3;
const MAX_OPENED_APPROVALS = 10;

export function policy(call: CheckedCall, gate: Gate): Step<PermittedCall> {
  const scope = gate.scope();
  const outlived = noLongerAllowed(call, scope, gate) ?? paused(call, scope);
  if (outlived !== null) return { ok: false, refusal: outlived };
  const limit = amountLimit(call, scope, gate) ?? (needsPerson(call, scope) ? approvalLimit(call, scope, gate) : null);
  if (limit === null) return { ok: true, call: { ...call, permitted: true } };
  // Nobody can approve an amount in a currency without limits, and its decimals may not be known.
  const passed_on =
    limit.name !== 'currency' && call.approval === null && scope.approvers.length > 0 && gate.mayNotify(call.key);
  return { ok: false, refusal: { code: 'POLICY_LIMIT', limit, passed_on, money: call.bound.money } };
}

/** What stage 5 awaited may have outlived the permission stage 1 saw. */
function noLongerAllowed(call: CheckedCall, scope: Scope, gate: Gate): Refusal | null {
  if (scope.live === 'revoked') return { code: 'CALLER_REVOKED' };
  // A person's approval of an action stands when the conversation that asked for it is over.
  if (scope.live === 'ended' && call.approval === null) return { code: 'SESSION_ENDED' };
  const allowed = allowedTool(call.definition.name, gate);
  return 'code' in allowed ? allowed : null;
}

/** What a person approved waits; whether it does is for those who carry it out to see. */
const paused = ({ definition, approval }: CheckedCall, scope: Scope): Refusal | null =>
  approval === null && isPaused(scope, definition.name) ? { code: 'PAUSED' } : null;

function amountLimit(call: CheckedCall, scope: Scope, gate: Gate): PolicyLimit | null {
  const { money } = call.bound;
  if (money === null) return null;
  const { amount_cents, currency } = money;
  const limits = limitsIn(scope, currency);
  if (limits === null) return { name: 'currency', currency };
  const { max_refund_cents, max_session_refund_cents } = limits;
  if (amount_cents > max_refund_cents) return { name: 'max_refund_cents', limit_cents: max_refund_cents, currency };
  if (max_session_refund_cents === null) return null;
  return gate.records.reservedCents(currency, call.open) + amount_cents > max_session_refund_cents
    ? { name: 'max_session_refund_cents', limit_cents: max_session_refund_cents, currency }
    : null;
}

/** A session cannot flood people with requests, nor park what nobody can decide. */
function approvalLimit(call: CheckedCall, scope: Scope, gate: Gate): PolicyLimit | null {
  if (call.open !== null) return null;
  if (scope.approvers.length === 0) return { name: 'approvers' };
  const { pending, opened } = gate.records.approvals();
  if (pending >= MAX_PENDING_APPROVALS) return { name: 'pending_approvals', limit: MAX_PENDING_APPROVALS };
  return opened >= MAX_OPENED_APPROVALS ? { name: 'opened_approvals', limit: MAX_OPENED_APPROVALS } : null;
}
