/** Many at once (docs/specification.md#stages and docs/specification.md#life-of-an-effect): whatever arrives in parallel, steps, limits, approvals and the ledger hold. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  APPLIED,
  approvalIn,
  attemptsOf,
  codeOf,
  decisionOn,
  moveOn,
  parks,
  provenInD1,
  provenLog,
  standStill,
  statesIn,
  watchQueue,
  wordOf,
} from '../support/effects.ts';
import { answersOverloaded, everyObjectDies, isRefused, watchD1 } from '../support/faults.ts';
import { rowsIn, runAlarm } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

const WIDE = { confirm_above_cents: 50_000, max_steps: 1000, max_duplicate_calls: 1000 };

beforeEach(standStill);
afterEach(moveOn);

const atOnce = <T>(count: number, make: (number: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, number) => make(number)));

/** How often each word occurs. */
function tally(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** What the ledger moved for the session, and what the session holds as moved or reserved, in minor units. */
async function movedAndHeld({ uid, object }: Agent): Promise<number[]> {
  const moved = await env.DB.prepare('SELECT total(amount_cents) AS cents FROM attempts WHERE uid = ? AND applied = 1')
    .bind(uid)
    .first<number>('cents');
  const [held] = await rowsIn(
    object,
    "SELECT total(amount_cents) AS cents FROM record WHERE state IN ('pending', 'approved', 'claimed', 'executed')",
  );
  return [moved ?? 0, Number(held?.['cents'])];
}

async function expectWithin(agent: Agent, limit: number): Promise<void> {
  for (const cents of await movedAndHeld(agent)) expect(cents).toBeLessThanOrEqual(limit);
}

describe('calls at once', () => {
  it('take a step each in the order of arrival: of 20 against a budget of 5, five are judged', async () => {
    const agent = await newAgent({ ...WIDE, max_steps: 5 });
    const orders = await atOnce(20, () => newOrder());
    const outcomes = (await atOnce(20, (n) => agent.call('refund_order', refund(orders[n] ?? '')))).map(outcomeOf);
    expect(tally(outcomes.map(({ code }) => code))).toEqual({ OK: 5, STEP_LIMIT: 15 });
    expect(new Set(outcomes.map(({ step }) => step)).size).toBe(20);
    for (const { step, code } of outcomes) expect(code).toBe((step ?? 0) <= 5 ? 'OK' : 'STEP_LIMIT');
    expect(await attemptsOf(agent)).toHaveLength(5);
    expect(await provenInD1(agent)).toHaveLength(20);
  });

  it('that are 50 identical refunds leave one row in the ledger and 49 replays', async () => {
    const order = await newOrder();
    const agent = await newAgent(WIDE);
    const outcomes = (await atOnce(50, () => agent.call('refund_order', refund(order)))).map(outcomeOf);
    expect(tally(outcomes.map(({ code, replayed }) => `${code} ${replayed}`))).toEqual({
      'OK false': 1,
      'OK true': 49,
    });
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
    expect(await provenInD1(agent)).toHaveLength(50);
  });

  it('that are 50 identical refunds under the default policy ask once, are a loop, and end the budget', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const asked = watchQueue();
    const outcomes = (await atOnce(50, () => agent.call('refund_order', refund(order)))).map(outcomeOf);
    expect(tally(outcomes.map(({ code }) => code))).toEqual({
      CONFIRMATION_REQUIRED: 3,
      LOOP_DETECTED: 7,
      STEP_LIMIT: 40,
    });
    const ids = new Set(outcomes.filter(({ code }) => code === 'CONFIRMATION_REQUIRED').map(approvalIn));
    const [id] = ids;
    expect(ids.size).toBe(1);
    await runAlarm(agent.object);
    expect(asked).toEqual([`${id} 0`, `${id} 1`]);
    expect(await provenInD1(agent)).toHaveLength(50);
  });

  it('that are 50 partial refunds of one order from five sessions never pass its total', async () => {
    const order = await newOrder();
    const agents = await atOnce(5, () => newAgent(WIDE));
    const outcomes = await atOnce(50, async (n) => {
      const agent = agents[n % 5];
      return agent === undefined
        ? ''
        : codeOf(agent.call('refund_order', refund(order, { amount_cents: 500 + n * 10 })));
    });
    const counts = tally(outcomes);
    expect(Object.keys(counts).toSorted()).toEqual(['AMOUNT_EXCEEDS_REFUNDABLE', 'OK']);
    const { refunded_cents, applied } = await ledgerOf(order);
    expect(applied).toBe(counts['OK']);
    expect(refunded_cents).toBeLessThanOrEqual(12_000);
    // What is left is less than the smallest that was refused, so nothing was refused in vain.
    expect(refunded_cents).toBeGreaterThan(12_000 - 990);
    const rows = await env.DB.prepare(
      'SELECT sum(amount_cents) AS cents FROM attempts WHERE subject = ? AND applied = 1',
    )
      .bind(order)
      .first('cents');
    expect(rows).toBe(refunded_cents);
    for (const agent of agents) expect(await provenInD1(agent)).toHaveLength(10);
  });

  it('that are the same refund from two sessions are two intents', async () => {
    const order = await newOrder();
    const one = await newAgent(WIDE);
    const other = await newAgent({}, { caller_id: one.caller_id });
    const codes = await Promise.all([one, other].map((agent) => codeOf(agent.call('refund_order', refund(order)))));
    expect(codes).toEqual(['OK', 'OK']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 5180, applied: 2, voids: 0 });
  });
});

