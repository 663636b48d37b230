/** What must be so when a session's log gets a row: its place in the chain, and whether what it says is true by then. */
import { beginningOf, linkOf } from './chain.ts';
import { isElsewhere } from './elsewhere.ts';
import type { Held, SessionFacts, Watched } from './facts.ts';
import { argumentsOf, intentOf } from './facts.ts';
import type { Model } from './model.ts';
import { asksItself } from './rules-letters.ts';
import { hasNoRoomToAsk, reservedOf } from './rules-records.ts';

type Row = {
  uid: string;
  seq: number;
  kind: string;
  at: string;
  caller_id: string;
  session_id: string;
  step: number | null;
  call_id: string | null;
  tool: string | null;
  arguments: string | null;
  key: string | null;
  attempt: number | null;
  ok: boolean;
  code: string;
  approval_id: string | null;
  hash: string;
  duration_ms: number;
  replayed: boolean;
};

/** Says of no action that it was not done: it is open, or nothing was judged. */
const SAYS_NOTHING = new Set([
  'OK',
  'UPSTREAM_UNAVAILABLE',
  'CONFIRMATION_REQUIRED',
  'STEP_LIMIT',
  'LOOP_DETECTED',
  'CALL_ID_REUSED',
  'TOOL_NOT_ALLOWED',
  'UNKNOWN_TOOL',
  'INVALID_JSON',
  'INVALID_ARGUMENTS',
  'MAIL_RESENT',
  'SESSION_ENDED',
  'SESSION_EXHAUSTED',
  'APPROVAL_EXPIRED',
]);
/** Ends of an approval: never the answer to a call that asks anew. */
const NEVER_TO_A_CALL = new Set(['WITHDRAWN', 'APPROVAL_EXPIRED', 'TOOL_CHANGED', 'INTERNAL_ERROR', 'UNKNOWN_TOOL']);

export function readLogged(model: Model, object: Watched, seq: number, text: string): void {
  const row = JSON.parse(text) as Row;
  const session = model.sessions.get(row.uid);
  if (session === undefined || session.object !== object) return model.fail('row-without-session', text.slice(0, 200));
  const last = session.log.at(-1);
  if (seq !== (last?.seq ?? 0) + 1 || row.seq !== seq) model.fail('gap-in-the-audit', `${seq} after ${last?.seq ?? 0}`);
  const previous = last?.hash ?? beginningOf(row.caller_id, row.session_id, row.uid);
  if (linkOf(previous, row) !== row.hash) model.fail('chain-broken', `row ${seq}`);
  const { hash, kind, code, ok, key, attempt, approval_id, call_id, step } = row;
  if (kind === 'call' && session.log.some((other) => other.kind === 'call' && other.step === step))
    model.fail('step-taken-twice', `row ${seq}`);
  session.log.push({ seq, hash, kind, code, ok, key, attempt, approval_id, call_id, step });
  if (code === 'SESSION_ENDED' && kind === 'event' && key === null) checkNothingPending(model, session);

  if (code === 'INTERNAL_ERROR' || (model.isCalm && (code === 'UPSTREAM_UNAVAILABLE' || code === 'TIMEOUT')))
    model.fail('refused-without-reason', `row ${seq}: ${code}`);
  if (kind === 'call' && !model.isRecounted) checkStep(model, session, row);
  if (kind === 'call' && (row.tool === 'refund_order' || isElsewhere(row.tool ?? ''))) checkCall(model, session, row);
  if (attempt !== null && model.attempts.get(`${key ?? ''} ${attempt}`)?.applied !== true)
    model.fail('row-without-effect', `row ${seq}`);
  if (kind !== 'call' && !ok && !SAYS_NOTHING.has(code)) checkNotDone(model, session, row);
  if (
    kind === 'decision' &&
    session.log.filter((other) => other.kind === 'decision' && other.approval_id === approval_id).length > 1
  )
    model.fail('decided-twice', `row ${seq}`);
}

/** When a session has ended, or its revoked caller's change is told, nothing may wait for a person any more. */
export function checkNothingPending(model: Model, session: SessionFacts): void {
  for (const { state, intent } of session.records.values())
    if (state === 'pending') model.fail('pending-for-nobody', intent);
}

/** As far as a story's four disturbances may take clocks back, so that a call seems shorter than it was. */
const JUMPS_BACK_MS = 8_000;

/**
 * Past its steps a session is told so and nothing else; a call is judged by what was in force when it came, and one that was
 * sent again, after its object died, by what was when it first did.
 */
function checkStep(model: Model, { caller_id, narrowed, ids }: SessionFacts, row: Row): void {
  const { step, code, call_id, duration_ms } = row;
  const came = Math.min(model.elapsed - duration_ms, ids.get(call_id ?? '')?.since ?? Infinity) - JUMPS_BACK_MS;
  const own = narrowed.filter(({ since }) => since <= came).map(({ max_steps }) => max_steps);
  const most = Math.min(...own, Math.max(...model.policiesOf(caller_id, came).map(({ max_steps }) => max_steps)));
  if (code !== 'STEP_LIMIT' && (step ?? 0) > most)
    model.fail('beyond-its-steps', `step ${step ?? 0} of ${most}: ${code}`);
}

