/** `identical_effects: "ask"` (docs/specification.md#another-approval-under-ask): what was applied once is asked about each further time, and stays what it was. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  APPLIED,
  approvalIn,
  approves,
  attemptsOf,
  codeOf,
  decisionOn,
  HOUR_MS,
  later,
  moveOn,
  parks,
  provenInD1,
  provenLog,
  rejects,
  standStill,
  statesIn,
  times,
  watchQueue,
  wordOf,
} from '../support/effects.ts';
import { answersOverloaded, everyObjectDies, isRefused, watchArrivals, watchD1 } from '../support/faults.ts';
import { changePolicy, runAlarm } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund } from '../support/session.ts';

/** Only a repetition needs a person here. */
const ASK = { identical_effects: 'ask', confirm_above_cents: 50_000, approval_ttl_seconds: 3600 } as const;
const SECOND = { ...APPLIED, attempt: 2 };

beforeEach(standStill);
afterEach(moveOn);

async function executedOnce(policy = {}) {
  const order = await newOrder();
  const agent = await newAgent({ ...ASK, max_steps: 100, ...policy });
  expect(outcomeOf(await agent.call('refund_order', refund(order), 'first')).code).toBe('OK');
  return { order, agent, again: (id?: string) => agent.call('refund_order', refund(order), id) };
}

/** What was executed once, and the further approval an identical call opened. */
async function askedAgain(policy = {}) {
  const once = await executedOnce(policy);
  return { ...once, id: approvalIn(outcomeOf(await once.again('second'))) };
}

describe('an executed record under "ask"', () => {
  it('asks about the next attempt, whatever the amount, and moves nothing meanwhile', async () => {
    const { order, agent, again, id } = await askedAgain();
    const asked = watchQueue();
    await runAlarm(agent.object);
    expect(asked).toEqual([`${id} 0`, `${id} 1`]);
    expect(approvalIn(outcomeOf(await again()))).toBe(id);
    expect(await statesIn(agent)).toEqual(['executed', 'pending']);
    expect(await ledgerOf(order)).toMatchObject({ refunded_cents: 2590, applied: 1 });
  });

  it('shows on the page what was applied before', async () => {
    const { order, agent, id } = await askedAgain();
    const answer = { order_id: order, refunded_cents: 2590, remaining_refundable_cents: 9410 };
    expect(await agent.stub().view(await decisionOn(agent, id))).toMatchObject({
      view: { status: 'pending', applied_before: [{ attempt: 1, answer }] },
    });
  });

  it('is executed a second time by an approval, and each call keeps its own answer', async () => {
    const { order, agent, again, id } = await askedAgain();
    expect(wordOf(await approves(agent, id, { refunded_cents: 2590 }))).toBe('approved');
    expect(await attemptsOf(agent)).toEqual([APPLIED, SECOND]);
    expect((await ledgerOf(order)).refunded_cents).toBe(5180);
    const remaining = async (call: string) => outcomeOf(await again(call)).data?.['remaining_refundable_cents'];
    expect([await remaining('first'), await remaining('second')]).toEqual([9410, 6820]);
    const third = await parks(agent, refund(order));
    expect(third).not.toBe(id);
    await approves(agent, third, { refunded_cents: 5180 });
    expect(await attemptsOf(agent)).toHaveLength(3);
    await provenInD1(agent);
  });

  it.each([
    { ending: 'expired', state: 'expired', next: 2 },
    { ending: 'was withdrawn', state: 'failed', next: 2 },
    { ending: 'was refused by the rules of now', state: 'failed', next: 2 },
    { ending: 'was voided by the ledger', state: 'failed', next: 3 },
  ])('is executed again once the further approval $ending', async ({ ending, state, next }) => {
    const { order, agent, again, id } = await askedAgain();
    if (ending === 'expired') later(HOUR_MS);
    if (ending === 'was withdrawn') await agent.stub().withdraw(id, 'req-withdraw');
    if (ending.endsWith('now')) await changePolicy(agent, { max_refund_cents: 1 });
    const d1 = watchD1();
    if (ending.endsWith('ledger')) d1.fault('send', isRefused);
    await approves(agent, id, { refunded_cents: 2590 });
    later(HOUR_MS + 1);
    await runAlarm(agent.object);
    d1.heal();
    expect(await statesIn(agent)).toEqual(['executed', state]);
    expect((await ledgerOf(order)).refunded_cents).toBe(2590);

    await changePolicy(agent, { max_refund_cents: 50_000 });
    expect(outcomeOf(await again('first'))).toMatchObject({ code: 'OK', step: 1 });
    const other = await parks(agent, refund(order));
    expect(other).not.toBe(id);
    await approves(agent, other, { refunded_cents: 2590 });
    expect((await attemptsOf(agent)).at(-1)).toEqual({ ...APPLIED, attempt: next });
    expect((await ledgerOf(order)).refunded_cents).toBe(5180);
    await provenInD1(agent);
  });

  it('is rejected once the further approval is, and what was applied stays replayable', async () => {
    const { agent, again, id } = await askedAgain();
    await rejects(agent, id, 'Once is enough');
    expect(await codeOf(again())).toBe('CONFIRMATION_REJECTED');
    expect(await codeOf(again('second'))).toBe('CONFIRMATION_REJECTED');
    expect(outcomeOf(await again('first'))).toMatchObject({ code: 'OK', replayed: true, step: 1 });
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
    await provenInD1(agent);
  });

  it('stays counted, with the further approval, against the limit of the session', async () => {
    const { agent, id } = await askedAgain({ max_session_refund_cents: 6000 });
    const other = async (amount_cents: number) =>
      codeOf(agent.call('refund_order', refund(await newOrder(), { amount_cents })));
    expect(await other(821)).toBe('POLICY_LIMIT');
    await rejects(agent, id);
    expect(await other(3411)).toBe('POLICY_LIMIT');
    expect(await other(3410)).toBe('OK');
  });

  it('counts itself against the limit of the session', async () => {
    const { again } = await executedOnce({ max_session_refund_cents: 5179 });
    expect(await codeOf(again())).toBe('POLICY_LIMIT');
  });

  it('starts the count of its calls again with each decision', async () => {
    const { agent, again, id } = await askedAgain();
    expect(await codeOf(again())).toBe('CONFIRMATION_REQUIRED');
    expect(await codeOf(again())).toBe('CONFIRMATION_REQUIRED');
    await rejects(agent, id);
    const codes = [];
    for (const _ of [1, 2, 3, 4]) codes.push(await codeOf(again()));
    expect(codes).toEqual([...times(3, 'CONFIRMATION_REJECTED'), 'LOOP_DETECTED']);
  });

  it('is a replay once the policy says so, of what was applied last', async () => {
    const { agent, again, id } = await askedAgain();
    await approves(agent, id, { refunded_cents: 2590 });
    await changePolicy(agent, { identical_effects: 'replay' });
    const outcome = outcomeOf(await again());
    expect(outcome).toMatchObject({ code: 'OK', replayed: true, data: { remaining_refundable_cents: 6820 } });
  });
});

