/**
 * The one structured answer to a call (docs/specification.md#one-call), the closed set of reasons the gate can refuse with
 * (docs/specification.md#stages),
 * and what each of them tells the model. A tool's own codes are declared in its file and travel as one member.
 * Messages hold no input: only declared names, limits, and values of closed sets.
 */
import type { JsonObject } from './json.ts';

/** What the model should do about a refusal. */
export type Next = 'fix_and_retry' | 'wait_for_approval' | 'use_previous_result' | 'stop_and_tell_user';

/** One argument that does not fit. `issue` completes the sentence that `field` begins; `hint` is the field's description. */
export type Problem = { field: string; issue: string; hint?: string };

export const APPROVAL_STATUSES = ['pending', 'approved', 'executed', 'rejected', 'expired', 'failed'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** What a caller sees of an approval in an outcome; never a link, never an address. */
export type ApprovalNotice = { id: string; status: ApprovalStatus; expires_at: string; arguments: JsonObject };

/** Every reason of the gate itself. `TOOL_CODE` carries a tool's own declared code. */
export type Refusal =
  | { code: 'STEP_LIMIT'; max_steps: number }
  | { code: 'UNKNOWN_TOOL'; available: string[] }
  | { code: 'TOOL_NOT_ALLOWED' }
  /** `said`: how the provider marked the response, in declared words. */
  | { code: 'RESPONSE_INCOMPLETE'; said: string }
  | { code: 'INVALID_JSON'; reason: string }
  | { code: 'INVALID_ARGUMENTS'; problems: Problem[] }
  | { code: 'CALL_ID_REUSED' }
  | { code: 'LOOP_DETECTED'; max_duplicate_calls: number }
  /** `money`: what the call would have moved, for the approvers' notice; it does not reach the wire. */
  | {
      code: 'POLICY_LIMIT';
      limit: PolicyLimit;
      passed_on: boolean;
      money: { amount_cents: number; currency: string } | null;
    }
  | { code: 'CONFIRMATION_REQUIRED'; approval: ApprovalNotice }
  | { code: 'CONFIRMATION_REJECTED'; note: string | null }
  | { code: 'TIMEOUT' }
  | { code: 'UPSTREAM_UNAVAILABLE'; sent: boolean }
  | { code: 'INTERNAL_ERROR'; error_id: string }
  | { code: 'TOOL_CHANGED' }
  | { code: 'FACTS_CHANGED' }
  | { code: 'CALLER_REVOKED' }
  | { code: 'SESSION_ENDED' }
  | { code: 'PAUSED' }
  | { code: 'SUBJECT_BUSY' }
  | { code: 'ANSWER_UNREADABLE' }
  | { code: 'SETTLED_NOT_APPLIED' }
  | { code: 'WITHDRAWN' }
  | { code: 'APPROVAL_EXPIRED' }
  /** Only where another call of the same body was answered: alone it is 429. */
  | { code: 'TOO_MANY_POLLS' }
  | ({ code: 'TOOL_CODE'; tool_code: string } & ToolRefusal);

/** What one of a tool's own codes tells the model; without `next` it is `fix_and_retry`. */
export type ToolRefusal = { message: string; next?: 'fix_and_retry' | 'stop_and_tell_user' };

/** What a provider's format alone shows to be wrong with a call; stage 2 refuses with it. */
export type Defect = Extract<Refusal, { code: 'RESPONSE_INCOMPLETE' | 'INVALID_JSON' }>;

/** Nothing was changed: a back end could not be reached before anything was sent, or the attempt was voided. */
export const UNREACHED = { code: 'UPSTREAM_UNAVAILABLE', sent: false } as const satisfies Refusal;
/** An effect was sent and its result is not known yet. */
export const UNSETTLED = { code: 'UPSTREAM_UNAVAILABLE', sent: true } as const satisfies Refusal;

/** The gate's own codes. */
export type GateCode = Exclude<Refusal['code'], 'TOOL_CODE'>;

/** Which limit of the policy a call would pass, with the figures a person may be told. */
export type PolicyLimit =
  | { name: 'max_refund_cents'; limit_cents: number; currency: string }
  | { name: 'max_session_refund_cents'; limit_cents: number; currency: string }
  | { name: 'currency'; currency: string }
  | { name: 'pending_approvals'; limit: number }
  | { name: 'opened_approvals'; limit: number }
  | { name: 'approvers' };

/** What became of a call before it is written for the wire. */
export type Verdict =
  | { ok: true; data: JsonObject; replayed: boolean }
  | { ok: false; refusal: Refusal; replayed?: boolean };

/** The answer on the wire. `step` is null only where the session object could not be reached. */
export type Outcome = {
  call_id: string;
  tool: string;
  ok: boolean;
  code: string;
  step: number | null;
  replayed: boolean;
  data?: JsonObject;
  truncated?: true;
  deprecated?: string;
  message?: string;
  next?: Next;
  problems?: Problem[];
  available?: string[];
  approval?: ApprovalNotice;
};

/** What all outcomes of one call share. */
export type OutcomeHead = { call_id: string; tool: string; step: number | null; deprecated?: string | undefined };

/** The code as callers and the audit see it. */
export const codeOf = (refusal: Refusal): string => (refusal.code === 'TOOL_CODE' ? refusal.tool_code : refusal.code);

/**
 * The tool's name as it may be shown: at most 40 characters of a safe alphabet, everything else `?`.
 * Control characters and look-alike letters in a name reach neither a terminal nor a model.
 */
export const shownToolName = (name: string): string =>
  Array.from(name.slice(0, 80), (character) => (/^[A-Za-z0-9_.:-]$/.test(character) ? character : '?'))
    .slice(0, 40)
    .join('');

/**
 * The id of the call that stands at `index` in a request with an `Idempotency-Key`. No host's `call_id` holds a blank, so the
 * two are never the same id, although both may be shown as one text.
 */
export const keyedCallId = (key: string, index: number): string => `key ${key}/${index}`;

export const shownCallId = (callId: string): string => callId.replace(/^key /, '');

/** The name of an unknown member as it may be shown: only where it is an identifier, since a name is input too. */
export const shownMemberName = (name: string): string =>
  /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name) ? name : '(unknown)';

