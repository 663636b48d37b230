import * as z from 'zod';
import { defineTool } from '../../gate/index.ts';
import { lookUp } from './examples.ts';
import { CURRENCIES, ORDER_ID, orderNotFound, orders } from './orders.ts';

export const getOrder = defineTool({
  name: 'get_order',
  description:
    'Looks up one order: what was paid, what was refunded so far, and in which currency. Use it before refunding. Amounts are in minor units (cents): 12000 is 120.00.',
  effect: 'none',
  risky: false,
  reads: { orders },
  input: z.strictObject({ order_id: ORDER_ID }),
  example: lookUp.arguments,
  output: z.strictObject({
    order_id: ORDER_ID,
    total_cents: z.int().min(0).describe('What was paid, in minor units (cents).'),
    refunded_cents: z.int().min(0).describe('What was refunded so far, in minor units (cents).'),
    currency: z.enum(CURRENCIES).describe('Currency of the order.'),
  }),
  codes: { ORDER_NOT_FOUND: orderNotFound },
  async run({ order_id }, { orders }, { customer_id }) {
    const order = await orders.find(order_id, customer_id);
    if (order === null) return { ok: false, code: 'ORDER_NOT_FOUND', facts: {} };
    const { customer_id: _private, ...data } = order;
    return { ok: true, data };
  },
});
