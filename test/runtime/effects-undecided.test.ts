/** The life of an effect (docs/specification.md#life-of-an-effect), the first rows of its table: nothing known, judging, pending. Each test is one cell. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  APPLIED,
  approvalIn,
  approves,
  attemptsOf,
  codeOf,
  HOUR_MS,
  later,
  moveOn,
  parks,
  provenCodes,
  provenInD1,
  provenLog,
  rejects,
  standStill,
  statesIn,
  times,
  watchQueue,
  wordOf,
} from '../support/effects.ts';
import { answersOverloaded, everyObjectDies, watchArrivals, watchD1 } from '../support/faults.ts';
import { changePolicy, rowsIn, runAlarm } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund } from '../support/session.ts';

const UNASKED = { confirm_above_cents: 50_000 };

beforeEach(standStill);
afterEach(moveOn);

describe('a key with no record', () => {
  it('is judged, sent and executed by a call', async () => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    expect(outcomeOf(await agent.call('refund_order', refund(order)))).toMatchObject({ code: 'OK', replayed: false });
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
    expect(await statesIn(agent)).toEqual(['executed']);
    expect(await provenInD1(agent)).toHaveLength(1);
  });

  it('is judged afresh after a refusal', async () => {
    const order = await newOrder();
    const agent = await newAgent({ ...UNASKED, max_refund_cents: 2589 });
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('POLICY_LIMIT');
    expect(await statesIn(agent)).toEqual([]);
    await changePolicy(agent, { max_refund_cents: 2590 });
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('OK');
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('has nothing to approve or reject', async () => {
    const agent = await newAgent();
    for (const decide of [approves, rejects]) expect(wordOf(await decide(agent, 'apr_none'))).toBe('bad_link');
    expect(await provenLog(agent)).toEqual([]);
  });
});

describe('a key that is being judged', () => {
  it.each([
    { result: 'OK', to: 'a replay', policy: UNASKED, second: { code: 'OK', replayed: true } },
    { result: 'pending', to: 'the same approval', policy: {}, second: { code: 'CONFIRMATION_REQUIRED' } },
    {
      result: 'unknown',
      to: 'UPSTREAM_UNAVAILABLE',
      policy: UNASKED,
      isUnknown: true,
      second: { code: 'UPSTREAM_UNAVAILABLE' },
    },
  ])('brings an identical call that waited to $to, the first being $result', async (example) => {
    const order = await newOrder();
    const agent = await newAgent(example.policy);
    const arrived = watchArrivals();
    const d1 = watchD1();
    if (example.isUnknown === true) d1.fault('send', answersOverloaded);
    const judging = d1.stop('check', 'before');
    const first = agent.call('refund_order', refund(order));
    await judging.reached();
    const second = agent.call('refund_order', refund(order));
    await arrived(2);
    judging.release();
    const [one, two] = [outcomeOf(await first), outcomeOf(await second)];
    expect(two).toMatchObject({ ...example.second, step: 2 });
    expect(two.approval?.id).toBe(one.approval?.id);
    expect(d1.trips.filter(({ kind }) => kind === 'check')).toHaveLength(1);
    expect((await provenInD1(agent)).filter(({ kind }) => kind === 'call')).toHaveLength(2);
  });

  it('is judged again by an identical call that waited, the first being refused', async () => {
    const order = await newOrder({ total_cents: 2589 });
    const agent = await newAgent(UNASKED);
    const arrived = watchArrivals();
    const d1 = watchD1();
    const judging = d1.stop('check', 'after');
    const first = agent.call('refund_order', refund(order));
    await judging.reached();
    const second = agent.call('refund_order', refund(order));
    await arrived(2);
    judging.release();
    expect(await Promise.all([codeOf(first), codeOf(second)])).toEqual(times(2, 'AMOUNT_EXCEEDS_REFUNDABLE'));
    expect(d1.trips.map(({ kind }) => kind)).toEqual(['check', 'check']);
    expect(await provenLog(agent)).toHaveLength(2);
  });

  it.each(['before', 'after'] as const)(
    'leaves no answer, row, step or record if the object dies %s the read',
    async (place) => {
      const order = await newOrder();
      const agent = await newAgent(UNASKED);
      const d1 = watchD1();
      const judging = d1.stop('check', place);
      const call = codeOf(agent.call('refund_order', refund(order)));
      await judging.reached();
      await everyObjectDies();
      expect(await call).toBe('never answered');
      expect(await provenLog(agent)).toEqual([]);
      expect(await statesIn(agent)).toEqual([]);
      expect(outcomeOf(await agent.call('get_order', { order_id: order })).step).toBe(1);
      expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 0 });
    },
  );
});

describe('a pending record', () => {
  it('answers an identical call with the same approval and sends no second mail', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const asked = watchQueue();
    const id = await parks(agent, refund(order));
    await runAlarm(agent.object);
    expect(await parks(agent, refund(order))).toBe(id);
    await runAlarm(agent.object);
    expect(asked).toEqual([`${id} 0`, `${id} 1`]);
    expect(await provenCodes(agent)).toEqual(times(2, 'call CONFIRMATION_REQUIRED'));
  });

  it('is executed by an approval, in one row', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const id = await parks(agent, refund(order));
    expect(wordOf(await approves(agent, id))).toBe('approved');
    expect(await statesIn(agent)).toEqual(['executed']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
    expect(await provenInD1(agent)).toMatchObject([
      { kind: 'call' },
      { kind: 'decision', code: 'OK', actor: 'approver:0', attempt: 1, approval_id: id },
    ]);
  });

  it('is rejected by a rejection, in one row, and nothing is sent', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const id = await parks(agent, refund(order));
    const d1 = watchD1();
    expect(wordOf(await rejects(agent, id))).toBe('rejected');
    expect(await statesIn(agent)).toEqual(['rejected']);
    expect(d1.trips.filter(({ kind }) => kind === 'send' || kind === 'void')).toEqual([]);
    expect(await provenCodes(agent)).toEqual(['call CONFIRMATION_REQUIRED', 'decision CONFIRMATION_REJECTED']);
  });

  it('fails by an approval that the rules of now refuse, and nothing is sent', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const id = await parks(agent, refund(order));
    await changePolicy(agent, { max_refund_cents: 2589 });
    expect(wordOf(await approves(agent, id))).toBe('failed');
    expect(await statesIn(agent)).toEqual(['failed']);
    expect(await attemptsOf(agent)).toEqual([]);
    expect(await provenCodes(agent)).toEqual(['call CONFIRMATION_REQUIRED', 'decision POLICY_LIMIT']);
  });

  it('stays pending while the ledger cannot be read for an approval', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const id = await parks(agent, refund(order));
    const d1 = watchD1();
    d1.fault('check', () => Promise.reject(new Error('D1_ERROR: D1 DB is overloaded.')));
    expect(wordOf(await approves(agent, id))).toBe('unreadable');
    d1.heal();
    expect(wordOf(await approves(agent, id))).toBe('approved');
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
    expect(await provenLog(agent)).toHaveLength(2);
  });

  it('is mailed by the alarm, each approver once', async () => {
    const agent = await newAgent();
    const asked = watchQueue();
    const id = await parks(agent, refund(await newOrder()));
    for (const _ of [1, 2]) await runAlarm(agent.object);
    expect(asked).toEqual([`${id} 0`, `${id} 1`]);
    expect(await statesIn(agent)).toEqual(['pending']);
  });

  it('stays pending if the object dies, its mails still to be sent', async () => {
    const agent = await newAgent();
    const asked = watchQueue();
    const id = await parks(agent, refund(await newOrder()));
    await everyObjectDies();
    expect(await statesIn(agent)).toEqual(['pending']);
    await runAlarm(agent.object);
    expect(asked).toEqual([`${id} 0`, `${id} 1`]);
    expect(await provenInD1(agent)).toHaveLength(1);
  });

  it('is armed in the write that parks it', async () => {
    const agent = await newAgent();
    await parks(agent, refund(await newOrder()));
    await everyObjectDies();
    expect(await runAlarm(agent.object)).toBe(true);
  });

  it.each([
    { who: 'an identical call', code: 'CONFIRMATION_REQUIRED', states: ['expired', 'pending'] },
    { who: 'a decision', code: 'already_decided', states: ['expired'] },
    { who: 'the alarm', code: 'true', states: ['expired'] },
  ])('is expired by $who past its time, in one row', async ({ who, code, states }) => {
    const order = await newOrder();
    const agent = await newAgent({ approval_ttl_seconds: 3600 });
    const id = await parks(agent, refund(order));
    later(HOUR_MS);
    const meet = {
      'an identical call': () => codeOf(agent.call('refund_order', refund(order))),
      'a decision': async () => wordOf(await approves(agent, id)),
      'the alarm': async () => String(await runAlarm(agent.object)),
    }[who];
    expect(await meet?.()).toBe(code);
    expect(await statesIn(agent)).toEqual(states);
    expect((await provenCodes(agent)).filter((each) => each.startsWith('event'))).toEqual(['event APPROVAL_EXPIRED']);
    expect(await ledgerOf(order)).toMatchObject({ refunded_cents: 0 });
  });

  it('opens another approval once it expired, and only the new one can be decided', async () => {
    const order = await newOrder();
    const agent = await newAgent({ approval_ttl_seconds: 3600 });
    const first = await parks(agent, refund(order));
    later(HOUR_MS);
    const second = approvalIn(outcomeOf(await agent.call('refund_order', refund(order))));
    expect(second).not.toBe(first);
    expect(wordOf(await approves(agent, first))).toBe('already_decided');
    expect(wordOf(await approves(agent, second))).toBe('approved');
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
    expect((await rowsIn(agent.object, 'SELECT attempt FROM record')).map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(await provenInD1(agent)).toHaveLength(4);
  });
});
