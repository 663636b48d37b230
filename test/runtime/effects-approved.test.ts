/** The life of an effect (docs/specification.md#life-of-an-effect): what a person approved, while it runs and while nobody runs it. Each test is one cell. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  APPLIED,
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
  wordOf,
} from '../support/effects.ts';
import {
  answersOverloaded,
  everyObjectDies,
  isRefused,
  watchArrivals,
  watchD1,
  type Fault,
} from '../support/faults.ts';
import { auditIn, changePolicy, revoke, revokeUnheard, runAlarm } from '../support/inside.ts';
import { shownOf } from '../support/shown.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund } from '../support/session.ts';

beforeEach(standStill);
afterEach(moveOn);

/** An approval that was given, its attempt stopped on its way to the ledger. */
async function running(place: 'before' | 'after' = 'before', then?: Fault) {
  const order = await newOrder();
  const agent = await newAgent();
  const id = await parks(agent, refund(order));
  const d1 = watchD1();
  const sending = d1.stop('send', place, then);
  const decided = approves(agent, id).then(wordOf, () => 'never answered');
  await sending.reached();
  return { order, agent, id, d1, sending, decided };
}

/** An approved action that nobody runs: its object died with the attempt on its way, applied already or not. */
async function notRunning(place: 'before' | 'after' = 'before') {
  const given = await running(place);
  await everyObjectDies();
  expect(await given.decided).toBe('never answered');
  expect(await statesIn(given.agent)).toEqual(['approved']);
  return given;
}

