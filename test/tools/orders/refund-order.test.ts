import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import type { Kit, SqlRow } from '../../../src/gate/ports.ts';
import { refundOrder } from '../../../src/tools/orders/refund-order.ts';
import { noBackends } from '../../support/backends.ts';

const order = { order_id: 'ORD-1001', customer_id: 'CUS-1', total_cents: 12_000, refunded_cents: 0, currency: 'BRL' };
const context = { customer_id: 'CUS-1', signal: new AbortController().signal };

function bound(changes: JsonObject = {}) {
  const args = { order_id: 'ORD-1001', amount_cents: 2590, currency: 'BRL', reason: 'damaged', ...changes };
  const valid = refundOrder.bind(args);
  if (!valid.ok || valid.bound.effect === 'none' || valid.bound.external !== null) throw new Error('no valid refund');
  return valid.bound;
}

/** What the check says where the shop knows this order, or none. */
function check(rows: SqlRow[], changes: JsonObject = {}) {
  const kit: Kit = {
    ledger: { all: async () => rows, batch: () => Promise.reject(new Error('a check wrote')) },
    backends: noBackends,
    now: () => 0,
  };
  return bound(changes).check(kit, context);
}

describe('refundOrder', () => {
  it('is money of its order', () => {
    expect(bound().subject({})).toBe('ORD-1001');
    expect(bound()).toMatchObject({
      backend: 'ledger:orders',
      money: { amount_cents: 2590, currency: 'BRL' },
    });
  });

  it('passes what is left, and sees the order', async () => {
    expect(await check([{ ...order, refunded_cents: 9_410 }])).toEqual({
      ok: true,
      seen: { ...order, refunded_cents: 9_410 },
    });
  });

  it('refuses what is not there, not in that currency or not left, and shows approvers the order that it saw', async () => {
    expect(await check([])).toEqual({ ok: false, code: 'ORDER_NOT_FOUND', facts: {} });
    expect(await check([{ ...order, currency: 'USD' }])).toEqual({
      ...{ ok: false, code: 'CURRENCY_MISMATCH', facts: { currency: 'USD' } },
      seen: { ...order, currency: 'USD' },
    });
    expect(await check([{ ...order, refunded_cents: 9_411 }])).toEqual({
      ...{ ok: false, code: 'AMOUNT_EXCEEDS_REFUNDABLE', facts: { refundable_cents: 2_589, currency: 'BRL' } },
      seen: { ...order, refunded_cents: 9_411 },
    });
  });

  it('shows approvers the order, its customer and its amounts', () => {
    expect(bound().facts({ ...order, refunded_cents: 1_000 })).toEqual([
      { label: 'Order', value: 'ORD-1001' },
      { label: 'Customer', value: 'CUS-1' },
      { label: 'Order total', value: '120.00 BRL' },
      { label: 'Refunded so far', value: '10.00 BRL' },
      { label: 'Still refundable', value: '110.00 BRL' },
    ]);
  });

  it('has nothing left, and not less, where the shop lowered the total below what was refunded', async () => {
    const lowered = { ...order, total_cents: 500, refunded_cents: 1_000 };
    expect(bound().facts(lowered)).toContainEqual({ label: 'Still refundable', value: '0.00 BRL' });
    expect(await check([lowered])).toMatchObject({
      code: 'AMOUNT_EXCEEDS_REFUNDABLE',
      facts: { refundable_cents: 0, currency: 'BRL' },
    });
  });

  it.each(['www.evil.example/x', 'ana@shop.example', 'CUS-1 pay.example', 'CUS-1\n', 'CUS-', ''])(
    'says of the customer %j that somebody else worded it',
    (customer_id) => {
      expect(bound().facts({ ...order, customer_id })).toContainEqual({
        label: 'Customer',
        value: customer_id,
        outside: true,
      });
    },
  );
});