function checkNotDone(model: Model, session: SessionFacts, { approval_id, key, code }: Row): void {
  const held = [...session.records.values()].findLast(
    (record) => record.key === key && record.approval_id === approval_id,
  );
  if (held !== undefined && model.attempts.get(`${held.key} ${held.attempt}`)?.applied === true)
    model.fail('called-failed-but-applied', code);
}

function checkCall(model: Model, session: SessionFacts, row: Row): void {
  const { code } = row;
  if (NEVER_TO_A_CALL.has(code)) model.fail('old-refusal-replayed', code);
  const intent = intentOf(session.uid, argumentsOf(row.arguments));
  const asks =
    model.callers.get(session.caller_id)?.versions.some(({ policy }) => policy.identical_effects === 'ask') === true;
  // A call that is told at last of its own attempt, which is void, although a later call has made the effect by now.
  const isOwnVoid = [...model.attempts.values()].some((each) => each.call_key === row.key && each.code === code);
  if (!SAYS_NOTHING.has(code) && !isOwnVoid && !asks && model.appliedOf(intent).length > 0)
    model.fail('called-failed-but-applied', `${code} for ${intent}`);
  if (!isJustified(model, session, row, intent)) model.fail('refused-without-reason', `${code} for ${intent}`);
}

function isJustified(model: Model, session: SessionFacts, row: Row, intent: string): boolean {
  const policies = model.policiesOf(session.caller_id);
  const held = [...session.records.values()].filter((record) => record.intent === intent);
  const [, order_id = '', amount = '', currency = ''] = intent.split(' ');
  const order = model.orders.get(order_id);
  switch (row.code) {
    case 'CONFIRMATION_REJECTED':
      return held.some(
        ({ state, approval_id }) => state === 'rejected' && model.approval(approval_id ?? '').rejects > 0,
      );
    case 'CONFIRMATION_REQUIRED':
      return held.some(({ approval_id }) => approval_id !== null);
    case 'AMOUNT_EXCEEDS_REFUNDABLE':
      return (
        order !== undefined &&
        (order.refused === true || leastLeft(order.was, since(model, held, row)) < Number(amount))
      );
    case 'ORDER_NOT_FOUND':
      return (
        order === undefined ||
        session.asked.some(({ customer_id = order.customer_id }) => customer_id !== order.customer_id)
      );
    case 'TOOL_NOT_ALLOWED':
      return [...policies.map(({ allowed_tools }) => allowed_tools), ...session.asked.map(({ tools }) => tools)].some(
        (tools) => tools?.includes(order?.tool ?? 'refund_order') === false,
      );
    case 'STEP_LIMIT':
      return [...policies, ...session.asked].some(({ max_steps = Infinity }) => (row.step ?? 0) > max_steps);
    case 'CURRENCY_MISMATCH':
      return order?.currency !== currency;
    case 'LOOP_DETECTED':
      return policies.some(({ max_duplicate_calls }) => (session.proposed.get(intent) ?? 0) > max_duplicate_calls);
    case 'CALLER_REVOKED':
      return model.callers.get(session.caller_id)?.revokedSince !== null;
    case 'SESSION_ENDED':
      return session.endAsked;
    case 'POLICY_LIMIT':
      return model.isRecounted || mayPassALimit(model, session, row, { amount_cents: Number(amount), currency });
    case 'SUBJECT_BUSY':
      return order?.tool !== undefined;
    case 'CALL_ID_REUSED':
      return (session.ids.get(row.call_id ?? '')?.calls.size ?? 0) > 1;
    default:
      return SAYS_NOTHING.has(row.code);
  }
}

type Money = Pick<Held, 'amount_cents' | 'currency'>;

/** Some policy that may be in force, or a limit that was asked for at an opening, leaves no room for it or for its approval. */
function mayPassALimit(model: Model, session: SessionFacts, { key }: Row, money: Money): boolean {
  const { amount_cents, currency } = money;
  const total = amount_cents + reservedOf(model, session, { key: key ?? '', attempt: 0, currency });
  const policies = model.policiesOf(session.caller_id);
  const passes = [...policies, ...session.asked].some(
    ({ max_refund_cents, max_session_refund_cents }) =>
      amount_cents > (max_refund_cents ?? Infinity) || total > (max_session_refund_cents ?? Infinity),
  );
  return (
    passes ||
    hasNoRoomToAsk(model, session) ||
    policies.some(({ approvers }) => approvers.every((email) => asksItself(session, email)))
  );
}

/** From when on what was seen may have told: since the call came, or since an open attempt of it was first sent. */
function since(model: Model, held: Held[], { duration_ms }: Row): number {
  const opened = held.map(({ openedAt }) => openedAt);
  return Math.min(model.elapsed - duration_ms, ...opened) - 1_000;
}

function leastLeft(was: { since: number; left: number }[], from: number): number {
  let least = Infinity;
  for (const [i, { left }] of was.entries()) if ((was[i + 1]?.since ?? Infinity) >= from) least = Math.min(least, left);
  return least;
}