/** Writes a verdict for the wire. */
export function toOutcome(head: OutcomeHead, verdict: Verdict): Outcome {
  const { deprecated, ...named } = head;
  const shown = { call_id: shownCallId(head.call_id), tool: shownToolName(head.tool) };
  const shared = { ...named, ...shown, ...(deprecated === undefined ? {} : { deprecated }) };
  const replayed = verdict.replayed ?? false;
  if (verdict.ok) return { ...shared, ok: true, code: 'OK', replayed, data: verdict.data };
  const { refusal } = verdict;
  return {
    ...shared,
    ok: false,
    code: codeOf(refusal),
    replayed,
    message: messageOf(refusal),
    next: (refusal.code === 'TOOL_CODE' ? refusal.next : undefined) ?? nextOf(refusal.code),
    ...(refusal.code === 'INVALID_ARGUMENTS' ? { problems: refusal.problems } : {}),
    ...(refusal.code === 'UNKNOWN_TOOL' ? { available: refusal.available } : {}),
    ...(refusal.code === 'CONFIRMATION_REQUIRED' ? { approval: refusal.approval } : {}),
  };
}

/** What each code tells the model to do. A tool may declare another `next` for a code of its own. */
export function nextOf(code: Refusal['code']): Next {
  switch (code) {
    case 'RESPONSE_INCOMPLETE':
    case 'INVALID_JSON':
    case 'INVALID_ARGUMENTS':
    case 'UNKNOWN_TOOL':
    case 'CALL_ID_REUSED':
    case 'TOOL_CODE':
      return 'fix_and_retry';
    case 'CONFIRMATION_REQUIRED':
    case 'TOO_MANY_POLLS':
      return 'wait_for_approval';
    case 'LOOP_DETECTED':
      return 'use_previous_result';
    default:
      return 'stop_and_tell_user';
  }
}

