/** What a call costs (docs/storage.md#what-a-call-costs), line by line: trips that somebody waits for, rows the session writes, rows D1 writes before the answer. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Policy } from '../../src/gate/ports.ts';
import { sessionMethods } from '../support/session-class.ts';
import { decisionOn, later, moveOn, parks, standStill } from '../support/effects.ts';
import { answersOverloaded, isRefused, watchD1, type Trip, type WatchedD1 } from '../support/faults.ts';
import { changePolicy, runAlarm } from '../support/inside.ts';
import { meterSession } from '../support/metered-session.ts';
import { ask, makeCaller, openSessionOf } from '../support/over-http.ts';
import { newAgent, newOrder, outcomeOf, refund, type Agent, moved } from '../support/session.ts';

beforeEach(standStill);
afterEach(moveOn);

const UNASKED = { confirm_above_cents: 50_000 };
const ALL_TOOLS = [
  'get_order',
  'refund_order',
  'calculator',
  'lookup_document',
  'count_documents',
  'search_transactions',
];

const SEARCH = { account_id: 'ACC-00000000', start_date: '2026-01-01' };

/** `hops`: the RPC and each trip to D1 that began when no other was under way. `transactions`: those of the session. */
type Cost = { hops: number; session: number; transactions: number; d1: number };

/** Counts what `act` costs once it is answered; what the alarm does later is another matter. */
async function costOf({ object }: Agent, act: (d1: WatchedD1) => Promise<unknown>): Promise<Cost> {
  const written = await meterSession(object);
  const rpc = (['call', 'decide'] as const).map((method) => vi.spyOn(sessionMethods, method).mockClear());
  const d1 = watchD1();
  await act(d1);
  const calls = rpc.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  const { session, transactions } = written();
  return { hops: calls + hopsOf(d1.trips), session, transactions, d1: rowsOf(d1.trips) };
}

const hopsOf = (trips: Trip[]): number => trips.filter(({ parallel }) => !parallel).length;
const rowsOf = (trips: Trip[]): number => trips.flatMap(({ written }) => written).reduce((sum, rows) => sum + rows, 0);

type Line = {
  call: string;
  policy?: Partial<Policy>;
  tool?: string;
  args?: Record<string, unknown> | string;
  before?: (agent: Agent, order: string) => Promise<unknown>;
  id?: string;
  code: string;
};

/** Makes the line's call and answers with what it cost. */
async function costOfCall({ policy = {}, tool = 'refund_order', args, before, id, code }: Line): Promise<Cost> {
  const [order, agent] = [await newOrder(), await newAgent({ allowed_tools: ALL_TOOLS, ...policy })];
  await before?.(agent, order);
  const sent =
    tool === 'refund_order' && typeof args !== 'string' ? refund(order, args) : (args ?? { order_id: order });
  return costOf(agent, async () => expect(outcomeOf(await agent.call(tool, sent, id)).code).toBe(code));
}

const same = (agent: Agent, order: string) => agent.call('refund_order', refund(order), 'same');

describe('a transport error', () => {
  it.each([
    ['of nobody costs nothing', false, { tool: 'x' }, 401, 0],
    ['of a session costs 1 hop and no row, to ask whether it is live', true, { tool: 1 }, 422, 1],
  ])('%s', async (_, isKnown, body, status, hops) => {
    const { token } = await openSessionOf((await makeCaller()).api_key);
    const [call, tools, d1] = [vi.spyOn(sessionMethods, 'call'), vi.spyOn(sessionMethods, 'tools'), watchD1()];
    expect((await ask(isKnown ? token : 'no token', 'POST', '/v1/calls', body)).status).toBe(status);
    expect(tools).toHaveBeenCalledTimes(hops);
    expect(call).not.toHaveBeenCalled();
    expect(d1.trips).toEqual([]);
  });
});

describe('a call refused at stages 0 to 4, a replay, what is pending or rejected again', () => {
  const lines: Line[] = [
    { call: 'past the budget', policy: { max_steps: 1 }, before: same, code: 'STEP_LIMIT' },
    { call: 'of no tool', tool: 'no_such_tool', code: 'UNKNOWN_TOOL' },
    { call: 'of a tool not allowed', policy: { allowed_tools: [] }, code: 'TOOL_NOT_ALLOWED' },
    { call: 'whose text is no JSON', args: '{', code: 'INVALID_JSON' },
    { call: 'outside the schema', args: { amount_cents: 0 }, code: 'INVALID_ARGUMENTS' },
    { call: 'under a used id', before: same, id: 'same', args: { amount_cents: 1 }, code: 'CALL_ID_REUSED' },
    { call: 'made too often', policy: { ...UNASKED, max_duplicate_calls: 1 }, before: same, code: 'LOOP_DETECTED' },
    { call: 'executed before', policy: UNASKED, before: same, code: 'OK' },
    { call: 'pending', before: same, code: 'CONFIRMATION_REQUIRED' },
    {
      call: 'rejected',
      async before(agent, order) {
        const id = await parks(agent, refund(order));
        await agent.stub().decide(await decisionOn(agent, id, { decision: 'reject' }));
      },
      code: 'CONFIRMATION_REJECTED',
    },
  ];
  it.each(lines)('costs 1 hop and 1 row: $call', async (line) => {
    expect(await costOfCall(line)).toEqual({ hops: 1, session: 1, transactions: 1, d1: 0 });
  });
});

