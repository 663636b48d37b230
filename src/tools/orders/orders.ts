/** The shop's orders, and what the gate refunded of each. Nothing here writes. */
import * as z from 'zod';
import type { JsonObject, Port } from '../../gate/index.ts';

/** The currencies that the shop's orders are in (CHECK on orders.currency). */
export const CURRENCIES = ['BRL', 'USD'] as const;

export const ORDER_ID = z
  .string()
  .regex(/^ORD-\d{4}$/, 'must look like ORD-1001')
  .describe('Order id: ORD- and four digits, such as ORD-1001.');

export type Order = {
  order_id: string;
  customer_id: string;
  total_cents: number;
  refunded_cents: number;
  currency: (typeof CURRENCIES)[number];
};

/** Reads of orders. With a `customerId`, orders of other customers do not exist. */
export interface Orders {
  find(orderId: string, customerId: string | null): Promise<Order | null>;
}

const orderRow: z.ZodType<Order> = z.object({
  order_id: z.string(),
  customer_id: z.string(),
  total_cents: z.int(),
  refunded_cents: z.int(),
  currency: z.enum(CURRENCIES),
});

const FIND = `
  SELECT order_id, customer_id, total_cents, coalesce(applied_cents, 0) AS refunded_cents, orders.currency
  FROM orders LEFT JOIN subject_totals ON backend = 'ledger:orders' AND subject = order_id
  WHERE order_id = ?1 AND (?2 IS NULL OR customer_id = ?2)`;

export const orders: Port<Orders> = {
  open: ({ ledger }) => ({
    async find(orderId, customerId) {
      const [row] = await ledger.all(FIND, orderId, customerId);
      return row === undefined ? null : orderRow.parse(row);
    },
  }),
};

/** Says the same of an order that does not exist and of another customer's: neither exists for this session. */
export const orderNotFound = (_facts: JsonObject): string =>
  'No such order exists for this session. Check the order id with the user.';
