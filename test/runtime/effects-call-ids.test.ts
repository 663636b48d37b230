/** Whose a `call_id` is (docs/specification.md#transport-retries): the first call's that came with it, also after a death. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  APPLIED,
  attemptsOf,
  codeOf,
  moveOn,
  provenInD1,
  provenLog,
  standStill,
  statesIn,
} from '../support/effects.ts';
import { everyObjectDies, isRefused, watchArrivals, watchD1 } from '../support/faults.ts';
import { changePolicy, runAlarm } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund } from '../support/session.ts';

const UNASKED = { confirm_above_cents: 50_000 };

beforeEach(standStill);
afterEach(moveOn);

/** A call that claimed its attempt and died before its answer, the attempt applied already or not. */
async function claimedAndDied(place: 'before' | 'after', unjudgedBefore = 0) {
  const order = await newOrder();
  const agent = await newAgent(UNASKED);
  const d1 = watchD1();
  d1.fault('check', isRefused, unjudgedBefore);
  for (let tries = 0; tries < unjudgedBefore; tries += 1)
    expect(await codeOf(agent.call('refund_order', refund(order), 'same'))).toBe('UPSTREAM_UNAVAILABLE');
  const sending = d1.stop('send', place);
  const first = codeOf(agent.call('refund_order', refund(order), 'same'));
  await sending.reached();
  await everyObjectDies();
  expect(await first).toBe('never answered');
  return { order, agent, d1, sending };
}

describe('a call_id that another call has', () => {
  it.each([
    { first: 'settled', other: 'other arguments', tool: 'refund_order', args: { amount_cents: 1 } },
    { first: 'settled', other: 'another tool', tool: 'get_order', args: null },
    { first: 'running', other: 'other arguments', tool: 'refund_order', args: { amount_cents: 1 } },
    { first: 'running', other: 'another tool', tool: 'get_order', args: null },
  ])('is CALL_ID_REUSED for $other, the first being $first, each time it is sent', async ({ first, tool, args }) => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const sending = watchD1().stop('send', 'before');
    const call = codeOf(agent.call('refund_order', refund(order), 'same'));
    await sending.reached();
    if (first === 'settled') sending.release();
    if (first === 'settled') await call;
    const other = () => agent.call(tool, args === null ? { order_id: order } : refund(order, args), 'same');
    for (const step of [2, 3]) expect(outcomeOf(await other())).toMatchObject({ code: 'CALL_ID_REUSED', step });
    sending.release();
    expect(await call).toBe('OK');
    expect(outcomeOf(await agent.call('refund_order', refund(order), 'same'))).toMatchObject({ code: 'OK', step: 1 });
    expect(await provenInD1(agent)).toHaveLength(3);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('is CALL_ID_REUSED before it is LOOP_DETECTED', async () => {
    const order = await newOrder();
    const agent = await newAgent({ ...UNASKED, max_duplicate_calls: 1 });
    await agent.call('refund_order', refund(order), 'same');
    await agent.call('refund_order', refund(order, { amount_cents: 1 }), 'other');
    expect(await codeOf(agent.call('refund_order', refund(order), 'other'))).toBe('CALL_ID_REUSED');
    expect(await codeOf(agent.call('refund_order', refund(order), 'third'))).toBe('LOOP_DETECTED');
  });

  it('is free again if the call that had it died without a record', async () => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const judging = watchD1().stop('check', 'before');
    const first = codeOf(agent.call('refund_order', refund(order), 'same'));
    await judging.reached();
    expect(await codeOf(agent.call('refund_order', refund(order, { amount_cents: 1 }), 'same'))).toBe('CALL_ID_REUSED');
    await everyObjectDies();
    expect(await first).toBe('never answered');
    expect(await codeOf(agent.call('refund_order', refund(order), 'same'))).toBe('OK');
    expect(await provenInD1(agent)).toHaveLength(2);
  });
});

