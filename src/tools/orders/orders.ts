/** Reads of orders. Nothing here writes: a refund moves an order together with its attempt. */
import * as z from 'zod';
import { CURRENCIES } from '../../gate/ports.ts';
import type { LedgerSql, Order, Orders } from '../../gate/ports.ts';
import { integer } from '../../gate/ledger/columns.ts';

const orderRow: z.ZodType<Order> = z.object({
  order_id: z.string(),
  customer_id: z.string(),
  total_cents: integer,
  refunded_cents: integer,
  currency: z.enum(CURRENCIES),
});

const FIND = `
  SELECT order_id, customer_id, total_cents, refunded_cents, currency FROM orders
  WHERE order_id = ?1 AND (?2 IS NULL OR customer_id = ?2)`;

/** Orders of the ledger; with a customer, only theirs exist. */
export function ordersFrom(sql: LedgerSql): Orders {
  return {
    async find(orderId, customerId) {
      const [row] = await sql.all(FIND, orderId, customerId);
      return row === undefined ? null : orderRow.parse(row);
    },
  };
}