describe('a transport retry of a settled call', () => {
  it('costs 1 hop and no row', async () => {
    const line = { call: '', policy: UNASKED, before: same, id: 'same', code: 'OK' };
    expect(await costOfCall(line)).toEqual({ hops: 1, session: 0, transactions: 0, d1: 0 });
  });
});

describe('a call refused at stages 5 and 6', () => {
  it.each<Line>([
    { call: 'by the rules of the tool', args: { amount_cents: 12_001 }, code: 'AMOUNT_EXCEEDS_REFUNDABLE' },
    { call: 'by the policy', policy: { max_refund_cents: 1 }, code: 'POLICY_LIMIT' },
  ])('costs 2 hops and 1 row: $call', async (line) => {
    expect(await costOfCall(line)).toEqual({ hops: 2, session: 1, transactions: 1, d1: 0 });
  });
});

describe('a read', () => {
  it.each<Line & { hops: number }>([
    { call: 'an order', tool: 'get_order', code: 'OK', hops: 2 },
    { call: 'no document', tool: 'lookup_document', args: { doc_id: 'none' }, code: 'DOCUMENT_NOT_FOUND', hops: 2 },
    { call: 'a count', tool: 'count_documents', args: { status: 'current' }, code: 'OK', hops: 2 },
    { call: 'no account', tool: 'search_transactions', args: SEARCH, code: 'ACCOUNT_NOT_FOUND', hops: 2 },
    { call: 'a tool without D1', tool: 'calculator', args: { expression: '1 + 1' }, code: 'OK', hops: 1 },
  ])('costs $hops hops and 1 row: $call', async ({ hops, ...line }) => {
    expect(await costOfCall(line)).toEqual({ hops, session: 1, transactions: 1, d1: 0 });
  });
});

describe('an effect', () => {
  it('costs 2 hops and 2 rows in one transaction where it needs confirmation for the first time', async () => {
    const line = { call: '', code: 'CONFIRMATION_REQUIRED' };
    expect(await costOfCall(line)).toEqual({ hops: 2, session: 2, transactions: 1, d1: 0 });
  });

  it('costs 3 hops, 3 rows and 2 in D1 without approval', async () => {
    const line = { call: '', policy: UNASKED, code: 'OK' };
    expect(await costOfCall(line)).toEqual({ hops: 3, session: 3, transactions: 1, d1: 2 });
  });

  it('costs 3 hops, 3 rows and 1 in D1 where the ledger refuses it', async () => {
    const [order, agent] = [await newOrder({ total_cents: 2590 }), await newAgent(UNASKED)];
    const cost = await costOf(agent, async (d1) => {
      const sending = d1.stop('send', 'before');
      const call = agent.call('refund_order', refund(order));
      await sending.reached();
      await moved(order, 1);
      sending.release();
      expect(outcomeOf(await call).code).toBe('AMOUNT_EXCEEDS_REFUNDABLE');
    });
    expect(cost).toEqual({ hops: 3, session: 3, transactions: 1, d1: 1 });
  });

  it.each([
    { decision: 'approve', cost: { hops: 3, session: 3, transactions: 1, d1: 2 } },
    { decision: 'reject', cost: { hops: 1, session: 2, transactions: 1, d1: 0 } },
  ] as const)('costs $cost.hops hops and $cost.session rows to $decision', async ({ decision, cost }) => {
    const agent = await newAgent();
    const decided = await decisionOn(agent, await parks(agent, refund(await newOrder())), { decision });
    expect(await costOf(agent, () => agent.stub().decide(decided))).toEqual(cost);
  });
});

