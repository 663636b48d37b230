/** Attacks by what is sent: names that mean something to the language, texts that look like others, wrong types. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { codeOf, freeAgent, sendAs, tokenOf, visit } from '../support/reached.ts';
import { auditIn, withoutAlarms } from '../support/inside.ts';
import { ask, asOperator, makeCaller } from '../support/over-http.ts';
import { ledgerOf, newAgent, newOrder, refund } from '../support/session.ts';

beforeEach(() => {
  withoutAlarms();
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

/** Members that every object has, and those by which other values act like one. */
const INHERITED = [
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'valueOf',
    'hasOwnProperty',
    'isPrototypeOf',
    '__defineGetter__',
  ],
  ...['__lookupSetter__', 'toJSON', 'then', 'length', 'name', 'get', 'default'],
];

/** An object whose own member is called so, as JSON writes it. */
const holding = (name: string, value: string): string => `{${JSON.stringify(name)}:${value}}`;

describe('a name that every object has', () => {
  it('is no tool, no provider, no type of problem and no member', async () => {
    const { token, call } = await freeAgent();
    const { api_key } = await makeCaller();
    for (const name of INHERITED) {
      const answers = {
        tool: codeOf(await call({ tool: name })),
        argument: codeOf(await call(`{"tool":"calculator","arguments":${holding(name, '"1"')}}`)),
        argumentInText: codeOf(await call({ tool: 'calculator', arguments: holding(name, '{"expression":"1"}') })),
        beside: codeOf(await call(`{"tool":"calculator",${holding(name, '{"tool":"x"}').slice(1)}`)),
        provider: codeOf(await sendAs(token, `/v1/calls/${name}`, '{}')),
        format: (await ask(token, 'GET', `/v1/tools?provider=${name}`)).status,
        slug: (await visit(`/docs/problems/${name}`)).status,
        approval: (await ask(token, 'GET', `/v1/approvals/${name}`)).status,
        session: (await sendAs(api_key, '/v1/sessions', holding(name, '1'))).status,
        toolOfSession: (await sendAs(api_key, '/v1/sessions', { customer_id: 'CUS-1', tools: [name] })).status,
        caller: (await asOperator('PATCH', '/admin/callers/x', { [name]: 1 })).status,
        query: (await asOperator('GET', `/admin/audit?${name}=1`)).status,
        filter: (await asOperator('GET', `/admin/audit?session_id=${name}`)).body['rows'],
      };
      expect({ name, ...answers }).toEqual({
        name,
        tool: 'UNKNOWN_TOOL',
        argument: 'INVALID_ARGUMENTS',
        argumentInText: 'INVALID_ARGUMENTS',
        beside: 422,
        provider: 404,
        format: 422,
        slug: 404,
        approval: 404,
        session: 422,
        toolOfSession: 403,
        caller: 422,
        query: 422,
        filter: [],
      });
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Reflect.get({}, 'tool')).toBeUndefined();
  });

  it('is an id like any other', async () => {
    const { agent, call } = await freeAgent();
    for (const call_id of INHERITED) {
      const { body } = await call({ tool: 'calculator', arguments: { expression: '1' }, call_id });
      expect(body).toMatchObject({ call_id, code: 'OK' });
    }
    expect((await auditIn(agent.object)).map(({ call_id }) => call_id)).toEqual(INHERITED);
  });
});

describe('a text that looks like another', () => {
  it('is another: no tool, no order, no currency, no customer', async () => {
    const { call } = await freeAgent();
    const { api_key } = await makeCaller();
    const order = await newOrder();
    const tools = [
      'Get_order',
      'get_order ',
      ' get_order',
      'get\u200b_order',
      'g\u0435t_order',
      'get\uff3forder',
      'get_order\u0000',
      'get-order',
      'ge\u0074\u0301_order',
    ];
    for (const tool of tools)
      expect({ tool, code: codeOf(await call({ tool })) }).toEqual({ tool, code: 'UNKNOWN_TOOL' });
    const bent: Record<string, unknown>[] = [
      ...[
        `${order} `,
        `${order}\n`,
        order.toLowerCase(),
        order.replace('O', '\u041e'),
        order.replace('-', '\u2010'),
        `${order}\u200b`,
      ].map((order_id) => ({ order_id })),
      ...['\uff22RL', 'brl', 'BRL ', 'B\u200bRL', 'BR\u217c'].map((currency) => ({ currency })),
      ...['Damaged', 'damaged\u200d', 'd\u0430maged'].map((reason) => ({ reason })),
    ];
    for (const changes of bent) {
      const code = codeOf(await call({ tool: 'refund_order', arguments: refund(order, changes) }));
      expect({ changes, code }).toEqual({ changes, code: 'INVALID_ARGUMENTS' });
    }
    for (const customer_id of ['CUS-\u0661', 'CUS-1\n', 'CUS-1 ', '\u0421US-1', 'CUS\u20111', 'CUS-1\u200b'])
      expect((await sendAs(api_key, '/v1/sessions', { customer_id })).status).toBe(422);
  });
});

describe('an amount', () => {
  it('is a whole number of minor units, and nothing that can be taken for one', async () => {
    const { call } = await freeAgent();
    const order = await newOrder();
    const others = [
      ...['"2590"', '25.9', 'true', '[2590]', '{"value":2590}', 'null', '""', '0', '-1', '-0', '0.1', '2590.5', '1e21'],
      ...[
        '9007199254740993',
        '9007199254740992',
        '1e308',
        '"0x10"',
        '"1e3"',
        '"2590 BRL"',
        '[[2590]]',
        '"\u0662\u0665"',
      ],
    ];
    for (const amount of others) {
      const args = JSON.stringify(refund(order, { amount_cents: 0 })).replace(
        '"amount_cents":0',
        `"amount_cents":${amount}`,
      );
      const [typed, written] = [
        codeOf(await call(`{"tool":"refund_order","arguments":${args}}`)),
        codeOf(await call({ tool: 'refund_order', arguments: args })),
      ];
      expect({ amount, typed, written }).toEqual({ amount, typed: 'INVALID_ARGUMENTS', written: 'INVALID_ARGUMENTS' });
    }
    for (const amount of ['2590.0000000000000001', '1e400', '01', '+1', '0x10', 'NaN', '2590,', '2_590', "'2590'"]) {
      const args = `{"order_id":"${order}","amount_cents":${amount},"currency":"BRL","reason":"damaged"}`;
      const [typed, written] = [
        codeOf(await call(`{"tool":"refund_order","arguments":${args}}`)),
        codeOf(await call({ tool: 'refund_order', arguments: args })),
      ];
      expect({ amount, typed, written }).toEqual({ amount, typed: 400, written: 'INVALID_JSON' });
    }
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 0 });
  });

  it('may be the smallest and all that is left, and one more is refused', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder({ total_cents: 101 });
    const codes = [];
    for (const amount_cents of [1, 101, 100, 1])
      codes.push(
        codeOf(
          await sendAs(await tokenOf(agent), '/v1/calls', {
            tool: 'refund_order',
            arguments: refund(order, { amount_cents }),
            call_id: `c${codes.length}`,
          }),
        ),
      );
    expect(codes).toEqual(['OK', 'AMOUNT_EXCEEDS_REFUNDABLE', 'OK', 'OK']);
    // The last is the first once more: a replay, and no second effect.
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 101, applied: 2, voids: 0 });
  });
});
