/** What a call over HTTP reads and asks for (docs/storage.md#what-a-call-costs): nothing needless, in the Worker or behind it. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { METHODS } from '../support/awaits.ts';
import { moveOn, standStill } from '../support/effects.ts';
import { watchD1 } from '../support/faults.ts';
import { meterSession } from '../support/metered-session.ts';
import { ask, makeCaller, openSessionOf } from '../support/over-http.ts';
import { sessionMethods } from '../support/session-class.ts';
import { newOrder, refund } from '../support/session.ts';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';

beforeAll(async () => {
  // Enough that a look-up by a full scan shows.
  for (let orders = 0; orders < 20; orders += 1) await newOrder();
});
beforeEach(standStill);
afterEach(moveOn);

const POLICY = {
  allowed_tools: ['get_order', 'refund_order', 'calculator', 'lookup_document', 'search_transactions'],
  confirm_above_cents: 50_000,
  max_refund_cents: 50_000,
  customer_scope: 'any',
};

type Line = { call: string; tool: string; args: (order: string) => unknown; trips: number; d1: number; object: number };
const LINES: Line[] = [
  { call: 'a call of no tool', tool: 'no_such_tool', args: () => ({}), trips: 0, d1: 0, object: 1 },
  { call: 'a calculation', tool: 'calculator', args: () => ({ expression: '1 + 1' }), trips: 0, d1: 0, object: 1 },
  { call: 'an order', tool: 'get_order', args: (order_id) => ({ order_id }), trips: 1, d1: 1, object: 1 },
  { call: 'no document', tool: 'lookup_document', args: () => ({ doc_id: 'none' }), trips: 1, d1: 0, object: 1 },
  { call: 'a refund', tool: 'refund_order', args: (order) => refund(order), trips: 2, d1: 12, object: 5 },
];

describe('a call over HTTP', () => {
  it.each(LINES)('asks its session once and reads no needless row: $call', async ({ tool, args, ...expected }) => {
    const [order, { caller_id, api_key }] = [await newOrder(), await makeCaller(POLICY)];
    const { token, session_id } = await openSessionOf(api_key);
    // The first call of a life reads the log once.
    await ask(token, 'POST', '/v1/calls', { tool: 'no_such_tool' });
    const rpcs = METHODS.map((method) => vi.spyOn(sessionMethods, method as 'call').mockClear());
    const queue = vi.spyOn(env.QUEUE, 'sendBatch').mockClear();
    const single = vi.spyOn(env.QUEUE, 'send');
    const metered = await meterSession(sessionObjectName(caller_id, session_id));
    const d1 = watchD1();
    const answer = await ask(token, 'POST', '/v1/calls', { tool, arguments: args(order) });
    expect(answer.status).toBe(200);
    const seen = {
      asked: rpcs.flatMap(({ mock }, place) => mock.calls.map(() => METHODS[place])),
      queued: queue.mock.calls.length + single.mock.calls.length,
      trips: d1.trips.length,
      d1: d1.trips.reduce((rows, { read }) => rows + read, 0),
      object: metered().read,
    };
    const { trips, d1: read, object } = expected;
    expect(seen).toEqual({ asked: ['call'], queued: 0, trips, d1: read, object });
  });
});
