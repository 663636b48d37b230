/** What a million calls cost (docs/storage.md#money), from the rows, alarms, requests and messages of a mix of fifty calls. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { approves, later, moveOn, parks, standStill, watchQueue } from '../support/effects.ts';
import { watchD1 } from '../support/faults.ts';
import { alarmOf, runAlarm } from '../support/inside.ts';
import { meterSession } from '../support/metered-session.ts';
import { newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

beforeEach(standStill);
afterEach(moveOn);

/** Dollars, by the platform's price lists; CPU and mail are left out. */
const PRICES = { request: 0.3e-6, objectCall: 0.15e-6, rowWritten: 1e-6, queueOperation: 0.4e-6 };
const OPERATIONS_A_MESSAGE = 3;

type Act = (agent: Agent, order: string) => Promise<unknown>;
const CODES = {
  read: 'OK',
  refused: 'INVALID_ARGUMENTS',
  beyond: 'AMOUNT_EXCEEDS_REFUNDABLE',
  effect: 'OK',
} as const;
const ACTS: Record<keyof typeof CODES, (agent: Agent, order: string) => ReturnType<Agent['call']>> = {
  read: (agent, order) => agent.call('get_order', { order_id: order }),
  refused: (agent, order) => agent.call('refund_order', refund(order, { amount_cents: 0 })),
  beyond: (agent, order) => agent.call('refund_order', refund(order, { amount_cents: 12_001 })),
  effect: (agent, order) => agent.call('refund_order', refund(order)),
};

/** The mix: of fifty calls of an agent, one in four seconds, this many of each kind, and one refund that a person approves. */
const MIX: [keyof typeof CODES, number][] = [
  ['read', 30],
  ['refused', 12],
  ['beyond', 3],
  ['effect', 4],
];
const CALLS = 50;

/** One call a batch: the alarm runs before the next call comes. */
async function pass(agent: Agent, act: () => Promise<unknown>): Promise<number> {
  await act();
  let runs = 0;
  for (let seconds = 0; seconds < 4; seconds += 1) {
    if (((await alarmOf(agent.object)) ?? Infinity) <= Date.now()) {
      await runAlarm(agent.object);
      runs += 1;
    }
    later(1_000);
  }
  return runs;
}

/** What the calls and their aftermath came to, in billed units. */
async function unitsOf(acts: Act[], extra: { requests: number; objectCalls: number }) {
  const agent = await newAgent({ confirm_above_cents: 2590, max_steps: 1_000, max_duplicate_calls: 1_000 });
  await pass(agent, async () => undefined);
  later(60_000);
  await pass(agent, async () => undefined);
  const metered = await meterSession(agent.object);
  const d1 = watchD1();
  const messages = watchQueue();
  let runs = 0;
  for (const act of acts) {
    const order = await newOrder();
    runs += await pass(agent, () => act(agent, order));
  }
  for (let rest = 0; rest < 3; rest += 1) runs += await pass(agent, async () => undefined);
  const { session, alarms } = metered();
  const written = d1.trips.flatMap((trip) => trip.written).reduce((sum, rows) => sum + rows, 0);
  return {
    requests: acts.length + extra.requests,
    objectCalls: acts.length + extra.objectCalls + runs,
    rows: session + alarms + written,
    alarms,
    messages: messages.length,
  };
}

const dollarsOf = ({ requests, objectCalls, rows, messages }: Awaited<ReturnType<typeof unitsOf>>): number =>
  requests * PRICES.request +
  objectCalls * PRICES.objectCall +
  rows * PRICES.rowWritten +
  messages * OPERATIONS_A_MESSAGE * PRICES.queueOperation;

/** A refund that two people are asked for, and one of them approves. */
const approved: Act = async (agent, order) => {
  const id = await parks(agent, refund(order, { amount_cents: 2_591 }));
  await runAlarm(agent.object);
  for (const approver of [0, 1]) {
    const message = { type: 'approval', object: agent.object, approval_id: id, approver } as const;
    await agent.stub().delivered(message, 'sent');
  }
  expect(await approves(agent, id)).toEqual({ decided: 'approved' });
};

describe('an agent that calls every four seconds', () => {
  it('sets one alarm a batch, and a few more when it comes and goes', async () => {
    const acts = Array.from({ length: 20 }, () => ACTS.read);
    const { alarms } = await unitsOf(acts, { requests: 0, objectCalls: 0 });
    expect(alarms).toBeLessThanOrEqual(23);
  });

  it('costs at most 5.00 dollars a million calls in the mix', async () => {
    const kinds = MIX.flatMap(([kind, count]) => Array.from({ length: count }, () => kind));
    // Spread over one another: the step is prime to the number of calls.
    const mixed = kinds.map((_, place) => kinds[(place * 10) % kinds.length] ?? 'read');
    const calls = mixed.map((kind): Act => async (agent, order) => {
      expect(outcomeOf(await ACTS[kind](agent, order)).code).toBe(CODES[kind]);
    });
    // The page is opened and answered, each request asking the object once; the consumer asks twice a message.
    const units = await unitsOf([...calls, approved], { requests: 2, objectCalls: 2 + 2 * 2 });
    expect(units.requests).toBe(CALLS + 2);
    const dollars = (dollarsOf(units) * 1e6) / CALLS;
    expect(dollars).toBeLessThanOrEqual(5);
  });
});