describe('max_session_refund_cents', () => {
  const LIMITED = { ...WIDE, max_session_refund_cents: 10_000 };
  const amounts = (n: number) => ({ amount_cents: 950 + n });

  it.each([
    { ledger: 'applies', fault: undefined },
    { ledger: 'applies and does not say so', fault: answersOverloaded },
    { ledger: 'cannot be written', fault: isRefused },
  ])('is never passed by 20 different refunds at once, where the ledger $ledger', async ({ fault }) => {
    const agent = await newAgent(LIMITED);
    const orders = await atOnce(20, () => newOrder());
    const d1 = watchD1();
    if (fault !== undefined) d1.fault('send', fault);
    const refunds = () => atOnce(20, (n) => codeOf(agent.call('refund_order', refund(orders[n] ?? '', amounts(n)))));
    const passed = (await refunds()).filter((code) => code !== 'POLICY_LIMIT');
    expect(passed).toHaveLength(10);
    d1.heal();
    await expectWithin(agent, 10_000);
    await provenInD1(agent);
    await expectWithin(agent, 10_000);
    const moved = (await refunds()).filter((code) => code === 'OK');
    expect(moved.length).toBe(10);
    await expectWithin(agent, 10_000);
  });

  it('counts what waits for approval with what was moved', async () => {
    const agent = await newAgent({ ...LIMITED, confirm_above_cents: 2999 });
    const orders = await atOnce(20, () => newOrder());
    const args = (n: number) => refund(orders[n] ?? '', { amount_cents: n % 2 === 0 ? 2001 : 3001 });
    const counts = tally(await atOnce(20, (n) => codeOf(agent.call('refund_order', args(n)))));
    expect(Object.keys(counts).toSorted()).toEqual(['CONFIRMATION_REQUIRED', 'OK', 'POLICY_LIMIT']);
    await expectWithin(agent, 10_000);
    await provenInD1(agent);
  });
});

describe('decisions at once', () => {
  it('are one: of 50 approvals one is carried out and 49 are shown it', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const id = await parks(agent, refund(order));
    const decisions = await Promise.all([0, 1].map((approver) => decisionOn(agent, id, { approver })));
    const answers = await atOnce(50, async (n) => {
      const decision = decisions[n % 2];
      return decision === undefined ? '' : wordOf(await agent.stub().decide(decision));
    });
    expect(tally(answers)).toEqual({ approved: 1, already_decided: 49 });
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
    expect(await provenInD1(agent)).toHaveLength(2);
  });

  it('are one where some approve, some reject, the operator withdraws and the agent asks again', async () => {
    const order = await newOrder();
    const agent = await newAgent(WIDE);
    const parked = await newAgent({ ...WIDE, confirm_above_cents: 0 });
    const id = await parks(parked, refund(order));
    const [yes, no] = [await decisionOn(parked, id), await decisionOn(parked, id, { approver: 1, decision: 'reject' })];
    const [decided] = await Promise.all([
      atOnce(10, async (n) => wordOf(await parked.stub().decide(n % 2 === 0 ? yes : no))),
      atOnce(5, async () => parked.stub().withdraw(id, 'req-withdraw')),
      atOnce(5, async () => codeOf(parked.call('refund_order', refund(order)))),
      atOnce(5, async () => codeOf(agent.call('refund_order', refund(order)))),
    ]);
    const [state] = await statesIn(parked);
    expect(decided.filter((word) => word !== 'already_decided').length).toBe(state === 'failed' ? 0 : 1);
    const rows = await provenInD1(parked);
    expect(rows.filter(({ approval_id, kind }) => approval_id === id && kind !== 'call')).toHaveLength(1);
    expect((await ledgerOf(order)).applied).toBe(state === 'executed' ? 2 : 1);
    expect(await provenLog(agent)).toHaveLength(5);
  });

  it('wait for an alarm that resumes what was approved, and are shown its result', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const id = await parks(agent, refund(order));
    const decision = await decisionOn(agent, id);
    const d1 = watchD1();
    const sending = d1.stop('send', 'after');
    const first = agent
      .stub()
      .decide(decision)
      .then(wordOf, () => 'never answered');
    await sending.reached();
    await everyObjectDies();
    expect(await first).toBe('never answered');
    const [, ...others] = await Promise.all([
      runAlarm(agent.object),
      ...[1, 2, 3].map(async () => wordOf(await agent.stub().decide(decision))),
      ...[1, 2].map(() => codeOf(agent.call('refund_order', refund(order)))),
    ]);
    expect(others).toEqual(['already_decided', 'already_decided', 'already_decided', 'OK', 'OK']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
    expect((await provenInD1(agent)).filter(({ kind }) => kind === 'decision')).toHaveLength(1);
  });
});
