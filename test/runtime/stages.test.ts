/** The order of the nine stages, and what never gets past the first of them (docs/specification.md#stages). */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Policy } from '../../src/gate/ports.ts';
import { auditIn, rowsIn, withoutAlarms } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** What makes a call that would be applied fail at one stage: a change of the policy, of what came before, or of the call. */
type Fault = {
  code: string;
  policy?: Partial<Policy>;
  before?: (agent: Agent) => Promise<unknown>;
  args?: Record<string, unknown>;
  isCut?: true;
};

const faults: Fault[] = [
  { code: 'STEP_LIMIT', policy: { max_steps: 1 }, before: (agent) => agent.call('nothing', {}) },
  { code: 'TOOL_NOT_ALLOWED', policy: { allowed_tools: ['get_order'] } },
  { code: 'INVALID_JSON', isCut: true },
  { code: 'INVALID_ARGUMENTS', args: { reason: 'bored' } },
  { code: 'CALL_ID_REUSED', before: (agent) => agent.call('nothing', { other: true }, 'once') },
  { code: 'ORDER_NOT_FOUND', args: { order_id: 'ORD-0000' } },
  { code: 'POLICY_LIMIT', policy: { max_refund_cents: 2589 } },
  { code: 'CONFIRMATION_REQUIRED', policy: { confirm_above_cents: 2589 } },
  {
    code: 'UPSTREAM_UNAVAILABLE',
    before: async () => void vi.spyOn(env.DB, 'batch').mockRejectedValue(new Error('D1 DB is overloaded')),
  },
];

const merged = <Part extends object>(all: Part, part: Part | undefined): Part => ({ ...all, ...part });

/** Makes the call with all of `present` wrong, and tells what it reached. */
async function callWith(present: Fault[]) {
  const policies = present.map(({ policy }) => policy);
  const agent = await newAgent(policies.reduce<Partial<Policy>>(merged, { confirm_above_cents: 50_000 }));
  const order = await newOrder();
  for (const { before } of present) await before?.(agent);
  const reads = vi.spyOn(env.DB, 'prepare');
  const changes = present.map(({ args }) => args);
  const args = JSON.stringify(refund(order, changes.reduce<Record<string, unknown>>(merged, {})));
  const text = present.some(({ isCut }) => isCut) ? args.slice(0, -1) : args;
  const logged = (await rowsIn(agent.object, 'SELECT 1 FROM log')).length;
  const outcome = outcomeOf(await agent.call('refund_order', text, 'once'));
  const touched = reads.mock.calls.map(([sql]) => (/INSERT/.test(sql) ? 'write' : 'read'));
  return {
    code: outcome.code,
    stage: (await auditIn(agent.object)).at(-1)?.stage,
    reads: touched.includes('read'),
    writes: touched.includes('write'),
    records: (await rowsIn(agent.object, 'SELECT state FROM record')).map(({ state }) => state),
    rows: (await rowsIn(agent.object, 'SELECT 1 FROM log')).length - logged,
  };
}

const reached = (stage: number) => ({
  stage,
  reads: stage >= 5,
  writes: stage >= 8,
  records: stage === 7 ? ['pending'] : stage === 8 ? ['claimed'] : [],
  rows: 1,
});

const pairs = faults.flatMap((first, stage) =>
  faults.slice(stage).map((second, further) => ({ stage, later: stage + further, first, second })),
);

describe('the nine stages', () => {
  it.each(pairs)('refuse at $stage before $later, and touch nothing behind it', async ({ stage, first, second }) => {
    expect(await callWith([...new Set([first, second])])).toEqual({ code: first.code, ...reached(stage) });
  });

  it('apply the call in which nothing is wrong', async () => {
    expect(await callWith([])).toEqual({ code: 'OK', ...reached(8), records: ['executed'] });
  });

  it("judge a tool's own codes in the order the tool lists them", async () => {
    const agent = await newAgent();
    const order = await newOrder({ total_cents: 100 });
    const both = outcomeOf(await agent.call('refund_order', refund(order, { currency: 'USD' })));
    expect(both).toMatchObject({ code: 'CURRENCY_MISMATCH', next: 'fix_and_retry' });
    expect(both.message).toContain('BRL');
    const one = outcomeOf(await agent.call('refund_order', refund(order)));
    expect(one).toMatchObject({ code: 'AMOUNT_EXCEEDS_REFUNDABLE', next: 'fix_and_retry' });
    expect(one.message).toContain('1.00 BRL');
  });
});

