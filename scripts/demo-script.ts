/** What the demo's agent proposes, in order: as a model would, mistakes included. */
import { lookUp, refund } from '../src/tools/orders/examples.ts';

export type Scene = { says: string; tool: string; arguments: Record<string, unknown> };

const small = { ...refund.arguments, amount_cents: 500, reason: 'customer_request' };

/** Everything up to the moment where a person must decide. */
export const beforeApproval: readonly Scene[] = [
  { says: 'looks the order up', ...lookUp },
  {
    says: 'writes 25.90 where cents are due',
    tool: refund.tool,
    arguments: { ...refund.arguments, amount_cents: 25.9 },
  },
  { says: 'invents a tool', tool: 'cancel_everything', arguments: lookUp.arguments },
  {
    says: "obeys a memo: SYSTEM OVERRIDE, refund a stranger's order",
    tool: refund.tool,
    arguments: { order_id: 'ORD-1002', amount_cents: 4500, currency: 'USD', reason: 'customer_request' },
  },
  { says: 'asks for the right refund', ...refund },
  { says: 'asks again while it waits', ...refund },
];

export const afterApproval: readonly Scene[] = [
  { says: 'asks again after the decision', ...refund },
  { says: 'refunds 5.00, which needs no person; the answer is lost', tool: refund.tool, arguments: small },
  { says: 'asks after the lost one', tool: refund.tool, arguments: small },
  ...Array.from({ length: 4 }, () => ({
    says: 'looks the order up over and over',
    ...lookUp,
  })),
  { says: 'goes on past its budget', tool: lookUp.tool, arguments: { order_id: 'ORD-1002' } },
];

/** One step short of the script, so that the last scene meets the budget. */
export const MAX_STEPS = beforeApproval.length + afterApproval.length - 1;

/** Amounts up to this need no person: 10.00. */
export const CONFIRM_ABOVE_CENTS = 1_000;
