/**
 * Sends a refund as one transaction (DESIGN 4): the attempt and the order move together or not at all, and one attempt
 * moves an order once however often it is sent.
 */
import type { Attempt, LedgerSql, Refund, Refunds, Statement } from '../../gate/ports.ts';
import { readAttempt, rowToLedger } from '../../gate/ledger/attempts.ts';

/**
 * Inserts the attempt: applied where every guard holds, else void with the first refusal. A caller that is not live is
 * judged first and here, so that nothing is applied after its revocation has answered.
 * Bound numbers arrive as REAL, hence the CASTs inside JSON; columns convert by themselves.
 */
const INSERT_ATTEMPT = `
  WITH judged AS (
    SELECT
      CASE
        WHEN NOT EXISTS (SELECT 1 FROM callers WHERE caller_id = ?6 AND revoked_at IS NULL) THEN 'CALLER_REVOKED'
        WHEN orders.order_id IS NULL THEN 'ORDER_NOT_FOUND'
        WHEN orders.currency <> ?9 THEN 'CURRENCY_MISMATCH'
        WHEN orders.total_cents - orders.refunded_cents < ?8 THEN 'AMOUNT_EXCEEDS_REFUNDABLE'
      END AS code,
      orders.total_cents - orders.refunded_cents AS refundable_cents,
      orders.currency
    FROM (SELECT 1) LEFT JOIN orders ON orders.order_id = ?7 AND (?12 IS NULL OR orders.customer_id = ?12)
  )
  INSERT INTO attempts
    (effect_key, call_key, attempt, uid, tool, applied, code, answer, order_id, amount_cents, currency, reason, at)
  SELECT
    ?1, ?2, ?3, ?4, ?5, code IS NULL, code,
    CASE
      WHEN code IS NULL THEN json_object(
        'order_id', ?7,
        'refunded_cents', CAST(?8 AS INTEGER),
        'remaining_refundable_cents', refundable_cents - CAST(?8 AS INTEGER))
      WHEN code IN ('CURRENCY_MISMATCH', 'AMOUNT_EXCEEDS_REFUNDABLE')
        THEN json_object('refundable_cents', refundable_cents, 'currency', currency)
      ELSE '{}'
    END,
    ?7, ?8, ?9, ?10, ?11
  FROM judged WHERE true
  ON CONFLICT DO NOTHING`;

/** `changes() = 1`: only the insert that took moves the order. Without it one repetition moved it twice (measured). */
const MOVE_ORDER = `
  UPDATE orders SET refunded_cents = refunded_cents + CAST(?2 AS INTEGER)
  WHERE order_id = ?1 AND changes() = 1
    AND EXISTS (SELECT 1 FROM attempts WHERE effect_key = ?3 AND applied = 1)`;

const statements = (attempt: Attempt, refund: Refund, customerId: string | null, at: number): Statement[] => [
  {
    sql: INSERT_ATTEMPT,
    params: [
      attempt.effect_key,
      attempt.call_key,
      attempt.attempt,
      attempt.uid,
      attempt.tool,
      attempt.caller_id,
      refund.order_id,
      refund.amount_cents,
      refund.currency,
      refund.reason,
      at,
      customerId,
    ],
  },
  { sql: MOVE_ORDER, params: [refund.order_id, refund.amount_cents, attempt.effect_key] },
  readAttempt(attempt.effect_key),
];

/** Refunds of the ledger. `now` stamps the attempt's row in ms since the epoch. */
export function refundsFrom(sql: LedgerSql, now: () => number): Refunds {
  return {
    async send(attempt, refund, customerId) {
      const results = await sql.batch(statements(attempt, refund, customerId, now()));
      return rowToLedger(results.at(-1)?.[0]);
    },
  };
}