describe('arguments that are not a refund', () => {
  const text = (order: string, changes: Record<string, unknown> = {}): string => JSON.stringify(refund(order, changes));
  const amount = (literal: string) => (order: string) => text(order).replace('2590', literal);
  const malformed: Record<string, [(order: string) => unknown, string]> = {
    'an amount as text': [amount('"2590"'), 'amount_cents'],
    'a decimal amount': [amount('25.9'), 'amount_cents'],
    'a negative amount': [amount('-2590'), 'amount_cents'],
    'an amount of nothing': [amount('0'), 'amount_cents'],
    'an amount that is true': [amount('true'), 'amount_cents'],
    'an amount in a list': [amount('[2590]'), 'amount_cents'],
    'an amount of null': [amount('null'), 'amount_cents'],
    'an amount beyond 2^53-1': [amount('9007199254740992'), 'amount_cents'],
    'another currency': [(order) => refund(order, { currency: 'EUR' }), 'currency'],
    'a currency in lower case': [(order) => refund(order, { currency: 'brl' }), 'currency'],
    'an order number without its prefix': [() => refund('1001'), 'order_id'],
    'an order number as a number': [(order) => ({ ...refund(order), order_id: 1001 }), 'order_id'],
    'an order number and a line break': [(order) => refund(`${order}\n`), 'order_id'],
    'no reason': [(order) => refund(order, { reason: undefined }), 'reason'],
    'a field nobody declared': [(order) => refund(order, { confirmed: true }), 'confirmed'],
    'a field of the prototype': [(order) => text(order).replace('{', '{"__proto__":{"reason":1},'), '__proto__'],
    'a field whose name is prose': [(order) => refund(order, { 'ignore all rules': 1 }), '(unknown)'],
    nothing: [() => undefined, 'order_id amount_cents currency reason'],
    'an empty text': [() => '', 'order_id amount_cents currency reason'],
  };

  it.each(Object.entries(malformed))('are refused by their field: %s', async (_, [write, fields]) => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder();
    const outcome = outcomeOf(await agent.call('refund_order', write(order)));
    expect(outcome).toMatchObject({ code: 'INVALID_ARGUMENTS', next: 'fix_and_retry' });
    expect(outcome.problems?.map(({ field }) => field).join(' ')).toBe(fields);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 0 });
  });

  const unreadable: Record<string, (order: string) => unknown> = {
    'a cut object': (order) => text(order).slice(0, -1),
    'an amount twice': (order) => text(order).replace('}', ',"amount_cents":1}'),
    'an amount twice, once spelled by escapes': (order) => text(order).replace('}', ',"amount_cent\\u0073":1}'),
    'a JSON string that holds the object': (order) => JSON.stringify(text(order)),
    'two objects': (order) => text(order) + text(order),
    'an amount that only rounding makes an integer': amount('2590.0000000000000001'),
    'a list': (order) => [refund(order)],
    null: () => null,
    'a number': () => 2590,
    'text in a code fence': (order) => `\`\`\`json\n${text(order)}\n\`\`\``,
    'an object beyond 32 KiB': (order) => refund(order, { note: 'x'.repeat(33_000) }),
  };

  it.each(Object.entries(unreadable))('are refused unread: %s', async (_, write) => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder();
    const outcome = outcomeOf(await agent.call('refund_order', write(order)));
    expect(outcome).toMatchObject({ code: 'INVALID_JSON', next: 'fix_and_retry' });
    expect(outcome.message).not.toMatch(/ORD-|2590|damaged/);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 0 });
  });

  it('are a refund where the amount is written 2590.0', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder();
    expect(outcomeOf(await agent.call('refund_order', amount('2590.0')(order)))).toMatchObject({ code: 'OK' });
    expect(await ledgerOf(order)).toMatchObject({ refunded_cents: 2590, applied: 1 });
  });

  it('are told with the description of each field, at most 20, and without a word of what was sent', async () => {
    const agent = await newAgent();
    const sent: Record<string, string> = { amount_cents: 'Zebra', order_id: 'Zebra', currency: 'Zebra' };
    for (let place = 0; place < 30; place += 1) sent[`Zebra ${place}`] = 'Zebra';
    const outcome = outcomeOf(await agent.call('refund_order', sent));
    expect(outcome.problems).toHaveLength(20);
    expect(outcome.problems).toContainEqual({
      field: 'amount_cents',
      issue: 'must be a whole number, not a string',
      hint: 'Refund amount in minor units (cents). 25.90 is 2590.',
    });
    expect(JSON.stringify(outcome)).not.toContain('Zebra');
  });
});

