/** What an approver's decision does, what it is checked against again, and what else may come first (docs/specification.md#the-page-and-the-decision). */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Policy } from '../../src/gate/ports.ts';
import { decide, fateOf, parkedRefund, reject, statusOf, type Parked } from '../support/approver.ts';
import { afterNextRead, auditIn, changePolicy, failReads, rowsIn, withoutAlarms } from '../support/inside.ts';
import { shownOf } from '../support/shown.ts';
import { ledgerOf, newAgent, outcomeOf, refund } from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const DAY_MS = 86_400_000;
const untouched = { refunded_cents: 0, applied: 0, voids: 0 };
const applied = { refunded_cents: 2590, applied: 1, voids: 0 };
const again = async ({ agent, order }: Parked) => outcomeOf(await agent.call('refund_order', refund(order)));
const laterBy = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });

describe('approving', () => {
  it('moves the money, is told to the agent as the result, and is asked for only once', async () => {
    const parked = await parkedRefund();
    expect(await fateOf(parked, await decide(parked))).toEqual({ became: 'approved', status: 'executed', code: 'OK' });
    expect(await ledgerOf(parked.order)).toEqual(applied);
    expect(await again(parked)).toMatchObject({
      code: 'OK',
      replayed: true,
      data: { order_id: parked.order, refunded_cents: 2590, remaining_refundable_cents: 9410 },
    });
    expect(await ledgerOf(parked.order)).toEqual(applied);
  });

  it.each(['25.90', '25,90', ' 25.90 brl', 'BRL 25,90'])('accepts the amount typed as %j', async (phrase) => {
    expect(await decide(await parkedRefund(), { phrase })).toEqual({ decided: 'approved' });
  });

  it.each(['', '2590', '25.9', '25.91', '25.90 USD', 'approve', '025.90'])('is not %j', async (phrase) => {
    const parked = await parkedRefund();
    for (const decision of ['approve', 'reject'] as const)
      expect(await fateOf(parked, await decide(parked, { decision, phrase }))).toEqual({
        became: 'wrong_phrase',
        status: 'pending',
        code: null,
      });
    expect(await auditIn(parked.agent.object)).toHaveLength(1);
  });

  it('needs a choice', async () => {
    const parked = await parkedRefund();
    expect(await fateOf(parked, await decide(parked, { decision: null }))).toMatchObject({
      became: 'no_choice',
      status: 'pending',
    });
  });

  it.each([
    ['another refunded amount', (order: string) => shownOf(order, 1)],
    ['another customer', (order: string) => shownOf(order, 0, { customer_id: 'CUS-2' })],
    ['another total', (order: string) => shownOf(order, 0, { total_cents: 12_001 })],
    ['nothing', () => ''],
  ])('needs that the page showed what is so by now, not %s', async (_, shown) => {
    const parked = await parkedRefund();
    expect(await fateOf(parked, await decide(parked, { shown: shown(parked.order) }))).toMatchObject({
      became: 'stale',
      status: 'pending',
    });
    expect(await auditIn(parked.agent.object)).toHaveLength(1);
    expect(await fateOf(parked, await reject(parked))).toMatchObject({ became: 'rejected' });
  });
});

describe('rejecting', () => {
  it('is final for the session, and its note reaches the agent cleaned', async () => {
    const parked = await parkedRefund();
    const note = ' Not\u202e without <b>a photo</b>: write to ana@shop.test or https://evil.test/x \u0000';
    expect(await fateOf(parked, await reject(parked, note))).toMatchObject({ became: 'rejected', status: 'rejected' });
    const told = await again(parked);
    expect(told).toMatchObject({ code: 'CONFIRMATION_REJECTED', next: 'stop_and_tell_user' });
    const { note: kept } = (await parked.agent.stub().approval(parked.agent.uid, parked.id, 0)) as { note: string };
    expect(told.message).toContain(kept);
    expect(kept).toMatch(/^Not without a photo: write to \[link\] or \[link\]$/);
    expect(await ledgerOf(parked.order)).toEqual(untouched);
  });

  it('is possible while the ledger cannot be read, and without what the page showed', async () => {
    const parked = await parkedRefund();
    failReads(new Error('D1 DB is overloaded'));
    expect(await fateOf(parked, await decide(parked, { decision: 'reject', shown: '' }))).toMatchObject({
      became: 'rejected',
    });
  });
});

