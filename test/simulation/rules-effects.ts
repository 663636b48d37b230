/** What must be so when the ledger applies an attempt. */
import type { Attempt, CallerFacts, Held, SessionFacts } from './facts.ts';
import type { Model } from './model.ts';

export function checkEffect(model: Model, row: Attempt): void {
  const session = model.sessions.get(row.uid);
  const caller = model.callers.get(session?.caller_id ?? '');
  if (session === undefined || caller === undefined) return model.fail('effect-without-session', row.intent);
  const isElsewhere = model.orders.get(row.order_id)?.tool !== undefined;
  // What another system did before is written whenever the gate learns of it.
  if (caller.revokedSince !== null && !isElsewhere) model.fail('effect-after-revocation', row.intent);

  checkCustomer(model, row, session);
  // An attempt that was never sent serves again: of several rounds with its number only the open one may send it.
  const rounds = [...session.records.values()].filter(
    ({ key, attempt }) => key === row.call_key && attempt === row.attempt,
  );
  const held = rounds.find(({ state }) => state === 'claimed' || state === 'approved') ?? rounds.at(-1);
  if (held === undefined) return model.fail('effect-without-claim', row.intent);
  if (held.state !== 'claimed' && held.state !== 'approved')
    model.fail('effect-without-claim', `${row.intent} is ${held.state}`);
  checkIntent(model, row, held);
}

/** A session that was opened for one customer moves no other's money. */
function checkCustomer(model: Model, row: Attempt, session: SessionFacts): void {
  const owner = model.orders.get(row.order_id)?.customer_id;
  if (session.asked.length > 0 && !session.asked.some(({ customer_id = owner }) => customer_id === owner))
    model.fail('effect-for-another-customer', row.intent);
}

/** It is what was claimed, a person approved it where one was asked, and it is the only one of its intent. */
export function checkIntent(model: Model, row: Attempt, held: Held): void {
  if (held.intent !== row.intent) model.fail('effect-of-other-arguments', `${row.intent}, claimed ${held.intent}`);
  if (held.approval_id !== null && model.approval(held.approval_id).approves.length === 0)
    model.fail('effect-without-approval', row.intent);
  const session = model.sessions.get(row.uid);
  const caller = model.callers.get(session?.caller_id ?? '');
  if (session !== undefined && caller !== undefined) checkOnce(model, row, session, caller);
}

/** Only under "ask" is there a second one, and then each has an approval of its own. */
function checkOnce(model: Model, row: Attempt, session: SessionFacts, caller: CallerFacts): void {
  const same = model.appliedOf(row.intent);
  if (same.length <= 1) return;
  const mayAsk = caller.versions.some(({ policy }) => policy.identical_effects === 'ask');
  const approvals = same.map(
    ({ call_key, attempt }) =>
      [...session.records.values()].findLast((other) => other.key === call_key && other.attempt === attempt)
        ?.approval_id ?? null,
  );
  const later = approvals.slice(1);
  if (!mayAsk || later.includes(null) || new Set(approvals).size < approvals.length)
    model.fail('two-effects-of-one-intent', row.intent);
}
