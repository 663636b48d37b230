/** What an approver's page shows of an order, as its form sends it back. */
import { digestsOf } from '../../src/gate/tool/facts.ts';
import { refundOrder } from '../../src/tools/orders/refund-order.ts';
import type { Order } from '../../src/tools/orders/orders.ts';

/** Digests of the facts of an order of CUS-1 over 120.00 BRL of which `refunded_cents` are refunded, but for `changes`. */
export function shownOf(order_id: string, refunded_cents = 0, changes: Partial<Order> = {}): string {
  const bound = refundOrder.bind({ order_id, amount_cents: 1, currency: 'BRL', reason: 'damaged' });
  if (!bound.ok || bound.bound.effect === 'none') throw new Error('no valid refund');
  const order = { order_id, customer_id: 'CUS-1', total_cents: 12_000, refunded_cents, currency: 'BRL', ...changes };
  return digestsOf(bound.bound.facts(order));
}
