/**
 * The object dies at each place where it awaits (SPEC 6), in each thing that sends an effect, and each of those who come after
 * finds it: in the end the ledger moved once or not at all, the audit tells it once, and a write that lands late changes nothing.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { propose, type Proposed } from '../../src/http/propose.ts';
import {
  attemptsOf,
  codeOf,
  containing,
  decisionOn,
  moveOn,
  parks,
  provenInD1,
  standStill,
  statesIn,
  wordOf,
} from '../support/effects.ts';
import { answersOverloaded, everyObjectDies, isRefused, watchD1 } from '../support/faults.ts';
import { auditIn, runAlarm } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

const UNASKED = { confirm_above_cents: 50_000, max_duplicate_calls: 10 };

beforeEach(standStill);
afterEach(moveOn);

/** Something that sends an effect: how it begins, and how whoever began it begins it again. */
type Work = { agent: Agent; order: string; begin: () => Promise<string> };

const works: Record<string, () => Promise<Work>> = {
  async 'a refund without approval'() {
    const [order, agent] = [await newOrder(), await newAgent(UNASKED)];
    return { agent, order, begin: () => codeOf(agent.call('refund_order', refund(order), 'same')) };
  },
  async 'an approval'() {
    const [order, agent] = [await newOrder(), await newAgent()];
    const decision = await decisionOn(agent, await parks(agent, refund(order)));
    return {
      agent,
      order,
      begin: () =>
        agent
          .stub()
          .decide(decision)
          .then(wordOf, () => 'never answered'),
    };
  },
  async 'a call that resumes an unknown claim'() {
    const [order, agent] = [await newOrder(), await newAgent(UNASKED)];
    const d1 = watchD1();
    d1.fault('send', isRefused);
    expect(await codeOf(agent.call('refund_order', refund(order), 'earlier'))).toBe('UPSTREAM_UNAVAILABLE');
    d1.heal();
    return { agent, order, begin: () => codeOf(agent.call('refund_order', refund(order), 'same')) };
  },
  async 'a call that resumes what was approved'() {
    const [order, agent] = [await newOrder(), await newAgent()];
    const decision = await decisionOn(agent, await parks(agent, refund(order)));
    const d1 = watchD1();
    d1.fault('send', isRefused);
    expect(wordOf(await agent.stub().decide(decision))).toBe('approved');
    d1.heal();
    return { agent, order, begin: () => codeOf(agent.call('refund_order', refund(order), 'same')) };
  },
};

const places = [
  { dies: 'before the read', trip: 'check', side: 'before' },
  { dies: 'after the read', trip: 'check', side: 'after' },
  { dies: 'before the write', trip: 'send', side: 'before' },
  { dies: 'after the write, before its answer', trip: 'send', side: 'after' },
] as const;

/** What the alarm alone makes of each death, in the order of `places`. */
const byAlarm: Record<string, string[]> = {
  'a refund without approval': ['none', 'none', 'failed', 'executed'],
  'an approval': ['pending', 'pending', 'executed', 'executed'],
  'a call that resumes an unknown claim': ['failed', 'failed', 'failed', 'executed'],
  'a call that resumes what was approved': ['executed', 'executed', 'executed', 'executed'],
};

/** Begins the work and lets the object die at a place of it; `land` is the write that was on its way. */
async function died(work: Work, { trip, side }: (typeof places)[number]): Promise<() => Promise<unknown>> {
  const stop = watchD1().stop(trip, side);
  const begun = work.begin();
  await stop.reached();
  await everyObjectDies();
  expect(await begun).toBe('never answered');
  return trip === 'send' ? stop.land : async () => undefined;
}

/** All of it is over: told once, moved as often as applied, and each answered call has one row. */
async function expectSettled({ agent, order }: Work, state: string, calls: string[]): Promise<void> {
  const rows = await provenInD1(agent);
  expect((await statesIn(agent)).at(-1) ?? 'none').toBe(state);
  const applied = state === 'executed' ? 1 : 0;
  expect((await ledgerOf(order)).refunded_cents).toBe(applied * 2590);
  expect((await attemptsOf(agent)).filter((attempt) => attempt.applied === 1)).toHaveLength(applied);
  const ids = rows.filter(({ kind }) => kind === 'call').map(({ call_id }) => call_id);
  expect(ids).toHaveLength(new Set(ids).size);
  for (const id of calls) expect(ids).toContain(id);
  expect(rows.filter(({ kind }) => kind === 'decision').length).toBeLessThanOrEqual(1);
}