describe('an identical call under "ask"', () => {
  it('that came while the first was judged is a replay of it and asks no approver', async () => {
    const order = await newOrder();
    const agent = await newAgent(ASK);
    const arrived = watchArrivals();
    const judging = watchD1().stop('check', 'before');
    const calls = [1, 2].map(() => agent.call('refund_order', refund(order)));
    await arrived(2);
    await judging.reached();
    judging.release();
    const outcomes = (await Promise.all(calls)).map(outcomeOf);
    expect(outcomes.map(({ code, replayed }) => `${code} ${replayed}`).toSorted()).toEqual(['OK false', 'OK true']);
    expect(await statesIn(agent)).toEqual(['executed']);
    expect(await provenInD1(agent)).toHaveLength(2);
  });

  it('that came while an approved repetition ran is a replay of that', async () => {
    const { order, agent, again, id } = await askedAgain();
    const arrived = watchArrivals();
    const sending = watchD1().stop('send', 'before');
    const decided = approves(agent, id, { refunded_cents: 2590 });
    await sending.reached();
    const call = again();
    await arrived(1);
    sending.release();
    expect(wordOf(await decided)).toBe('approved');
    expect(outcomeOf(await call)).toMatchObject({ code: 'OK', data: { remaining_refundable_cents: 6820 } });
    expect(await statesIn(agent)).toEqual(['executed', 'executed']);
    expect((await ledgerOf(order)).refunded_cents).toBe(5180);
  });

  it('that resumes an approved repetition waits for it, and asks for no third', async () => {
    const { agent, again, id } = await askedAgain();
    const sending = watchD1().stop('send', 'before');
    const decided = approves(agent, id, { refunded_cents: 2590 }).then(wordOf, () => 'never answered');
    await sending.reached();
    await everyObjectDies();
    expect(await decided).toBe('never answered');
    expect(outcomeOf(await again())).toMatchObject({ code: 'OK', data: { remaining_refundable_cents: 6820 } });
    expect(await statesIn(agent)).toEqual(['executed', 'executed']);
    await provenInD1(agent);
  });

  it('that waited while a repetition was refused is judged itself, and does not pass the old result off as new', async () => {
    const { again } = await executedOnce({ max_session_refund_cents: 5179 });
    const arrived = watchArrivals();
    const judging = watchD1().stop('check', 'before');
    const calls = [codeOf(again()), codeOf(again())];
    await arrived(2);
    await judging.reached();
    judging.release();
    expect(await Promise.all(calls)).toEqual(times(2, 'POLICY_LIMIT'));
  });

  it('that is the first to meet an expired repetition asks for another', async () => {
    const { agent, again, id } = await askedAgain();
    later(HOUR_MS * 24);
    const outcome = outcomeOf(await again());
    expect(outcome.code).toBe('CONFIRMATION_REQUIRED');
    expect(outcome.approval?.id).not.toBe(id);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('that waited while a decision failed the repetition is judged itself', async () => {
    const { agent, again, id } = await askedAgain();
    const arrived = watchArrivals();
    const judging = watchD1().stop('check', 'before');
    const decided = approves(agent, id, { refunded_cents: 2590 });
    await judging.reached();
    const call = codeOf(again());
    await arrived(1);
    await changePolicy(agent, { max_refund_cents: 1 });
    judging.release();
    expect(wordOf(await decided)).toBe('failed');
    expect(await call).toBe('POLICY_LIMIT');
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('carries on a first attempt that is unknown, without asking', async () => {
    const order = await newOrder();
    const agent = await newAgent(ASK);
    const d1 = watchD1();
    d1.fault('send', answersOverloaded);
    expect(await codeOf(agent.call('refund_order', refund(order)))).toBe('UPSTREAM_UNAVAILABLE');
    d1.heal();
    expect(outcomeOf(await agent.call('refund_order', refund(order)))).toMatchObject({ code: 'OK', replayed: false });
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
    expect(await provenLog(agent)).toHaveLength(2);
  });
});
