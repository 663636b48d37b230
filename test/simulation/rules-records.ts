/** What must be so when a session's record changes its state. */
import { formatMoney } from '../../src/gate/money/money.ts';
import { TRANSITIONS } from '../../src/gate/session/transitions.ts';
import type { Policy, SqlValue } from '../../src/gate/ports.ts';
import type { Approval, Held, SessionFacts } from './facts.ts';
import { intentOf } from './facts.ts';
import { checkAsked } from './rules-letters.ts';
import type { Model } from './model.ts';
import type { Own } from './scenario.ts';

const MAX_PENDING = 3;
const MAX_OPENED = 10;

export function checkRecord(model: Model, session: SessionFacts | null, values: SqlValue[]): void {
  if (session === null) return model.fail('record-without-session', String(values[0]));
  const held = heldOf(session, values, model.elapsed);
  const name = `${held.key} ${held.round}`;
  const before = session.records.get(name);
  held.openedAt = before?.openedAt ?? held.openedAt;
  held.was = before?.was ?? [];
  held.wasSent ||= before?.wasSent === true;
  if (before?.state !== held.state) held.was.push({ since: model.elapsed, state: held.state });
  session.records.set(name, held);
  // Mails sent and read again are written to the same row without a change of state.
  if (before?.state === held.state) return;
  if (!TRANSITIONS[before?.state ?? 'none'].includes(held.state))
    model.fail('impossible-change', `${held.intent}: ${before?.state ?? 'nothing'} to ${held.state}`);
  if (before?.state === 'pending') checkAsked(model, session, held);
  if (before === undefined && session.records.get(`${held.key} ${held.round - 1}`)?.state === 'rejected')
    model.fail('opened-after-rejection', held.intent);
  checkLedger(model, before?.state ?? '', held);
  if (held.state === 'claimed' || held.state === 'approved' || held.state === 'pending')
    checkLimits(model, session, held);
}

/** What the model reads of a row of `record`, in the order in which it is told. */
export const RECORD_COLUMNS = [
  ...['key', 'round', 'state', 'attempt', 'amount_cents', 'currency', 'approval_id', 'input', 'expires_at'],
];

/** A row of `record` in the model's words. */
export function heldOf({ uid }: SessionFacts, values: SqlValue[], openedAt: number): Held {
  const [key, round, state, attempt, amount_cents, currency, approval_id, input, expires_at] = values;
  return {
    key: String(key),
    round: Number(round),
    uid,
    state: state as Held['state'],
    attempt: Number(attempt),
    amount_cents: Number(amount_cents),
    currency: String(currency),
    approval_id: approval_id === null ? null : String(approval_id),
    intent: intentOf(uid, JSON.parse(String(input))),
    expires_at: expires_at === null ? null : Number(expires_at),
    openedAt,
    was: [],
    wasSent: state === 'approved' || state === 'claimed',
  };
}

/** What may have been sent fails only by its void; what is called done was done. */
function checkLedger(model: Model, before: string, held: Held): void {
  const row = model.attempts.get(`${held.key} ${held.attempt}`);
  if (held.state === 'executed' && row?.applied !== true) model.fail('executed-without-effect', held.intent);
  if (held.state !== 'failed') return;
  if (row?.applied === true && held.wasSent) model.fail('failed-but-applied', held.intent);
  if (before !== 'pending' && row === undefined) model.fail('failed-without-void', held.intent);
}

/** Some policy that may be in force must allow all of it at once. */
function checkLimits(model: Model, session: SessionFacts, held: Held): void {
  const policies = model.policiesOf(session.caller_id);
  const reserved = reservedOf(model, session, held);
  const tool = model.orders.get(held.intent.split(' ')[1] ?? '')?.tool ?? 'refund_order';
  const allowed = policies.filter((policy) => allows(policy, session.own, held, reserved, tool));
  if (allowed.length === 0)
    return model.fail('beyond-the-policy', `${held.state} ${held.intent}, ${reserved} reserved`);
  if (held.state === 'claimed') {
    const unconfirmed = allowed.some(({ confirm_above_cents }) => held.amount_cents <= confirm_above_cents);
    if (!unconfirmed) model.fail('claim-without-approval', held.intent);
    return;
  }
  if (held.state === 'pending') return checkCounts(model, session, held);
  const { approves, rejects } = model.approval(held.approval_id ?? '');
  if (!allowed.some(({ approvers }) => approves.some(({ email }) => approvers.includes(email))))
    model.fail('approved-by-nobody', `${held.intent}; ${rejects} rejections`);
  if (!approves.some((given) => wasShown(model, held, given))) model.fail('approved-on-a-stale-page', held.intent);
  if (held.expires_at !== null && model.wall > held.expires_at) model.fail('approved-after-expiry', held.intent);
}