describe.each(Object.keys(works))('%s', (name) => {
  const make = async (): Promise<Work> => (works[name] ?? works['a refund without approval'])?.() as Promise<Work>;
  const calls = name === 'an approval' ? [] : ['same'];

  it.each(places)('that dies $dies is done once when it is begun again', async (place) => {
    const work = await make();
    const land = await died(work, place);
    await work.begin();
    await land();
    await expectSettled(work, 'executed', calls);
  });

  it.each(places)('that dies $dies is done once when it is begun again beside an identical call', async (place) => {
    const work = await make();
    const land = await died(work, place);
    const identical = codeOf(work.agent.call('refund_order', refund(work.order), 'identical'));
    await Promise.all([identical, land(), work.begin(), runAlarm(work.agent.object)]);
    expect(['OK', 'CONFIRMATION_REQUIRED', 'UPSTREAM_UNAVAILABLE']).toContain(await identical);
    await expectSettled(work, 'executed', [...calls, 'identical']);
  });

  it.each(places)('that dies $dies is settled by the alarm alone', async (place) => {
    const work = await make();
    const land = await died(work, place);
    await runAlarm(work.agent.object);
    await land();
    await expectSettled(work, byAlarm[name]?.[places.indexOf(place)] ?? '', []);
  });
});

describe('the alarm', () => {
  /** A record that nobody runs, for the alarm to look after: its first try was refused, or applied unheard. */
  async function unattended(state: string, isApplied: boolean): Promise<Work> {
    const order = await newOrder();
    const agent = await newAgent(state === 'claimed' ? UNASKED : {});
    const d1 = watchD1();
    d1.fault('send', isApplied ? answersOverloaded : isRefused);
    if (state === 'claimed') await agent.call('refund_order', refund(order), 'earlier');
    else await agent.stub().decide(await decisionOn(agent, await parks(agent, refund(order))));
    expect(await statesIn(agent)).toEqual([state]);
    return { agent, order, begin: () => runAlarm(agent.object).then(String, () => 'never answered') };
  }

  const deaths = [
    { state: 'claimed', trip: 'void', side: 'before' },
    { state: 'claimed', trip: 'void', side: 'after' },
    { state: 'approved', trip: 'check', side: 'after' },
    { state: 'approved', trip: 'send', side: 'before' },
    { state: 'approved', trip: 'send', side: 'after' },
  ] as const;

  it.each(deaths.flatMap((death) => [true, false].map((isApplied) => ({ ...death, isApplied }))))(
    'that dies $side the $trip settles what was $state once, the attempt applied before: $isApplied',
    async ({ state, trip, side, isApplied }) => {
      const work = await unattended(state, isApplied);
      const stop = watchD1().stop(trip, side);
      const begun = work.begin();
      await stop.reached();
      await everyObjectDies();
      await begun;
      await runAlarm(work.agent.object);
      await stop.land();
      await expectSettled(work, state === 'approved' || isApplied ? 'executed' : 'failed', []);
      expect(await auditIn(work.agent.object)).toHaveLength(2);
    },
  );
});

describe('propose', () => {
  const proposed = ({ agent, order }: Work): Promise<Proposed> => {
    const call = { uid: agent.uid, tool: 'refund_order', arguments: refund(order), request_id: 'req' };
    return propose(agent.stub, call);
  };

  it.each(places)(
    'sends the call again under its id when the object dies $dies, and gets its one outcome',
    async (place) => {
      const [order, agent] = [await newOrder(), await newAgent(UNASKED)];
      const work = { order, agent, begin: () => Promise.resolve('') };
      const stop = watchD1().stop(place.trip, place.side);
      const answer = proposed(work);
      await stop.reached();
      await everyObjectDies();
      const outcome = outcomeOf((await answer) as Parameters<typeof outcomeOf>[0]);
      expect(outcome).toMatchObject({ code: 'OK', step: 1, tool: 'refund_order' });
      if (place.trip === 'send') await stop.land();
      await expectSettled(work, 'executed', [outcome.call_id]);
      expect(await auditIn(agent.object)).toHaveLength(1);
    },
  );

  it.each(places)(
    'answers UPSTREAM_UNAVAILABLE without a step or a row when the object dies twice $dies',
    async (place) => {
      const [order, agent] = [await newOrder(), await newAgent(UNASKED)];
      const work = { order, agent, begin: () => Promise.resolve('') };
      const d1 = watchD1();
      const answer = proposed(work);
      for (const _ of [1, 2]) {
        const stop = d1.stop(place.trip, place.side);
        await stop.reached();
        await everyObjectDies();
      }
      expect(await answer).toMatchObject({
        outcome: { code: 'UPSTREAM_UNAVAILABLE', step: null, ok: false, message: containing('did not say') },
        standing: null,
      });
      expect(await auditIn(agent.object)).toEqual([]);
      await runAlarm(agent.object);
      await expectSettled(work, byAlarm['a refund without approval']?.[places.indexOf(place)] ?? '', []);
    },
  );
});
