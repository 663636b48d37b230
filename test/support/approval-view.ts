import type { ApprovalView } from '../../src/gate/session/rpc.ts';
import { boundedNames } from '../../src/gate/tool/bounded.ts';
import { refundOrder } from '../../src/tools/orders/refund-order.ts';
import type { Fact } from '../../src/gate/tool/define-tool.ts';

type Claimed = Omit<ApprovalView['claimed'], 'bounded'> & { bounded?: string[] };
export type ViewChanges = Partial<Omit<ApprovalView, 'claimed'>> & { claimed?: Claimed };

const CLAIMED: Claimed = {
  amount_cents: 2590,
  currency: 'BRL',
  arguments: { order_id: 'ORD-1001', amount_cents: 2590, currency: 'BRL', reason: 'damaged' },
};

/** A pending refund of 25.90 BRL on an order of 120.00 BRL of which nothing is refunded yet. Each test changes one thing. */
export const approvalView = ({ claimed = CLAIMED, ...changes }: ViewChanges = {}): ApprovalView => ({
  id: 'apr_0f3e9c2ab7d84461b5a0c6e1d29f7a48',
  status: 'pending',
  paused: false,
  tool: 'refund_order',
  caller_name: 'Shop assistant',
  session_id: 'chat-4711',
  opened_at: Date.UTC(2026, 10, 29, 14, 5, 59, 999),
  expires_at: Date.UTC(2026, 10, 30, 14, 5),
  decided_at: null,
  decided_by: null,
  note: null,
  sent: null,
  result: null,
  claimed: { bounded: boundedNames(refundOrder.inputSchema, claimed.arguments), ...claimed },
  facts: orderFacts(),
  others: [],
  others_left: 0,
  applied_before: [],
  phrase: '25.90',
  ...changes,
});

/** What the tool says of that order. */
export const orderFacts = (changes: Record<string, string> = {}): Fact[] =>
  Object.entries({
    Order: 'ORD-1001',
    Customer: 'CUS-1',
    'Order total': '120.00 BRL',
    'Refunded so far': '0.00 BRL',
    'Still refundable': '120.00 BRL',
    ...changes,
  }).map(([label, value]) => ({ label, value }));