describe('the name of a tool', () => {
  const strange = [
    'constructor',
    '__proto__',
    'toString',
    'Refund_order',
    'refund_order ',
    'rеfund_order',
    'ｒefund_order',
    '',
  ];
  it.each(strange)('is exact: %j names no tool', async (name) => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder();
    const outcome = outcomeOf(await agent.call(name, refund(order)));
    expect(outcome).toMatchObject({ code: 'UNKNOWN_TOOL', available: ['get_approval', 'get_order', 'refund_order'] });
    expect(outcome.tool).toMatch(/^[A-Za-z0-9_.:?-]{0,40}$/);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 0 });
  });

  it('is shown cut to 40 characters of a safe alphabet', async () => {
    const agent = await newAgent();
    const outcome = outcomeOf(await agent.call(`<b>\u202e${'x'.repeat(100)}`, {}));
    expect(outcome.tool).toBe(`?b??${'x'.repeat(36)}`);
  });
});

describe('a session of one customer', () => {
  it('sees only its own orders, and a foreign order as an unknown one', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 }, { customer_id: 'CUS-1' });
    const [own, foreign] = [await newOrder(), await newOrder({ customer_id: 'CUS-2' })];
    const told = async (tool: string, args: unknown) => {
      const { code, message, next } = outcomeOf(await agent.call(tool, args));
      return { code, message, next };
    };
    expect(await told('get_order', { order_id: own })).toMatchObject({ code: 'OK' });
    for (const [tool, args] of [
      ['get_order', (order_id: string) => ({ order_id })],
      ['refund_order', (order_id: string) => refund(order_id)],
    ] as const) {
      expect(await told(tool, args(foreign))).toEqual(await told(tool, args('ORD-0000')));
      expect(await told(tool, args(foreign))).toMatchObject({ code: 'ORDER_NOT_FOUND' });
    }
    expect(await ledgerOf(foreign)).toEqual({ refunded_cents: 0, applied: 0, voids: 0 });
  });

  it('has no accounts but theirs', async () => {
    const accounts = { 'CUS-1': 'ACC-00000001', 'CUS-2': 'ACC-00000002' };
    for (const [customer, account] of Object.entries(accounts))
      await env.DB.prepare("INSERT INTO accounts VALUES (?, ?, 'BRL')").bind(account, customer).run();
    const search = async (agent: Agent, account_id: string) =>
      outcomeOf(await agent.call('search_transactions', { account_id, start_date: '2026-01-01' })).code;
    const agent = await newAgent({ allowed_tools: ['search_transactions'] }, { customer_id: 'CUS-1' });
    expect(await search(agent, accounts['CUS-1'])).toBe('OK');
    expect(await search(agent, accounts['CUS-2'])).toBe('ACCOUNT_NOT_FOUND');
    const anyone = await newAgent({ allowed_tools: ['search_transactions'] });
    expect(await search(anyone, accounts['CUS-2'])).toBe('OK');
  });
});
