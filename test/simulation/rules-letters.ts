/** Who must have been asked by when: a promise that only letters can keep. */
import type { SqlRow } from '../../src/gate/ports.ts';
import type { Held, SessionFacts } from './facts.ts';
import type { Model } from './model.ts';

/** "A mail leaves within 10 seconds", its way to the reader included. */
const ASKED_WITHIN_MS = 10_000;
/** Once nothing fails any more: longer than alarms, the queue's retries and its dead letters take altogether. */
const SETTLED_WITHIN_MS = 30 * 60_000;

/** An approval waits no longer: whoever could decide about it all the time has a letter, or is known to get none. */
export function checkAsked(model: Model, session: SessionFacts, { approval_id, openedAt, intent }: Held): void {
  const quietFor = model.elapsed - Math.max(openedAt, model.quietSince);
  const approval = model.approval(approval_id ?? '');
  const by = model.isCalm ? openedAt + ASKED_WITHIN_MS : Infinity;
  const unasked = steadyApprovers(model, session, openedAt).filter(
    (email) => !((approval.letters.get(email) ?? Infinity) < by),
  );
  if (!model.isCalm) approval.unasked = quietFor > SETTLED_WITHIN_MS ? unasked : [];
  else if (quietFor > ASKED_WITHIN_MS && unasked.length > 0)
    model.fail('nobody-asked', `${intent}: no letter to ${unasked.join(', ')}`);
}

/** On every list that may have been in force since; who asks for an action never decides about it. */
function steadyApprovers(model: Model, session: SessionFacts, from: number): string[] {
  const [first, ...others] = model.policiesOf(session.caller_id, from);
  return (first?.approvers ?? []).filter(
    (email) => others.every(({ approvers }) => approvers.includes(email)) && !asksItself(session, email),
  );
}

export const asksItself = ({ asked }: Pick<SessionFacts, 'asked'>, email: string): boolean =>
  asked.some(({ requested_by }) => requested_by?.toLowerCase() === email);

/** Who got no letter is shown to the operator as one whom none reaches. */
export function checkDelivery(model: Model, row: SqlRow): void {
  const delivery = JSON.parse(String(row['delivery'])) as { email: string; undeliverable: boolean }[];
  for (const email of model.approval(String(row['approval_id'])).unasked)
    if (!delivery.some((each) => each.email === email && each.undeliverable))
      model.fail('nobody-asked', `${String(row['approval_id'])}: ${email} has no letter and no mark`);
}