describe('an approved record that runs', () => {
  it('is replayed to an identical call that waited', async () => {
    const { order, agent, sending, decided } = await running();
    const arrived = watchArrivals();
    const call = agent.call('refund_order', refund(order));
    await arrived(1);
    sending.release();
    expect(await decided).toBe('approved');
    expect(outcomeOf(await call)).toMatchObject({ code: 'OK', replayed: true });
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
    expect(await provenCodes(agent)).toEqual(['call CONFIRMATION_REQUIRED', 'decision OK', 'call OK']);
  });

  it('is UPSTREAM_UNAVAILABLE to an identical call that waited, if the ledger did not say', async () => {
    const { order, agent, sending, decided } = await running('before', answersOverloaded);
    const arrived = watchArrivals();
    const call = codeOf(agent.call('refund_order', refund(order)));
    await arrived(1);
    sending.release();
    expect(await decided).toBe('approved');
    expect(await call).toBe('UPSTREAM_UNAVAILABLE');
    await provenInD1(agent);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('lets an identical call that waited be judged itself, if the ledger refused', async () => {
    const order = await newOrder({ total_cents: 5000 });
    const agent = await newAgent();
    const id = await parks(agent, refund(order));
    const sending = watchD1().stop('send', 'before');
    const shown = shownOf(order, 0, { total_cents: 5_000 });
    const decided = approves(agent, id, { shown }).then(wordOf);
    await sending.reached();
    const other = await newAgent({ confirm_above_cents: 50_000 });
    expect(await codeOf(other.call('refund_order', refund(order, { amount_cents: 2411 })))).toBe('OK');
    const arrived = watchArrivals();
    const call = codeOf(agent.call('refund_order', refund(order)));
    await arrived(1);
    sending.release();
    expect(await decided).toBe('approved');
    expect(await call).toBe('AMOUNT_EXCEEDS_REFUNDABLE');
    expect(await statesIn(agent)).toEqual(['failed']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2411, applied: 1, voids: 1 });
    expect((await provenCodes(agent)).slice(1)).toEqual([
      'decision AMOUNT_EXCEEDS_REFUNDABLE',
      'call AMOUNT_EXCEEDS_REFUNDABLE',
    ]);
  });

  it('shows the decision to other approvers who decide', async () => {
    const { agent, id, sending, decided } = await running();
    const arrived = watchArrivals('decide');
    const others = [approves(agent, id, { approver: 1 }), rejects(agent, id)];
    await arrived(2);
    sending.release();
    expect(await decided).toBe('approved');
    for (const other of others)
      expect(await other).toMatchObject({ refused: 'already_decided', view: { status: 'executed', decided_by: 0 } });
    expect(await provenLog(agent)).toHaveLength(2);
  });

  it('is left to itself by the alarm', async () => {
    const { agent, d1, sending, decided } = await running();
    await runAlarm(agent.object);
    expect(d1.trips.filter(({ kind }) => kind === 'send' || kind === 'void')).toHaveLength(1);
    sending.release();
    expect(await decided).toBe('approved');
    expect(await provenInD1(agent)).toHaveLength(2);
  });

  it('is approved and not running if the object dies', async () => {
    const { agent } = await notRunning();
    expect(await provenCodes(agent)).toEqual(['call CONFIRMATION_REQUIRED']);
    expect(await runAlarm(agent.object)).toBe(true);
  });
});

// The crash matrix has the case of an attempt that is not applied yet.
describe('an approved record that no call runs, its attempt applied already', () => {
  it('stays so if the object dies while it is resumed', async () => {
    const { order, agent, d1 } = await notRunning('after');
    const resuming = d1.stop('check', 'before');
    const call = codeOf(agent.call('refund_order', refund(order)));
    await resuming.reached();
    await everyObjectDies();
    expect(await call).toBe('never answered');
    expect(await statesIn(agent)).toEqual(['approved']);
    await provenInD1(agent);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });
});

describe.each([
  { applied: 'not applied yet', place: 'before' as const },
  { applied: 'applied already', place: 'after' as const },
])('an approved record that no call runs, its attempt $applied', ({ place }) => {
  it('is resumed by an identical call, which waits for it', async () => {
    const { order, agent } = await notRunning(place);
    expect(outcomeOf(await agent.call('refund_order', refund(order)))).toMatchObject({ code: 'OK', replayed: true });
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
    expect(await provenCodes(agent)).toEqual(['call CONFIRMATION_REQUIRED', 'decision OK', 'call OK']);
  });

  it('is resumed by the alarm with the same attempt', async () => {
    const { order, agent, sending } = await notRunning(place);
    expect(await provenInD1(agent)).toMatchObject([{ step: 1 }, { kind: 'decision', attempt: 1, actor: 'approver:0' }]);
    await sending.land();
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
    expect(await statesIn(agent)).toEqual(['executed']);
  });

  it('shows the decision to approvers who decide', async () => {
    const { agent, id } = await notRunning(place);
    expect(await approves(agent, id)).toMatchObject({ refused: 'already_decided', view: { status: 'approved' } });
    expect(wordOf(await rejects(agent, id))).toBe('already_decided');
    expect(await auditIn(agent.object)).toHaveLength(1);
  });

  const ending = place === 'before' ? 'is failed by its void' : 'is executed, the void having lost,';
  const expected = (code: string) =>
    place === 'before'
      ? { states: ['failed'], attempts: [{ attempt: 1, applied: 0, code }], row: { code, attempt: null } }
      : { states: ['executed'], attempts: [APPLIED], row: { code: 'OK', attempt: 1 } };

  it.each([
    { why: 'the rules of now refuse it', code: 'POLICY_LIMIT' },
    { why: 'its caller was revoked', code: 'CALLER_REVOKED' },
    { why: 'an hour has passed since the decision', code: 'UPSTREAM_UNAVAILABLE' },
    { why: 'an hour has passed and the ledger cannot be read', code: 'UPSTREAM_UNAVAILABLE' },
  ])(`${ending} where the alarm finds that $why`, async ({ why, code }) => {
    const { order, agent, d1, sending } = await notRunning(place);
    if (code === 'POLICY_LIMIT') await changePolicy(agent, { max_refund_cents: 2589 });
    if (code === 'CALLER_REVOKED') await revoke(agent);
    if (code === 'UPSTREAM_UNAVAILABLE') later(HOUR_MS + 1);
    if (why.endsWith('read')) d1.fault('check', isRefused);
    const rows = await provenInD1(agent);
    const { states, attempts, row } = expected(code);
    expect(rows.slice(1)).toMatchObject([{ kind: 'decision', actor: 'approver:0', ...row }]);
    await sending.land();
    expect(await statesIn(agent)).toEqual(states);
    expect(await attemptsOf(agent)).toEqual(attempts);
    expect((await ledgerOf(order)).refunded_cents).toBe(place === 'before' ? 0 : 2590);
  });
});

describe('an approved record whose result is not known', () => {
  const isUnknown = async (fault: Fault) => {
    const order = await newOrder();
    const agent = await newAgent();
    const id = await parks(agent, refund(order));
    const d1 = watchD1();
    d1.fault('send', fault);
    expect(await approves(agent, id)).toMatchObject({ decided: 'approved' });
    return { order, agent, id, d1 };
  };

  it('stays approved, and is resumed until the ledger says what became of it', async () => {
    const { order, agent, d1 } = await isUnknown(answersOverloaded);
    d1.fault('void', answersOverloaded);
    expect(await codeOf(agent.call('refund_order', refund(order)))).toBe('UPSTREAM_UNAVAILABLE');
    await runAlarm(agent.object);
    expect(await statesIn(agent)).toEqual(['approved']);
    d1.heal();
    expect(outcomeOf(await agent.call('refund_order', refund(order)))).toMatchObject({ code: 'OK', replayed: true });
    expect(await provenInD1(agent)).toMatchObject([
      { code: 'CONFIRMATION_REQUIRED' },
      { kind: 'call', code: 'UPSTREAM_UNAVAILABLE', attempt: null },
      { kind: 'decision', code: 'OK', attempt: 1 },
      { kind: 'call', code: 'OK', replayed: true, attempt: null },
    ]);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('is not failed by a ledger that cannot be read', async () => {
    const { agent, d1 } = await isUnknown(isRefused);
    d1.fault('check', isRefused);
    await runAlarm(agent.object);
    expect(await statesIn(agent)).toEqual(['approved']);
    d1.heal();
    await provenInD1(agent);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('keeps its amount reserved', async () => {
    const { agent } = await isUnknown(isRefused);
    await changePolicy(agent, { max_session_refund_cents: 5000 });
    const other = refund(await newOrder(), { amount_cents: 2411 });
    expect(await codeOf(agent.call('refund_order', other))).toBe('POLICY_LIMIT');
  });

  it('is failed by the void of a ledger that knows its caller as revoked, though the session has not heard of it', async () => {
    const { order, agent, d1 } = await isUnknown(isRefused);
    await revokeUnheard(agent);
    d1.heal();
    expect(await provenInD1(agent)).toMatchObject([{}, { kind: 'decision', code: 'CALLER_REVOKED', ok: false }]);
    expect(await statesIn(agent)).toEqual(['failed']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 1 });
  });
});