describe('what is approved', () => {
  const change = (sql: string) => (parked: Parked) => env.DB.prepare(sql).bind(parked.order).run();
  const policy = (changes: Partial<Policy>) => (parked: Parked) => changePolicy(parked.agent, changes);
  const object = (sql: string) => (parked: Parked) => rowsIn(parked.agent.object, sql);
  const rechecks: [string, string, (parked: Parked) => Promise<unknown>, seen?: Parameters<typeof shownOf>[2]][] = [
    ['the tool was taken away', 'TOOL_NOT_ALLOWED', policy({ allowed_tools: ['get_order'] })],
    ['the tool is gone', 'UNKNOWN_TOOL', object("UPDATE record SET tool = 'refund_order_v0'")],
    ['its contract changed', 'TOOL_CHANGED', object("UPDATE record SET contract = 'older'")],
    ['its arguments no longer fit', 'INVALID_ARGUMENTS', object("UPDATE record SET input = '{}'")],
    ['the order is gone', 'ORDER_NOT_FOUND', change('DELETE FROM orders WHERE order_id = ?')],
    [
      'the order is in another currency',
      'CURRENCY_MISMATCH',
      change("UPDATE orders SET currency = 'USD' WHERE order_id = ?"),
      { currency: 'USD' },
    ],
    [
      'less is left',
      'AMOUNT_EXCEEDS_REFUNDABLE',
      change('UPDATE orders SET total_cents = 2589 WHERE order_id = ?'),
      { total_cents: 2_589 },
    ],
    ['a refund may move less', 'POLICY_LIMIT', policy({ max_refund_cents: 2589 })],
    ['the session may move less', 'POLICY_LIMIT', policy({ max_session_refund_cents: 2589 })],
  ];
  it.each(rechecks)('fails where %s, with the code that says so', async (_, code, happen, seen = {}) => {
    const parked = await parkedRefund();
    await happen(parked);
    const shown = shownOf(parked.order, 0, seen);
    expect(await fateOf(parked, await decide(parked, { shown }))).toEqual({ became: 'failed', status: 'failed', code });
    expect((await auditIn(parked.agent.object)).at(-1)).toMatchObject({ kind: 'decision', ok: false, code });
    expect(await parked.agent.stub().approval(parked.agent.uid, parked.id, 0)).toMatchObject({
      status: 'failed',
      outcome: { ok: false, code },
    });
    expect(await rowsIn(parked.agent.object, 'SELECT ledger FROM record')).toEqual([{ ledger: null }]);
  });

  it('is not asked of a person again, whatever the policy says by now', async () => {
    const parked = await parkedRefund();
    await changePolicy(parked.agent, { confirm_above_cents: 1, approvers: ['ana@shop.test'] });
    expect(await fateOf(parked, await decide(parked))).toMatchObject({ status: 'executed' });
  });

  it('stays pending where the ledger cannot be read', async () => {
    const parked = await parkedRefund();
    failReads(new Error('D1 DB is overloaded'));
    expect(await fateOf(parked, await decide(parked))).toEqual({ became: 'unreadable', status: 'pending', code: null });
    vi.restoreAllMocks();
    expect(await fateOf(parked, await decide(parked))).toMatchObject({ status: 'executed' });
    expect((await auditIn(parked.agent.object)).map(({ kind }) => kind)).toEqual(['call', 'decision']);
  });

  it('is judged afresh when asked for again after it failed, as the next approval', async () => {
    const parked = await parkedRefund();
    await changePolicy(parked.agent, { max_refund_cents: 1 });
    await decide(parked);
    await changePolicy(parked.agent, { max_refund_cents: 50_000 });
    const { code, approval } = await again(parked);
    expect(code).toBe('CONFIRMATION_REQUIRED');
    expect(approval?.id).not.toBe(parked.id);
    const next = { ...parked, id: approval?.id ?? '' };
    expect(await fateOf(next, await decide(next))).toMatchObject({ status: 'executed' });
  });
});

