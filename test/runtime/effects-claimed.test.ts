/** The life of an effect (docs/specification.md#life-of-an-effect): what was claimed without an approval, while it runs and while nobody runs it. Each test is one cell. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  APPLIED,
  approvalIn,
  approves,
  attemptsOf,
  codeOf,
  moveOn,
  provenInD1,
  provenLog,
  standStill,
  statesIn,
  wordOf,
} from '../support/effects.ts';
import {
  answersOverloaded,
  everyObjectDies,
  hangs,
  isRefused,
  watchArrivals,
  watchD1,
  type Fault,
} from '../support/faults.ts';
import { auditIn, changePolicy, revoke, rowsIn, runAlarm } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund } from '../support/session.ts';

const UNASKED = { confirm_above_cents: 50_000 };

beforeEach(standStill);
afterEach(moveOn);

/** A claimed attempt stopped on its way to the ledger, or on its way back. */
async function running(place: 'before' | 'after' = 'before', then?: Fault) {
  const order = await newOrder();
  const agent = await newAgent(UNASKED);
  const d1 = watchD1();
  const sending = d1.stop('send', place, then);
  const first = codeOf(agent.call('refund_order', refund(order), 'first'));
  await sending.reached();
  return { order, agent, d1, sending, first };
}

/** A claim that nobody runs: its object died with the attempt on its way, applied already or not. */
async function notRunning(place: 'before' | 'after') {
  const claimed = await running(place);
  await everyObjectDies();
  expect(await claimed.first).toBe('never answered');
  expect(await statesIn(claimed.agent)).toEqual(['claimed']);
  return claimed;
}

/** A claim whose call was answered that nobody knows: the ledger applied it, or never heard of it. */
async function unknown(place: 'before' | 'after') {
  const claimed = await running('before', place === 'before' ? isRefused : answersOverloaded);
  claimed.sending.release();
  expect(await claimed.first).toBe('UPSTREAM_UNAVAILABLE');
  expect(await statesIn(claimed.agent)).toEqual(['claimed']);
  return claimed;
}

describe('a claimed record that runs', () => {
  it.each([
    { result: 'OK', to: 'a replay', fault: undefined, second: { code: 'OK', replayed: true } },
    {
      result: 'unknown',
      to: 'UPSTREAM_UNAVAILABLE',
      fault: answersOverloaded,
      second: { code: 'UPSTREAM_UNAVAILABLE' },
    },
  ])('brings an identical call that waited to $to, the first being $result', async ({ fault, second }) => {
    const { order, agent, d1, sending } = await running('before', fault);
    const arrived = watchArrivals();
    const call = agent.call('refund_order', refund(order));
    await arrived(1);
    sending.release();
    expect(outcomeOf(await call)).toMatchObject(second);
    expect(d1.trips.map(({ kind }) => kind)).toEqual(['check', 'send']);
    await provenInD1(agent);
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
  });

  it('is left to itself by the alarm', async () => {
    const { agent, d1, sending, first } = await running();
    await runAlarm(agent.object);
    expect(d1.trips.filter(({ kind }) => kind === 'void')).toEqual([]);
    sending.release();
    expect(await first).toBe('OK');
    expect(await provenInD1(agent)).toHaveLength(1);
  });

  it('is durable, with its call id and step and an alarm, before anything is sent', async () => {
    const { agent } = await notRunning('before');
    expect(await rowsIn(agent.object, 'SELECT call_id, step, attempt FROM record')).toEqual([
      { call_id: 'first', step: 1, attempt: 1 },
    ]);
    expect(await auditIn(agent.object)).toEqual([]);
    expect(await runAlarm(agent.object)).toBe(true);
  });

  it('is unknown once the ledger hangs past the limit of the try', async () => {
    const { agent, sending, first } = await running('before', hangs);
    sending.release();
    expect(await first).toBe('UPSTREAM_UNAVAILABLE');
    expect(await statesIn(agent)).toEqual(['claimed']);
  });

  it('is unknown after any exception of the send, our own included', async () => {
    const { agent, sending, first } = await running('before', () => Promise.reject(new TypeError('a bug of ours')));
    sending.release();
    expect(await first).toBe('UPSTREAM_UNAVAILABLE');
    expect(await statesIn(agent)).toEqual(['claimed']);
  });
});

const whom = [
  { record: 'a claimed record that nobody runs', open: notRunning, rowsBefore: 0 },
  { record: 'an unknown record', open: unknown, rowsBefore: 1 },
];
const where = [
  { applied: 'not applied yet', place: 'before' as const },
  { applied: 'applied already', place: 'after' as const },
];