describe('settling an unknown', () => {
  /** An attempt that the ledger has, or never heard of, and nobody knows; the outbox is shut, so that only settling counts. */
  async function unknown(isApplied: boolean) {
    const [order, agent] = [await newOrder(), await newAgent(UNASKED)];
    const d1 = watchD1();
    d1.fault('send', isApplied ? answersOverloaded : isRefused);
    await agent.call('refund_order', refund(order));
    return { order, agent };
  }

  it.each([
    { isApplied: true, d1: 0 },
    { isApplied: false, d1: 1 },
  ])('costs the alarm 1 hop, 2 rows and $d1 in D1', async ({ isApplied, d1 }) => {
    const { agent } = await unknown(isApplied);
    const written = await meterSession(agent.object);
    const watched = watchD1();
    watched.fault('report', isRefused);
    await runAlarm(agent.object);
    const trips = watched.trips.filter(({ kind }) => kind !== 'report');
    expect([hopsOf(trips), written().session, rowsOf(trips)]).toEqual([1, 2, d1]);
  });

  it.each([
    { by: 'sending it again', isApplied: true, limit: 50_000, d1: 0 },
    { by: 'sending it at last', isApplied: false, limit: 50_000, d1: 2 },
    { by: 'its void', isApplied: false, limit: 1, d1: 1 },
  ])(
    'costs an identical call 2 hops more than its own, 2 rows and $d1 in D1 by $by',
    async ({ isApplied, limit, d1 }) => {
      const { order, agent } = await unknown(isApplied);
      watchD1();
      await changePolicy(agent, { max_refund_cents: limit });
      const cost = await costOf(agent, () => agent.call('refund_order', refund(order)));
      expect(cost).toEqual({ hops: 3, session: 2, transactions: 1, d1 });
    },
  );
});

describe('what travels later', () => {
  it('is one row in D1 for each row of the log, and one of the watermark for sixteen', async () => {
    const agent = await newAgent();
    await runAlarm(agent.object);
    const batch = async (rows: number) => {
      for (let calls = 0; calls < rows; calls += 1) await agent.call('no_such_tool', {});
      later(60_000);
      const written = await meterSession(agent.object);
      const d1 = watchD1();
      await runAlarm(agent.object);
      const { session, alarms } = written();
      return { d1: d1.trips.map((trip) => trip.written), session, alarms };
    };
    expect(await batch(3)).toEqual({ d1: [[3, 0]], session: 0, alarms: 1 });
    expect(await batch(12)).toEqual({ d1: [[12, 0]], session: 0, alarms: 1 });
    expect(await batch(1)).toEqual({ d1: [[1, 0]], session: 1, alarms: 1 });
    expect(await batch(0)).toEqual({ d1: [], session: 0, alarms: 1 });
  });

  it('is one row of an approval each time it opened, was delivered or decided, its index entries once, and what is open', async () => {
    const agent = await newAgent();
    await runAlarm(agent.object);
    const reportAfter = async (act: () => Promise<unknown>) => {
      await act();
      const written = await meterSession(agent.object);
      const d1 = watchD1();
      await runAlarm(agent.object);
      return { d1: d1.trips.map(({ written }) => written), session: written().session };
    };
    let id = '';
    const parked = async () => void (id = await parks(agent, refund(await newOrder())));
    // In D1 rows of the log and the hash read back; then, in the other database, rows of approvals and of the session. In the
    // object the watermark, what is told of an approval, that people were asked, and that what is open is about to be told.
    expect(await reportAfter(parked)).toEqual({
      d1: [
        [1, 0],
        [3, 1],
      ],
      session: 4,
    });
    const message = { type: 'approval', object: agent.object, approval_id: id, approver: 0 } as const;
    expect(await reportAfter(() => agent.stub().delivered(message, 'sent'))).toEqual({ d1: [[1]], session: 1 });
    const decision = await decisionOn(agent, id);
    expect(await reportAfter(() => agent.stub().decide(decision))).toEqual({
      d1: [
        [1, 0],
        [1, 1],
      ],
      session: 3,
    });
    expect(await reportAfter(async () => undefined)).toEqual({ d1: [], session: 0 });
  });
});

describe('a session with a long log', () => {
  /** Rows that each kind of call reads in a session that has logged so many calls. */
  async function readAfter(logged: number): Promise<Record<string, number>> {
    const [order, agent] = [
      await newOrder(),
      await newAgent({ ...UNASKED, allowed_tools: ALL_TOOLS, max_steps: 1000 }),
    ];
    for (let calls = 1; calls < logged; calls += 1) await agent.call('no_such_tool', {}, `no-${calls}`);
    await same(agent, order);
    const read: Record<string, number> = {};
    const meter = async (name: string, call: () => Promise<unknown>): Promise<void> => {
      const metered = await meterSession(agent.object);
      await call();
      read[name] = metered().read;
    };
    await meter('refused', () => agent.call('no_such_tool', {}));
    await meter('a retry', () => same(agent, order));
    await meter('a replay', () => agent.call('refund_order', refund(order)));
    await meter('under a used id', () => agent.call('get_order', { order_id: order }, 'no-1'));
    await meter('a read', () => agent.call('get_order', { order_id: order }));
    await meter('an effect', () => agent.call('refund_order', refund(order, { amount_cents: 1 })));
    return read;
  }

  it('reads as many rows a call as one with a short log', async () => {
    const short = await readAfter(10);
    // The insert looks for the row that it would replace.
    expect(short).toMatchObject({ refused: 1, 'a read': 1 });
    expect(await readAfter(900)).toEqual(short);
  }, 60_000);
});
