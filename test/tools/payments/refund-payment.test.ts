import { describe, expect, it } from 'vitest';
import { backendsWith } from '../../../src/gate/backends/http.ts';
import type { JsonObject } from '../../../src/gate/json.ts';
import type { Kit } from '../../../src/gate/ports.ts';
import { refundPayment } from '../../../src/tools/payments/refund-payment.ts';
import { StripeDouble, type Payment } from '../../../demo/stripe-double.ts';
import { testFaults } from '../../support/fault-run.ts';

const INTENT = 'pi_3Qabcdefgh';
const VARIABLES = { STRIPE_ORIGIN: 'https://api.stripe.test', STRIPE_ACCOUNT: 'acct_1', STRIPE_SECRET: 'sk_test_1' };
const PAID: Payment = { amount: 10_000, currency: 'usd', customer_id: 'CUS-1' };
const EFFECT_KEY = '00'.repeat(31) + 'ff';

const ask = (changes: JsonObject = {}): JsonObject => ({
  payment: INTENT,
  amount: 2_590,
  currency: 'USD',
  reason: 'requested_by_customer',
  ...changes,
});

function doubleWith(payment: Partial<Payment> = {}, id = INTENT): StripeDouble {
  const double = new StripeDouble();
  double.pay(id, { ...PAID, ...payment });
  return double;
}

async function check(args: JsonObject, double: StripeDouble, customer_id: string | null = 'CUS-1') {
  const valid = refundPayment.bind(args);
  if (!valid.ok || valid.bound.effect === 'none') throw new Error('no valid refund');
  const backends = backendsWith({
    variables: VARIABLES,
    loopback: false,
    fetch: (url, init) => double.handle(new Request(url, init)),
    log: () => undefined,
  });
  const kit: Kit = { backends, now: () => 0, ledger: { all: unread, batch: unread } };
  return valid.bound.check(kit, { customer_id, signal: new AbortController().signal });
}
const unread = (): never => {
  throw new Error('a check read D1');
};

const recipe = refundPayment.external;
if (recipe === null) throw new Error('no recipe');
const SEEN = { subject: INTENT, customer_id: 'CUS-1', captured: 10_000, refunded: 0, currency: 'USD', disputed: false };

describe('refund_payment', () => {
  it('sees the payment, and takes an intent and its charge for one subject', async () => {
    expect(await check(ask(), doubleWith())).toEqual({ ok: true, seen: SEEN });
  });

  it.each<[string, JsonObject, Partial<Payment>, string | null, string]>([
    ['an unknown payment', { payment: 'pi_unknown00' }, {}, 'CUS-1', 'PAYMENT_NOT_FOUND'],
    ["another customer's payment", {}, { customer_id: 'CUS-2' }, 'CUS-1', 'PAYMENT_NOT_FOUND'],
    ['another currency', { currency: 'EUR' }, {}, 'CUS-1', 'CURRENCY_MISMATCH'],
    ['a currency of another unit at Stripe', { currency: 'ISK' }, { currency: 'isk' }, 'CUS-1', 'CURRENCY_MISMATCH'],
    ['a disputed payment', {}, { disputed: true }, 'CUS-1', 'PAYMENT_DISPUTED'],
    ['more than was paid', { amount: 10_001 }, {}, 'CUS-1', 'AMOUNT_EXCEEDS_REFUNDABLE'],
  ])('refuses %s', async (_what, changes, payment, customer, code) => {
    expect(await check(ask(changes), doubleWith(payment), customer)).toMatchObject({ ok: false, code });
  });

  it('shows any payment to a session without a customer', async () => {
    expect(await check(ask(), doubleWith({ customer_id: 'CUS-2' }), null)).toMatchObject({ ok: true });
  });

  it.each([
    [INTENT, 'payment_intent'],
    ['ch_3Qabcdefgh', 'charge'],
  ])('asks for the refund of %s as %s', (payment, member) => {
    const outgoing = recipe.outgoing(ask({ payment }), EFFECT_KEY, SEEN);
    expect(outgoing).toEqual({
      method: 'POST',
      path: '/v1/refunds',
      type: 'application/x-www-form-urlencoded',
      body: `${member}=${payment}&amount=2590&reason=requested_by_customer&metadata%5Btoolgate_key%5D=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP8`,
    });
    expect(recipe.lookupPath(ask({ payment }), EFFECT_KEY, SEEN)).toBe(`/v1/refunds?${member}=${payment}&limit=100`);
  });

  it.each([
    ['pending', true],
    ['requires_action', true],
    ['succeeded', true],
    ['failed', false],
    ['canceled', false],
  ])('reads the status %s', (status, applied) => {
    const json = { id: 're_1', amount: 2590, currency: 'usd', status };
    const read = recipe.readSend({ status: 200, json }, ask(), SEEN);
    expect(read).toMatchObject(applied ? { applied, external_id: 're_1' } : { applied, code: 'REFUND_FAILED' });
  });

  it.each([
    [400, 'charge_already_refunded', 'AMOUNT_EXCEEDS_REFUNDABLE'],
    [400, 'charge_disputed', 'PAYMENT_DISPUTED'],
    [400, 'idempotency_error', null],
    [400, 'amount_too_large', null],
    [402, 'charge_already_refunded', null],
    [404, 'resource_missing', null],
    [409, 'charge_already_refunded', null],
    [500, 'charge_disputed', null],
  ])('takes %i %s for %s', (status, code, refused) => {
    const read = recipe.readSend({ status, json: { error: { code } } }, ask(), SEEN);
    expect(read).toEqual(refused === null ? null : { applied: false, code: refused, facts: {} });
  });

  it('says absent only of a list that ends', () => {
    const list = (has_more: boolean) =>
      recipe.readLookup({ status: 200, json: { has_more, data: [] } }, EFFECT_KEY, ask(), SEEN);
    expect([list(false), list(true)]).toEqual(['absent', null]);
  });
});

testFaults({
  tool: refundPayment,
  arguments: ask(),
  variables: VARIABLES,
  double: () => {
    const double = doubleWith();
    return { handle: double.handle, effects: () => double.refunds.length };
  },
});
