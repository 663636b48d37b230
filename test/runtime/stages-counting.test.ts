/** Stage 0 and the counting of stage 4: steps, loops, and what starts a count anew (docs/specification.md#stage-0-step-budget). */
import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { decide, parkedRefund, reject, type Parked } from '../support/approver.ts';
import { auditIn, changePolicy, runAlarm, withoutAlarms } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const DAY_MS = 86_400_000;
const laterBy = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });

/** The codes of a call that is made again and again. */
async function codesOf(agent: Agent, tool: string, args: unknown, times: number): Promise<string[]> {
  const codes: string[] = [];
  for (let made = 0; made < times; made += 1) codes.push(outcomeOf(await agent.call(tool, args)).code);
  return codes;
}

const evict = (agent: Agent) => evictDurableObject(env.SESSION.getByName(agent.object));

describe('the step budget', () => {
  it('counts parallel calls in the order of arrival, with any outcome', async () => {
    const agent = await newAgent();
    const order_id = await newOrder();
    const tools = Array.from({ length: 20 }, (_, place) => (place % 2 === 0 ? 'get_order' : 'nothing'));
    const made = await Promise.all(tools.map((tool, place) => agent.call(tool, { order_id, place })));
    const outcomes = made.map(outcomeOf);
    expect(outcomes.map(({ step }) => step)).toEqual(tools.map((_, place) => place + 1));
    expect(outcomes.map(({ code }) => code === 'STEP_LIMIT')).toEqual(tools.map((_, place) => place >= 10));
  });

  it('goes on where it stood after an eviction, and follows the policy of now', async () => {
    const agent = await newAgent({ max_steps: 2 });
    await agent.call('nothing', {});
    await evict(agent);
    expect(outcomeOf(await agent.call('nothing', {}))).toMatchObject({ code: 'UNKNOWN_TOOL', step: 2 });
    expect(outcomeOf(await agent.call('nothing', {}))).toMatchObject({ code: 'STEP_LIMIT', step: 3 });
    await changePolicy(agent, { max_steps: 4 });
    expect(outcomeOf(await agent.call('nothing', {}))).toMatchObject({ code: 'UNKNOWN_TOOL', step: 4 });
    expect(await agent.call('nothing', {})).toMatchObject({
      outcome: { code: 'STEP_LIMIT' },
      max_steps: 4,
      steps_left: 0,
    });
  });

  it('is not spent by decisions', async () => {
    const parked = await parkedRefund();
    await reject(parked);
    expect(await parked.agent.call('nothing', {})).toMatchObject({ outcome: { step: 2 }, steps_left: 8 });
  });

  it('closes the session with one row when 100 calls went past it', async () => {
    const agent = await newAgent({ max_steps: 1 });
    await agent.call('nothing', {});
    expect(new Set(await codesOf(agent, 'nothing', {}, 100))).toEqual(new Set(['STEP_LIMIT']));
    for (const wake of [async () => undefined, () => evict(agent), () => changePolicy(agent, { max_steps: 1000 })]) {
      await wake();
      expect(await agent.call('get_order', {})).toEqual({ refused: 'session_exhausted' });
    }
    const rows = await auditIn(agent.object);
    expect(rows).toHaveLength(102);
    expect(rows.at(-1)).toMatchObject({ kind: 'event', code: 'SESSION_EXHAUSTED', step: null });
  });
});

