/** Refunds of payments as unit tests run them: arguments, the double of Stripe, and what reaches it. */
import { backendsWith } from '../../src/gate/backends/http.ts';
import type { JsonObject } from '../../src/gate/json.ts';
import { StripeDouble, type Payment } from '../../demo/stripe-double.ts';
import { refundPayment } from '../../src/tools/payments/refund-payment.ts';

export const INTENT = 'pi_3Qabcdefgh';
export const CHARGE = 'ch_3Qabcdefgh';
export const VARIABLES = {
  STRIPE_ORIGIN: 'https://api.stripe.test',
  STRIPE_ACCOUNT: 'acct_1',
  STRIPE_SECRET: 'sk_test_1',
};
export const EFFECT_KEY = '00'.repeat(31) + 'ff';
export const WIRE_KEY = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP8';
/** What the check sees of the double's payment. */
export const SEEN = {
  ...{ subject: INTENT, customer_id: 'CUS-1', captured: 10_000, refunded: 0 },
  ...{ currency: 'USD', disputed: false },
};

export const ask = (changes: JsonObject = {}): JsonObject => ({
  payment: INTENT,
  amount: 2_590,
  currency: 'USD',
  reason: 'requested_by_customer',
  ...changes,
});

/** With one payment of 100.00 USD by customer CUS-1, but for the changes. */
export function doubleWith(payment: Partial<Payment> = {}, id = INTENT): StripeDouble {
  const double = new StripeDouble();
  double.pay(id, { amount: 10_000, currency: 'usd', customer_id: 'CUS-1', ...payment });
  return double;
}

export type Handle = (request: Request) => Promise<Response>;

export const backendsOver = (handle: Handle, variables: Record<string, string> = VARIABLES) =>
  backendsWith({
    variables,
    loopback: false,
    fetch: (url, init) => handle(new Request(url, init)),
    log: () => undefined,
  });

export function boundRefund(args: JsonObject = ask()) {
  const valid = refundPayment.bind(args);
  if (!valid.ok || valid.bound.effect === 'none' || valid.bound.external === null) throw new Error('no valid refund');
  return valid.bound;
}

export const recipe = boundRefund().external;
