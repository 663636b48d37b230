import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import {
  ask,
  backendsOver,
  CHARGE,
  doubleWith,
  EFFECT_KEY,
  INTENT,
  recipe,
  SEEN,
  WIRE_KEY,
} from '../../support/payments.ts';

describe('refund_payment at Stripe', () => {
  it.each([
    [INTENT, 'payment_intent'],
    [CHARGE, 'charge'],
  ])('asks for the refund of %s as %s', (payment, member) => {
    const outgoing = recipe.outgoing(ask({ payment }), EFFECT_KEY, SEEN);
    expect(outgoing).toEqual({
      method: 'POST',
      path: '/v1/refunds',
      type: 'application/x-www-form-urlencoded',
      body: `${member}=${payment}&amount=2590&reason=requested_by_customer&metadata%5Btoolgate_key%5D=${WIRE_KEY}`,
    });
    expect(recipe.lookupPath(ask({ payment }), EFFECT_KEY, SEEN)).toBe(`/v1/refunds?${member}=${payment}&limit=50`);
  });

  it('sends the key and the credential in headers, and never the label of the account', async () => {
    const sent: Request[] = [];
    const double = doubleWith();
    const backends = backendsOver((request) => (sent.push(request.clone()), double.handle(request)));
    const outgoing = recipe.outgoing(ask(), EFFECT_KEY, SEEN);
    await backends.send(recipe.backend, outgoing, EFFECT_KEY, new AbortController().signal);
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({
      accept: 'application/json',
      authorization: 'Bearer sk_test_1',
      'content-type': 'application/x-www-form-urlencoded',
      'idempotency-key': WIRE_KEY,
      'stripe-version': '2025-09-30.clover',
    });
    expect([...double.effectsByKey()]).toEqual([[WIRE_KEY, 1]]);
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
    const answer = { refund_id: 're_1', payment: INTENT, amount: 2_590, currency: 'USD', status };
    expect(read).toEqual(
      applied ? { applied, external_id: 're_1', answer } : { applied, code: 'REFUND_FAILED', facts: {} },
    );
    const list = { has_more: true, data: [{ metadata: null }, { ...json, metadata: { toolgate_key: WIRE_KEY } }] };
    expect(recipe.readLookup({ status: 200, json: list }, EFFECT_KEY, ask(), SEEN)).toEqual(read);
  });

  it.each([{ status: null }, { status: 'reversed' }, {}])('knows nothing of a refund with %j', (status) => {
    const json = { id: 're_1', amount: 2590, currency: 'usd', ...status };
    expect(recipe.readSend({ status: 200, json }, ask(), SEEN)).toBeNull();
  });

  const invalid = (members: JsonObject = {}) => ({ type: 'invalid_request_error', ...members });
  it.each<[number, JsonObject, string | null]>([
    [400, invalid({ code: 'charge_already_refunded' }), 'AMOUNT_EXCEEDS_REFUNDABLE'],
    [400, invalid({ param: 'amount' }), 'AMOUNT_EXCEEDS_REFUNDABLE'],
    [400, invalid({ code: 'amount_too_large', param: 'amount' }), 'AMOUNT_EXCEEDS_REFUNDABLE'],
    [400, invalid({ code: 'charge_disputed' }), 'PAYMENT_DISPUTED'],
    [400, invalid({ code: 'refund_disputed_payment' }), 'PAYMENT_DISPUTED'],
    [400, invalid({ code: 'charge_not_refundable', param: null }), 'REFUND_FAILED'],
    [400, invalid({ code: null }), 'REFUND_FAILED'],
    [402, { type: 'card_error', code: 'insufficient_funds' }, 'REFUND_FAILED'],
    [404, invalid({ code: 'resource_missing', param: 'payment_intent' }), 'PAYMENT_NOT_FOUND'],
    [404, invalid({ message: 'Unrecognized request URL' }), null],
    [400, { type: 'idempotency_error', message: 'used with other parameters' }, null],
    [400, { type: 'api_error' }, null],
    [400, { code: 'charge_already_refunded' }, null],
    [401, invalid(), null],
    [403, invalid(), null],
    [409, { type: 'idempotency_error', code: 'idempotency_key_in_use' }, null],
    [409, invalid({ code: 'charge_already_refunded' }), null],
    [429, invalid({ code: 'lock_timeout' }), null],
    [500, invalid({ code: 'charge_disputed' }), null],
  ])('takes %i %j for %s', (status, error, refused) => {
    const read = recipe.readSend({ status, json: { error } }, ask(), SEEN);
    expect(read).toEqual(refused === null ? null : { applied: false, code: refused, facts: {} });
  });

  it('says absent only of a list that ends', () => {
    const list = (has_more: boolean) =>
      recipe.readLookup({ status: 200, json: { has_more, data: [] } }, EFFECT_KEY, ask(), SEEN);
    expect([list(false), list(true)]).toEqual(['absent', null]);
  });

  it('reads a whole page of refunds as Stripe writes them', async () => {
    const entry = (index: number) => ({
      ...{ id: `re_1Nispe2eZvKYlo2Cd31jOC${index}`, object: 'refund', amount: 1_000, created: 1_692_942_318 },
      ...{
        balance_transaction: 'txn_1Nispe2eZvKYlo2CYezqFhEx',
        charge: 'ch_1NirD82eZvKYlo2CIvbtLWuY',
        currency: 'usd',
      },
      destination_details: {
        card: {
          ...{ reference: '123456789012', reference_status: 'available', type: 'refund' },
          reference_type: 'acquirer_reference_number',
        },
        type: 'card',
      },
      metadata: index === 50 ? { toolgate_key: WIRE_KEY } : { order: 'x'.repeat(100), toolgate_key: 'y'.repeat(43) },
      ...{ payment_intent: 'pi_1GszsK2eZvKYlo2CfhZyoZLp', reason: 'requested_by_customer', receipt_number: null },
      ...{ source_transfer_reversal: null, status: 'succeeded', transfer_reversal: null },
    });
    const list = {
      object: 'list',
      data: Array.from({ length: 50 }, (_, at) => entry(at + 1)),
      has_more: true,
      url: '',
    };
    const { backend } = recipe;
    const backends = backendsOver(async () => new Response(JSON.stringify(list, null, 2)));
    const answer = await backends.api(backend, new AbortController().signal).get('/v1/refunds?limit=50');
    expect(recipe.readLookup(answer, EFFECT_KEY, ask(), SEEN)).toMatchObject({ applied: true });
  });
});