describe('a loop', () => {
  const loops = ['OK', 'OK', 'OK', 'LOOP_DETECTED', 'LOOP_DETECTED'];

  it('is the same call more often than the policy has it, with the way out named', async () => {
    const agent = await newAgent();
    const order_id = await newOrder();
    expect(await codesOf(agent, 'get_order', { order_id }, 5)).toEqual(loops);
    expect(outcomeOf(await agent.call('get_order', { order_id }))).toMatchObject({ next: 'use_previous_result' });
    expect(await codesOf(agent, 'get_order', { order_id: await newOrder() }, 1)).toEqual(['OK']);
  });

  it('is known by its key: order of members, notation and absent defaults make no other call', async () => {
    const agent = await newAgent({ allowed_tools: ['search_transactions'] });
    const search = { account_id: 'ACC-00000000', start_date: '2026-01-01' };
    const spellings = [
      search,
      { ...search, min_amount_cents: null, transaction_type: 'ALL' },
      '{"min_amount_cents":0.0,"start_date":"2026-01-01","account_id":"ACC-00000000"}',
      search,
    ];
    const codes: string[] = [];
    for (const args of spellings) codes.push(outcomeOf(await agent.call('search_transactions', args)).code);
    expect(codes).toEqual(['ACCOUNT_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'LOOP_DETECTED']);
  });

  it('counts refused calls too, and survives an eviction', async () => {
    const agent = await newAgent();
    const foreign = refund('ORD-0000');
    await agent.call('nothing', {}, 'used');
    expect(outcomeOf(await agent.call('refund_order', foreign, 'used'))).toMatchObject({ code: 'CALL_ID_REUSED' });
    expect(await codesOf(agent, 'refund_order', foreign, 1)).toEqual(['ORDER_NOT_FOUND']);
    await evict(agent);
    expect(await codesOf(agent, 'refund_order', foreign, 2)).toEqual(['ORDER_NOT_FOUND', 'LOOP_DETECTED']);
  });

  it('yields to the reuse of an id', async () => {
    const agent = await newAgent();
    const order_id = await newOrder();
    await agent.call('nothing', {}, 'used');
    await codesOf(agent, 'get_order', { order_id }, 3);
    expect(outcomeOf(await agent.call('get_order', { order_id }, 'used'))).toMatchObject({ code: 'CALL_ID_REUSED' });
  });

  it('counts calls that join a running one: of twenty at once three are answered, and one is applied', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000, max_steps: 20 });
    const order = await newOrder();
    const made = await Promise.all(Array.from({ length: 20 }, () => agent.call('refund_order', refund(order))));
    const codes = made.map((answer) => outcomeOf(answer).code);
    expect(codes.filter((code) => code === 'OK')).toHaveLength(3);
    expect(codes.filter((code) => code === 'LOOP_DETECTED')).toHaveLength(17);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
  });

  it('is not broken by the first execution of an effect, nor by its replays', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order_id = await newOrder();
    expect(await codesOf(agent, 'refund_order', refund(order_id), 5)).toEqual(loops);
  });

  it('ends for reads when an effect is newly applied, and only then', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000, max_steps: 20 });
    const order_id = await newOrder();
    expect(await codesOf(agent, 'get_order', { order_id }, 4)).toEqual(loops.slice(0, 4));
    await agent.call('refund_order', refund(order_id));
    expect(await codesOf(agent, 'get_order', { order_id }, 4)).toEqual(loops.slice(0, 4));
    await agent.call('refund_order', refund(order_id));
    expect(await codesOf(agent, 'get_order', { order_id }, 1)).toEqual(['LOOP_DETECTED']);
  });
});

describe('the count of an effect', () => {
  /** A parked refund that was asked for as often as the policy lets an equal call be, and once more. */
  async function looping(changes = {}): Promise<Parked> {
    const parked = await parkedRefund({ max_steps: 20, ...changes });
    const again = await codesOf(parked.agent, 'refund_order', refund(parked.order), 3);
    expect(again).toEqual(['CONFIRMATION_REQUIRED', 'CONFIRMATION_REQUIRED', 'CONFIRMATION_REQUIRED']);
    return parked;
  }
  const again = ({ agent, order }: Parked) => codesOf(agent, 'refund_order', refund(order), 4);

  it.each([
    ['an approval', (parked: Parked) => decide(parked), 'OK'],
    ['a rejection', (parked: Parked) => reject(parked), 'CONFIRMATION_REJECTED'],
  ])('starts again with %s', async (_, change, code) => {
    const parked = await looping();
    await change(parked);
    expect(await again(parked)).toEqual([code, code, code, 'LOOP_DETECTED']);
  });

  it('starts again when an unknown effect gets its result', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder();
    const batch = vi.spyOn(env.DB, 'batch').mockRejectedValue(new Error('D1 DB is overloaded'));
    expect(await codesOf(agent, 'refund_order', refund(order), 4)).toEqual([
      ...Array.from({ length: 4 }, () => 'UPSTREAM_UNAVAILABLE'),
    ]);
    batch.mockRestore();
    await runAlarm(agent.object);
    expect(await codesOf(agent, 'refund_order', refund(order), 4)).toEqual(['OK', 'OK', 'OK', 'LOOP_DETECTED']);
  });

  it('has no end while the action waits, also for a new approval after an expiry', async () => {
    const parked = await looping();
    laterBy(DAY_MS);
    await runAlarm(parked.agent.object);
    expect(await again(parked)).toEqual(Array.from({ length: 4 }, () => 'CONFIRMATION_REQUIRED'));
  });

  it('goes on after a withdrawal, which decides nothing', async () => {
    const parked = await looping();
    await parked.agent.stub().withdraw(parked.id, 'req-operator');
    expect(await codesOf(parked.agent, 'refund_order', refund(parked.order), 1)).toEqual(['LOOP_DETECTED']);
  });
});