/** The fixed wording of each refusal; a person may be told it as it stands. */
export function messageOf(refusal: Refusal): string {
  switch (refusal.code) {
    case 'STEP_LIMIT':
      return `This session may take ${refusal.max_steps} steps and has taken them all. Stop and tell the user what is still open.`;
    case 'UNKNOWN_TOOL':
      return refusal.available.length === 0
        ? 'No tool of this name exists, and this session may use none.'
        : `No tool of this name exists. Available: ${refusal.available.join(', ')}.`;
    case 'TOOL_NOT_ALLOWED':
      return 'This tool exists, but this session may not use it.';
    case 'RESPONSE_INCOMPLETE':
      return `The provider did not mark this response as complete (${refusal.said}), so its calls were not made. Propose them again in a complete response.`;
    case 'INVALID_JSON':
      return `The arguments are not one JSON object: ${refusal.reason}.`;
    case 'INVALID_ARGUMENTS':
      return refusal.problems
        .map(({ field, issue, hint }) => `${field} ${issue}${hint === undefined ? '' : ` (${hint})`}`)
        .join('; ');
    case 'CALL_ID_REUSED':
      return 'This call_id was already used for another call of this session. Use a new one for each new call.';
    case 'LOOP_DETECTED':
      return `The same call was made more than ${refusal.max_duplicate_calls} times. Its result does not change: use the one you have.`;
    case 'POLICY_LIMIT':
      return `${limitMessage(refusal.limit)} ${refusal.passed_on ? 'It was passed on to the people who approve such actions.' : 'Tell the user that a person must handle it.'}`;
    case 'CONFIRMATION_REQUIRED':
      return approvalMessage(refusal.approval.status);
    case 'CONFIRMATION_REJECTED':
      return refusal.note === null
        ? 'A person rejected this action. Do not try it again.'
        : `A person rejected this action. Do not try it again. Their note: ${refusal.note}`;
    case 'TIMEOUT':
      return 'The tool did not answer in time. Nothing was changed.';
    case 'UPSTREAM_UNAVAILABLE':
      return refusal.sent
        ? 'The system behind this tool did not say whether this was done. It is being settled; do not send it under other arguments.'
        : 'The system behind this tool cannot be reached now. Nothing was changed.';
    case 'INTERNAL_ERROR':
      return `Something went wrong inside. Nothing was changed. Error id: ${refusal.error_id}`;
    case 'TOOL_CHANGED':
      return 'The tool has changed since this was asked for, so it was not done. Ask for it anew.';
    case 'FACTS_CHANGED':
      return 'What the approver was shown has changed since, so it was not done. Ask for it anew.';
    case 'CALLER_REVOKED':
      return 'The application that asked for this may no longer act, so it was not done.';
    case 'SESSION_ENDED':
      return 'The session was ended before this was done, so it was not done.';
    case 'PAUSED':
      return 'An operator has paused this action, so it was not done. Tell the user to try again later.';
    case 'SUBJECT_BUSY':
      return 'Another action on the same subject is under way, so this was not done. Tell the user; it can be asked for again later.';
    case 'ANSWER_UNREADABLE':
      return 'This was done, but the answer of the system behind the tool could not be read. Do not do it again.';
    case 'SETTLED_NOT_APPLIED':
      return 'An operator found that this was not done.';
    case 'WITHDRAWN':
      return 'An operator withdrew this action before it was decided, so it was not done.';
    case 'APPROVAL_EXPIRED':
      return 'Nobody approved this action in time, so it was not done.';
    case 'TOO_MANY_POLLS':
      return 'This session asked about its approvals too often. Wait a minute before you ask again.';
    case 'TOOL_CODE':
      return refusal.message;
  }
}

/** Which limit stands in the way: for models in minor units, as they must write amounts; for people as `amount` writes them. */
export function limitMessage(limit: PolicyLimit, amount = inMinorUnits): string {
  switch (limit.name) {
    case 'max_refund_cents':
      return `The amount is above what one call may move (${amount(limit.limit_cents, limit.currency)}).`;
    case 'max_session_refund_cents':
      return `With this the session would move more than it may (${amount(limit.limit_cents, limit.currency)}, open requests included).`;
    case 'currency':
      return `Nothing may move in ${limit.currency}: the policy sets no limits for this currency.`;
    case 'pending_approvals':
      return `This session already waits for ${limit.limit} approvals, the most it may.`;
    case 'opened_approvals':
      return `This session has asked for ${limit.limit} approvals, the most it may.`;
    case 'approvers':
      return 'This needs a person to approve it, and nobody is left to ask.';
  }
}

const inMinorUnits = (cents: number, currency: string): string => `${cents} in minor units of ${currency}`;

function approvalMessage(status: ApprovalStatus): string {
  return status === 'pending'
    ? 'A person must approve this action. They were asked by e-mail; it is not done yet. Ask get_approval what they decided.'
    : 'A person approved this action and it is being carried out; it is not done yet. Ask get_approval what came of it.';
}
