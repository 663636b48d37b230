/** What the order tools share: the shape of an order id, and one wording. */
import * as z from 'zod';

export const ORDER_ID = z
  .string()
  .regex(/^ORD-\d{4}$/)
  .describe('Order id: ORD- and four digits, such as ORD-1001.');

/** Says the same of an order that does not exist and of another customer's: neither exists for this session. */
export const orderNotFound = (): string => 'No such order exists for this session. Check the order id with the user.';
