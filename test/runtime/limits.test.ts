import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { moveOn, standStill } from '../support/effects.ts';
import { ask, asOperator, makeCaller } from '../support/over-http.ts';
import { newAgent, newOrder, outcomeOf, refund } from '../support/session.ts';

beforeEach(standStill);
afterEach(moveOn);

const refundOf = async (policy: Parameters<typeof newAgent>[0], currency: string, amount_cents: number) => {
  const agent = await newAgent({ confirm_above_cents: 5_000, ...policy });
  const order = await newOrder({ currency, total_cents: 1_000_000 });
  return outcomeOf(await agent.call('refund_order', refund(order, { currency, amount_cents })));
};

describe('limits by currency', () => {
  it('replace the flat members for the currency they name, and no other', async () => {
    const limits = { BRL: { max_refund_cents: 100_000, confirm_above_cents: 80_000 } };
    expect(await refundOf({ limits }, 'BRL', 80_000)).toMatchObject({ code: 'OK' });
    expect(await refundOf({ limits }, 'BRL', 80_001)).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    expect(await refundOf({ limits }, 'BRL', 100_001)).toMatchObject({ code: 'POLICY_LIMIT' });
    expect(await refundOf({ limits }, 'USD', 5_000)).toMatchObject({ code: 'OK' });
    expect(await refundOf({ limits }, 'USD', 5_001)).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    expect(await refundOf({ limits }, 'USD', 50_001)).toMatchObject({ code: 'POLICY_LIMIT' });
  });

  it('leave the flat member in force where they have none of their own', async () => {
    const limits = { BRL: { max_refund_cents: 100_000 } };
    expect(await refundOf({ limits }, 'BRL', 5_000)).toMatchObject({ code: 'OK' });
    expect(await refundOf({ limits }, 'BRL', 5_001)).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
  });

  it('count what a session moved in that currency alone', async () => {
    const limits = { BRL: { max_session_refund_cents: 3_000 } };
    const agent = await newAgent({ confirm_above_cents: 50_000, limits });
    const [brl, usd] = [await newOrder(), await newOrder({ currency: 'USD' })];
    const code = async (order: string, changes: object) =>
      outcomeOf(await agent.call('refund_order', refund(order, { ...changes }))).code;
    expect(await code(brl, { amount_cents: 3_000 })).toBe('OK');
    expect(await code(brl, { amount_cents: 1 })).toBe('POLICY_LIMIT');
    expect(await code(usd, { amount_cents: 3_001, currency: 'USD' })).toBe('OK');
  });

  it('are narrowed by the session in every currency', async () => {
    const { api_key } = await makeCaller({ limits: { BRL: { max_refund_cents: 100_000 } } });
    const opened = await ask(api_key, 'POST', '/v1/sessions', { customer_id: 'CUS-1', max_refund_cents: 700 });
    expect(opened.body['policy']).toMatchObject({
      max_refund_cents: 700,
      limits: { BRL: { max_refund_cents: 700, max_session_refund_cents: null, confirm_above_cents: 0 } },
    });
  });

  it.each([
    ['a currency that is none', { ABC: {} }],
    ['a metal', { XAU: {} }],
    ['lower case', { eur: {} }],
    ['an unknown member', { EUR: { max: 1 } }],
    ['a fraction', { EUR: { max_refund_cents: 1.5 } }],
  ])('with %s are 422 and name what is wrong', async (_, limits) => {
    const { caller_id } = await makeCaller();
    const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, { limits });
    expect(status).toBe(422);
    expect(body['detail']).toMatch(/^limits/);
  });
});

describe('customer_pattern', () => {
  it('says which customers a session may be opened for', async () => {
    const { api_key } = await makeCaller({ customer_pattern: String.raw`^CUS-\d{1,12}$` });
    const open = async (customer_id: string) => ask(api_key, 'POST', '/v1/sessions', { customer_id });
    expect((await open('CUS-1')).status).toBe(201);
    const { status, body } = await open('gid://shop/Customer/1');
    expect(status).toBe(422);
    expect(body['detail']).toMatch(/^customer_id must look like/);
  });

  it('takes any printable ASCII by default', async () => {
    const { api_key } = await makeCaller();
    const opened = await ask(api_key, 'POST', '/v1/sessions', { customer_id: 'gid://shop/Customer/1' });
    expect(opened.body['policy']).toMatchObject({ customer_id: 'gid://shop/Customer/1' });
    expect((await ask(api_key, 'POST', '/v1/sessions', { customer_id: 'CUS 1' })).status).toBe(422);
  });

  it('is refused where it could take long', async () => {
    const { caller_id } = await makeCaller();
    const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, { customer_pattern: '^(a+)+$' });
    expect(status).toBe(422);
    expect(body['detail']).toMatch(/^customer_pattern must be a pattern/);
  });
});

describe("a caller's name", () => {
  it.each(['Shop https://pay.example', 'www.pay.example', 'Shop <b>'])(
    'is refused where it holds a link: %s',
    async (name) => {
      const { caller_id } = await makeCaller();
      const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, { name });
      expect({ status, detail: body['detail'] }).toEqual({
        status: 422,
        detail: 'name must hold no link: no "://", no "www." and no "<"',
      });
    },
  );
});