describe('of many decisions', () => {
  it('one counts, and every other sees it and leaves no row', async () => {
    const parked = await parkedRefund();
    const answers = await Promise.all([
      decide(parked),
      decide(parked, { approver: 1 }),
      decide(parked),
      reject(parked),
    ]);
    const fates = await Promise.all(answers.map((answer) => fateOf(parked, answer)));
    expect(fates.map(({ became }) => became)).toEqual([
      'approved',
      ...Array.from({ length: 3 }, () => 'already_decided'),
    ]);
    expect(answers.slice(1)).toMatchObject(Array.from({ length: 3 }, () => ({ view: { status: 'executed' } })));
    expect(await auditIn(parked.agent.object)).toHaveLength(2);
    expect(await ledgerOf(parked.order)).toEqual(applied);
  });

  it('the rejection counts where it came first', async () => {
    const parked = await parkedRefund();
    const answers = await Promise.all([reject(parked), decide(parked, { approver: 1 })]);
    expect(answers).toMatchObject([
      { decided: 'rejected' },
      { refused: 'already_decided', view: { status: 'rejected' } },
    ]);
    expect(await ledgerOf(parked.order)).toEqual(untouched);
  });

  it.each([
    ['a withdrawal', 'failed', ({ agent, id }: Parked) => agent.stub().withdraw(id, 'req')],
    ['an expiry', 'expired', (parked: Parked) => (laterBy(DAY_MS), statusOf(parked))],
    ['an expiry that nobody noticed', 'expired', async () => laterBy(DAY_MS)],
  ] as const)('none counts where %s comes while the ledger is read', async (_, status, happen) => {
    const parked = await parkedRefund();
    afterNextRead(async () => happen(parked));
    expect(await fateOf(parked, await decide(parked))).toMatchObject({ became: 'already_decided', status });
    expect(await ledgerOf(parked.order)).toEqual(untouched);
    expect(await auditIn(parked.agent.object)).toHaveLength(2);
  });

  it('none counts where a withdrawal comes while the ledger cannot be read', async () => {
    const parked = await parkedRefund();
    afterNextRead(async () => {
      await parked.agent.stub().withdraw(parked.id, 'req');
      throw new Error('D1 DB is overloaded');
    });
    expect(await fateOf(parked, await decide(parked))).toMatchObject({
      became: 'already_decided',
      status: 'failed',
      code: 'WITHDRAWN',
    });
  });

  it('none counts after its time', async () => {
    const parked = await parkedRefund({ approval_ttl_seconds: 60 });
    laterBy(60_000);
    expect(await fateOf(parked, await decide(parked))).toEqual({
      became: 'already_decided',
      status: 'expired',
      code: null,
    });
    expect((await auditIn(parked.agent.object)).at(-1)).toMatchObject({ kind: 'event', code: 'APPROVAL_EXPIRED' });
    expect(await again(parked)).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
  });
});

describe('two sessions that ask for the same order', () => {
  const both = async () => {
    const first = await parkedRefund();
    const agent = await newAgent();
    const { code, approval } = outcomeOf(
      await agent.call('refund_order', refund(first.order, { amount_cents: 10_000 })),
    );
    expect(code).toBe('CONFIRMATION_REQUIRED');
    return [first, { agent, order: first.order, id: approval?.id ?? '' }] as const;
  };

  it('are approved one after the other, the second as the page shows it by then', async () => {
    const [first, second] = await both();
    await decide(first);
    expect(await fateOf(second, await decide(second, { phrase: '100.00' }))).toMatchObject({ became: 'stale' });
    expect(
      await fateOf(second, await decide(second, { phrase: '100.00', shown: shownOf(first.order, 2_590) })),
    ).toEqual({
      became: 'failed',
      status: 'failed',
      code: 'AMOUNT_EXCEEDS_REFUNDABLE',
    });
    expect(await ledgerOf(first.order)).toEqual(applied);
  });

  it('are approved at once, and the ledger lets one pass', async () => {
    const [first, second] = await both();
    await Promise.all([decide(first), decide(second, { phrase: '100.00' })]);
    const statuses = await Promise.all([first, second].map(statusOf));
    expect(statuses.filter((status) => status === 'executed')).toHaveLength(1);
    expect(await ledgerOf(first.order)).toMatchObject({ applied: 1 });
  });
});