describe.each([
  { applied: 'not applied yet', place: 'before' as const },
  { applied: 'applied already', place: 'after' as const },
])('a call that died with its claim, its attempt $applied', ({ place }) => {
  it('gets its own step and exactly one row when it is sent again', async () => {
    const { order, agent, sending } = await claimedAndDied(place);
    const again = outcomeOf(await agent.call('refund_order', refund(order), 'same'));
    expect(again).toMatchObject({ code: 'OK', step: 1 });
    await sending.land();
    const rows = await provenInD1(agent);
    expect(rows).toMatchObject([{ kind: 'call', call_id: 'same', step: 1, code: 'OK', attempt: 1 }]);
    expect(outcomeOf(await agent.call('refund_order', refund(order), 'same'))).toMatchObject({
      step: 1,
      replayed: true,
    });
    expect(await provenLog(agent)).toEqual(rows);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
  });

  it('keeps its step where it could not be judged when it was sent before', async () => {
    const { order, agent } = await claimedAndDied(place, 1);
    const again = outcomeOf(await agent.call('refund_order', refund(order), 'same'));
    expect(again).toMatchObject({ code: 'OK', step: 2 });
    expect(await provenInD1(agent)).toHaveLength(2);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('keeps its id and step through an unjudged try, a stranger and the alarm', async () => {
    const { order, agent } = await claimedAndDied(place, 1);
    expect(await codeOf(agent.call('refund_order', refund(order, { amount_cents: 1 }), 'same'))).toBe('CALL_ID_REUSED');
    await runAlarm(agent.object);
    const code = place === 'after' ? 'OK' : 'UPSTREAM_UNAVAILABLE';
    expect(outcomeOf(await agent.call('refund_order', refund(order), 'same'))).toMatchObject({ code, step: 2 });
    expect((await attemptsOf(agent)).length).toBe(1);
  });

  it('gets one row however often it is sent again at once', async () => {
    const { order, agent } = await claimedAndDied(place);
    const calls = await Promise.all([1, 2, 3].map(() => agent.call('refund_order', refund(order), 'same')));
    expect(calls.map((answer) => outcomeOf(answer).step)).toEqual([1, 1, 1]);
    expect(await provenInD1(agent)).toHaveLength(1);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('shares its attempt with an identical call under another id, one row each', async () => {
    const { order, agent } = await claimedAndDied(place);
    const [same, other] = await Promise.all(
      ['same', 'other'].map((id) => agent.call('refund_order', refund(order), id)),
    );
    expect([same, other].map((answer) => answer && outcomeOf(answer).code)).toEqual(['OK', 'OK']);
    expect((await provenInD1(agent)).map(({ step, code }) => `${step} ${code}`).toSorted()).toEqual(['1 OK', '2 OK']);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('is told what the alarm made of its claim, in its own step', async () => {
    const { order, agent } = await claimedAndDied(place);
    await runAlarm(agent.object);
    const code = place === 'after' ? 'OK' : 'UPSTREAM_UNAVAILABLE';
    expect(outcomeOf(await agent.call('refund_order', refund(order), 'same'))).toMatchObject({ code, step: 1 });
    expect(await provenInD1(agent)).toMatchObject([
      { kind: 'event', code },
      { kind: 'call', code, step: 1 },
    ]);
  });

  it('keeps its id against other calls that come first after the death', async () => {
    const { order, agent } = await claimedAndDied(place);
    expect(await codeOf(agent.call('refund_order', refund(order, { amount_cents: 1 }), 'same'))).toBe('CALL_ID_REUSED');
    expect(await codeOf(agent.call('no_such_tool', {}, 'same'))).toBe('UNKNOWN_TOOL');
    const again = outcomeOf(await agent.call('refund_order', refund(order), 'same'));
    expect(again).toMatchObject({ code: 'OK', step: 1 });
    const rows = await provenInD1(agent);
    expect(rows.filter(({ step }) => step === 1)).toHaveLength(1);
    expect(rows).toHaveLength(3);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('is judged as it is now: confirmation that is due parks it under its own step', async () => {
    const { order, agent } = await claimedAndDied(place);
    await changePolicy(agent, { confirm_above_cents: 0 });
    const code = place === 'after' ? 'OK' : 'CONFIRMATION_REQUIRED';
    expect(outcomeOf(await agent.call('refund_order', refund(order), 'same'))).toMatchObject({ code, step: 1 });
    expect(await statesIn(agent)).toEqual(place === 'after' ? ['executed'] : ['failed', 'pending']);
    expect((await provenInD1(agent)).filter(({ kind }) => kind === 'call')).toHaveLength(1);
  });

  it('is joined by calls of its key, which are no loop while its result is unknown', async () => {
    const { order, agent, d1 } = await claimedAndDied(place);
    const arrived = watchArrivals();
    const sending = d1.stop('send', 'before');
    const again = codeOf(agent.call('refund_order', refund(order), 'same'));
    await sending.reached();
    const others = ['a', 'b', 'c'].map((id) => codeOf(agent.call('refund_order', refund(order), id)));
    await arrived(4);
    sending.release();
    expect(await again).toBe('OK');
    expect((await Promise.all(others)).toSorted()).toEqual(['OK', 'OK', 'OK']);
  });
});