/** What the page showed as refunded was so at some time since the approver decided. */
function wasShown(model: Model, { intent }: Held, given: Approval['approves'][number]): boolean {
  const order = model.orders.get(intent.split(' ')[1] ?? '');
  if (order === undefined) return false;
  const { was, currency } = order;
  return was.some(
    ({ paid_back }, i) =>
      formatMoney({ amount_cents: paid_back, currency }) === given.refunded &&
      (was[i + 1]?.since ?? Infinity) >= given.at,
  );
}

const allows = (policy: Policy, own: Own, { amount_cents }: Held, reserved: number, tool: string): boolean =>
  policy.allowed_tools.includes(tool) &&
  amount_cents <= policy.max_refund_cents &&
  amount_cents <= (own.max_refund_cents ?? Infinity) &&
  reserved + amount_cents <=
    Math.min(policy.max_session_refund_cents ?? Infinity, own.max_session_refund_cents ?? Infinity);

/** By the ledger's word what was applied, by the session's what is open; without this one. */
export function reservedOf(
  model: Model,
  session: SessionFacts,
  held: Pick<Held, 'key' | 'attempt' | 'currency'>,
): number {
  let cents = 0;
  const counted = new Set<string>([`${held.key} ${held.attempt}`]);
  for (const row of model.attempts.values()) {
    const name = `${row.call_key} ${row.attempt}`;
    if (!row.applied || row.uid !== session.uid || row.currency !== held.currency || counted.has(name)) continue;
    counted.add(name);
    cents += row.amount_cents;
  }
  for (const other of session.records.values())
    if (takesRoom(model, other) && other.currency === held.currency && !counted.has(`${other.key} ${other.attempt}`))
      cents += other.amount_cents;
  return cents;
}

/** The longest anybody backs off. */
const LOOKED_AFTER_MS = 5 * 60_000;

/** A death from here on must leave nothing open that no alarm looks after. */
export function checkArmed(model: Model, session: SessionFacts | null, alarmAt: number | null): void {
  for (const held of session?.records.values() ?? []) {
    const { state, expires_at, intent } = held;
    if (state !== 'claimed' && state !== 'approved' && state !== 'pending') continue;
    if (state !== 'pending' && model.external.mayWait(held)) continue;
    const due = Math.max(model.wall + LOOKED_AFTER_MS, state === 'pending' ? (expires_at ?? 0) : 0) + 1_000;
    if (alarmAt === null || alarmAt > due)
      model.fail(
        'unarmed',
        `${intent} is ${state}, the alarm ${alarmAt === null ? 'off' : `due in ${alarmAt - model.wall} ms, wanted in ${due - model.wall}`}`,
      );
  }
}

/** Open, and not a pending action past its time that nobody has marked as expired yet. */
const takesRoom = ({ wall }: Model, { state, expires_at }: Held): boolean =>
  state === 'claimed' || state === 'approved' || (state === 'pending' && wall < (expires_at ?? 0));

function checkCounts(model: Model, session: SessionFacts, { intent }: Held): void {
  const { pending, opened } = countsOf(model, session);
  if (pending > MAX_PENDING) model.fail('too-many-pending', intent);
  if (opened > MAX_OPENED) model.fail('too-many-approvals', intent);
}

function countsOf(model: Model, session: SessionFacts): { pending: number; opened: number } {
  const asked = [...session.records.values()].filter(({ approval_id }) => approval_id !== null);
  const pending = asked.filter((other) => other.state === 'pending' && takesRoom(model, other));
  return { pending: pending.length, opened: asked.length };
}

export function hasNoRoomToAsk(model: Model, session: SessionFacts): boolean {
  const { pending, opened } = countsOf(model, session);
  return pending >= MAX_PENDING || opened >= MAX_OPENED;
}
