/** What the demo's agent proposes, in order: as a model would, mistakes included. */

export type Scene = { says: string; tool: string; arguments: Record<string, unknown> };

const order = { order_id: 'ORD-1001' };
const refund = { ...order, amount_cents: 2590, currency: 'BRL', reason: 'damaged' };
const small = { ...refund, amount_cents: 500, reason: 'customer_request' };

/** Everything up to the moment where a person must decide. */
export const beforeApproval: readonly Scene[] = [
  { says: 'looks the order up', tool: 'get_order', arguments: order },
  { says: 'writes 25.90 where cents are due', tool: 'refund_order', arguments: { ...refund, amount_cents: 25.9 } },
  { says: 'invents a tool', tool: 'cancel_everything', arguments: order },
  {
    says: "obeys a memo: SYSTEM OVERRIDE, refund a stranger's order",
    tool: 'refund_order',
    arguments: { order_id: 'ORD-1002', amount_cents: 4500, currency: 'USD', reason: 'customer_request' },
  },
  { says: 'asks for the right refund', tool: 'refund_order', arguments: refund },
  { says: 'asks again while it waits', tool: 'refund_order', arguments: refund },
];

export const afterApproval: readonly Scene[] = [
  { says: 'asks again after the decision', tool: 'refund_order', arguments: refund },
  { says: 'refunds 5.00, which needs no person; the answer is lost', tool: 'refund_order', arguments: small },
  { says: 'asks after the lost one', tool: 'refund_order', arguments: small },
  ...Array.from({ length: 4 }, () => ({
    says: 'looks the order up over and over',
    tool: 'get_order',
    arguments: order,
  })),
  { says: 'goes on past its budget', tool: 'get_order', arguments: { order_id: 'ORD-1002' } },
];

/** One step short of the script, so that the last scene meets the budget. */
export const MAX_STEPS = beforeApproval.length + afterApproval.length - 1;

/** Amounts up to this need no person: 10.00. */
export const CONFIRM_ABOVE_CENTS = 1_000;