describe.each(whom.flatMap((one) => where.map((other) => ({ ...one, ...other }))))(
  '$record, its attempt $applied',
  ({ open, place, rowsBefore }) => {
    const isApplied = place === 'after';

    it('is sent again under the same attempt by an identical call', async () => {
      const { order, agent, sending } = await open(place);
      const outcome = outcomeOf(await agent.call('refund_order', refund(order), 'second'));
      expect(outcome).toMatchObject({ code: 'OK', replayed: false, step: 2 });
      await sending.land();
      expect(await attemptsOf(agent)).toEqual([APPLIED]);
      expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
      const rows = await provenInD1(agent);
      expect(rows.slice(rowsBefore)).toMatchObject([{ kind: 'call', call_id: 'second', code: 'OK', attempt: 1 }]);
    });

    it(`is ${isApplied ? 'executed, the void having lost,' : 'failed by its void'} where an identical call is refused`, async () => {
      const { order, agent, sending } = await open(place);
      await changePolicy(agent, { max_refund_cents: 2589 });
      const code = isApplied ? 'OK' : 'POLICY_LIMIT';
      expect(await codeOf(agent.call('refund_order', refund(order)))).toBe(code);
      await sending.land();
      expect(await statesIn(agent)).toEqual([isApplied ? 'executed' : 'failed']);
      expect(await attemptsOf(agent)).toEqual([isApplied ? APPLIED : { attempt: 1, applied: 0, code }]);
      expect((await ledgerOf(order)).refunded_cents).toBe(isApplied ? 2590 : 0);
      expect((await provenInD1(agent)).slice(rowsBefore)).toMatchObject([{ kind: 'call', code }]);
    });

    it(`is ${isApplied ? 'executed' : 'voided, and the call judged again as new,'} where confirmation is now due`, async () => {
      const { order, agent, sending } = await open(place);
      await changePolicy(agent, { confirm_above_cents: 0 });
      const outcome = outcomeOf(await agent.call('refund_order', refund(order)));
      await sending.land();
      const rows = await provenInD1(agent);
      if (isApplied) {
        expect(outcome).toMatchObject({ code: 'OK', replayed: false });
        expect(await attemptsOf(agent)).toEqual([APPLIED]);
        expect(rows.slice(rowsBefore)).toMatchObject([{ kind: 'call', code: 'OK', attempt: 1 }]);
        return;
      }
      expect(outcome.code).toBe('CONFIRMATION_REQUIRED');
      expect(await statesIn(agent)).toEqual(['failed', 'pending']);
      expect(rows.slice(rowsBefore)).toMatchObject([
        { kind: 'event', code: 'UPSTREAM_UNAVAILABLE', attempt: null },
        { kind: 'call', code: 'CONFIRMATION_REQUIRED' },
      ]);
      expect(wordOf(await approves(agent, approvalIn(outcome)))).toBe('approved');
      expect(await attemptsOf(agent)).toMatchObject([
        { attempt: 1, applied: 0 },
        { attempt: 2, applied: 1 },
      ]);
      expect((await ledgerOf(order)).refunded_cents).toBe(2590);
      await provenLog(agent);
    });

    it(`is ${isApplied ? 'executed, the void having lost,' : 'failed by its void'} by the alarm`, async () => {
      const { order, agent, sending } = await open(place);
      const rows = await provenInD1(agent);
      await sending.land();
      expect(await statesIn(agent)).toEqual([isApplied ? 'executed' : 'failed']);
      expect((await ledgerOf(order)).refunded_cents).toBe(isApplied ? 2590 : 0);
      const [code, attempt] = isApplied ? ['OK', 1] : ['UPSTREAM_UNAVAILABLE', null];
      expect(rows.slice(rowsBefore)).toMatchObject([{ kind: 'event', actor: 'alarm', code, attempt }]);
      expect(await provenInD1(agent)).toEqual(rows);
    });

    it.each(['check', 'send'] as const)(
      'stays so if the object dies before the %s of an identical call',
      async (kind) => {
        const { order, agent, d1 } = await open(place);
        const again = d1.stop(kind, 'before');
        const call = codeOf(agent.call('refund_order', refund(order)));
        await again.reached();
        await everyObjectDies();
        expect(await call).toBe('never answered');
        expect(await statesIn(agent)).toEqual(['claimed']);
        await provenInD1(agent);
        expect(await attemptsOf(agent)).toMatchObject([{ attempt: 1, applied: isApplied ? 1 : 0 }]);
        await again.land();
        expect((await ledgerOf(order)).refunded_cents).toBe(isApplied ? 2590 : 0);
      },
    );

    it('keeps its amount reserved until then', async () => {
      const { agent } = await open(place);
      await changePolicy(agent, { max_session_refund_cents: 5000 });
      const other = refund(await newOrder(), { amount_cents: 2411 });
      expect(await codeOf(agent.call('refund_order', other))).toBe('POLICY_LIMIT');
      await runAlarm(agent.object);
      expect(await codeOf(agent.call('refund_order', other))).toBe(isApplied ? 'POLICY_LIMIT' : 'OK');
    });
  },
);

describe('an unknown record', () => {
  it('stays unknown while it can be neither judged nor voided', async () => {
    const { order, agent, d1 } = await unknown('before');
    d1.fault('check', isRefused);
    expect(await codeOf(agent.call('refund_order', refund(order)))).toBe('UPSTREAM_UNAVAILABLE');
    d1.fault('void', isRefused);
    await runAlarm(agent.object);
    expect(await statesIn(agent)).toEqual(['claimed']);
    expect(await auditIn(agent.object)).toHaveLength(2);
  });

  it('is failed by the void of a revoked caller, which an identical call can no longer reach', async () => {
    const { order, agent } = await unknown('before');
    await revoke(agent);
    expect(await codeOf(agent.call('refund_order', refund(order)))).toBe('unauthorized');
    await provenInD1(agent);
    expect(await statesIn(agent)).toEqual(['failed']);
  });
});
