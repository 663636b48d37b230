/** Transport retries (docs/specification.md#transport-retries): the same `call_id` with equal arguments asks again after one call; it is no new one. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  APPLIED,
  approves,
  attemptsOf,
  codeOf,
  containing,
  HOUR_MS,
  later,
  moveOn,
  provenCodes,
  provenInD1,
  provenLog,
  rejects,
  standStill,
  statesIn,
  times,
} from '../support/effects.ts';
import { answersOverloaded, everyObjectDies, isRefused, watchArrivals, watchD1 } from '../support/faults.ts';
import { auditIn, runAlarm } from '../support/inside.ts';
import { newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

const UNASKED = { confirm_above_cents: 50_000 };

beforeEach(standStill);
afterEach(moveOn);

/** The next step is the one after `taken`. */
async function expectSteps(agent: Agent, taken: number): Promise<void> {
  expect(outcomeOf(await agent.call('no_such_tool', {})).step).toBe(taken + 1);
}

describe('a call sent again', () => {
  it('joins the first while that runs, and takes neither step nor row', async () => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const arrived = watchArrivals();
    const sending = watchD1().stop('send', 'before');
    const first = agent.call('refund_order', refund(order), 'same');
    await sending.reached();
    const again = agent.call('refund_order', refund(order), 'same');
    await arrived(2);
    sending.release();
    expect(outcomeOf(await first)).toMatchObject({ code: 'OK', step: 1, replayed: false });
    expect(outcomeOf(await again)).toMatchObject({ code: 'OK', step: 1, replayed: true });
    expect(await attemptsOf(agent)).toEqual([APPLIED]);
    expect(await provenLog(agent)).toHaveLength(1);
    await expectSteps(agent, 1);
  });

  it.each([
    { code: 'OK', tool: 'refund_order', policy: UNASKED },
    { code: 'STEP_LIMIT', tool: 'refund_order', policy: { max_steps: 1 }, steps: 1 },
    { code: 'UNKNOWN_TOOL', tool: 'no_such_tool' },
    { code: 'TOOL_NOT_ALLOWED', tool: 'refund_order', policy: { allowed_tools: ['get_order'] } },
    { code: 'INVALID_JSON', tool: 'refund_order', raw: '{"order_id":' },
    { code: 'INVALID_ARGUMENTS', tool: 'refund_order', args: { reason: 'bored' } },
    { code: 'AMOUNT_EXCEEDS_REFUNDABLE', tool: 'refund_order', args: { amount_cents: 12_001 } },
    { code: 'POLICY_LIMIT', tool: 'refund_order', policy: { max_refund_cents: 1 } },
  ])('gets the outcome $code it had, across a restart, and takes neither step nor row', async (example) => {
    const order = await newOrder();
    const agent = await newAgent(example.policy ?? {});
    for (let taken = 0; taken < (example.steps ?? 0); taken += 1) await agent.call('get_order', { order_id: order });
    const send = () => agent.call(example.tool, example.raw ?? refund(order, example.args), 'same');
    const first = await send();
    expect(outcomeOf(first).code).toBe(example.code);
    const rows = await auditIn(agent.object);
    for (const dies of [false, true]) {
      if (dies) await everyObjectDies();
      const again = await send();
      expect(outcomeOf(again)).toEqual({ ...outcomeOf(first), replayed: true });
      expect(again).toMatchObject('audit' in first ? { audit: first.audit, steps_left: first.steps_left } : {});
    }
    expect(await provenLog(agent)).toEqual(rows);
    expect((await attemptsOf(agent)).length).toBe(example.code === 'OK' ? 1 : 0);
  });

  it('is recognised however its arguments are written', async () => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const args = refund(order);
    await agent.call('refund_order', args, 'same');
    const reversed = Object.fromEntries(Object.entries(args).toReversed());
    for (const written of [reversed, JSON.stringify(reversed), JSON.stringify(args, null, 2)])
      expect(outcomeOf(await agent.call('refund_order', written, 'same'))).toMatchObject({ step: 1, replayed: true });
    expect(await provenLog(agent)).toHaveLength(1);
  });

  it('is answered ten times and then no more', async () => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const send = () => codeOf(agent.call('refund_order', refund(order), 'same'));
    const codes = [];
    for (let sent = 0; sent < 13; sent += 1) codes.push(await send());
    expect(codes).toEqual([...times(11, 'OK'), 'too_many_retries', 'too_many_retries']);
    expect(await codeOf(agent.call('refund_order', refund(order), 'other'))).toBe('OK');
    expect(await provenLog(agent)).toHaveLength(2);
  });

  it('is a new call where the first left no record', async () => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const judging = watchD1().stop('check', 'after');
    const first = codeOf(agent.call('refund_order', refund(order), 'same'));
    await judging.reached();
    await everyObjectDies();
    expect(await first).toBe('never answered');
    const again = outcomeOf(await agent.call('refund_order', refund(order), 'same'));
    expect(again).toMatchObject({ code: 'OK', step: 1, replayed: false });
    expect(await provenInD1(agent)).toHaveLength(1);
  });
});

describe('a read sent again', () => {
  it('is a new call once the first is settled with any outcome', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    for (const args of [{ order_id: order }, { order_id: 'ORD-0000' }, 'no object']) {
      const id = JSON.stringify(args);
      const [first, again] = [await agent.call('get_order', args, id), await agent.call('get_order', args, id)].map(
        outcomeOf,
      );
      expect(again).toMatchObject({ code: first?.code, replayed: false, step: (first?.step ?? 0) + 1 });
    }
    expect(await provenLog(agent)).toHaveLength(6);
  });

  it('joins the first while that runs', async () => {
    const order = await newOrder();
    const agent = await newAgent();
    const arrived = watchArrivals();
    const reading = watchD1().stop('check', 'before');
    const calls = [1, 2].map(() => agent.call('get_order', { order_id: order }, 'same'));
    await arrived(2);
    await reading.reached();
    reading.release();
    expect((await Promise.all(calls)).map((answer) => outcomeOf(answer).step)).toEqual([1, 1]);
    expect(await provenLog(agent)).toHaveLength(1);
  });
});

describe('a call that was told to wait for an approval, sent again', () => {
  const bring: Record<string, (agent: Agent, id: string) => Promise<unknown>> = {
    pending: async () => undefined,
    async approved(agent, id) {
      const d1 = watchD1();
      d1.fault('send', isRefused);
      await approves(agent, id);
    },
    executed: approves,
    rejected: (agent, id) => rejects(agent, id, 'No parcel came back'),
    async 'expired by the alarm'(agent) {
      later(HOUR_MS);
      await runAlarm(agent.object);
    },
    'expired by the clock alone': async () => later(HOUR_MS),
    failed: (agent, id) => agent.stub().withdraw(id, 'req-withdraw'),
  };

  it.each([
    { is: 'pending', told: { code: 'CONFIRMATION_REQUIRED', approval: { status: 'pending' } } },
    { is: 'approved', told: { code: 'CONFIRMATION_REQUIRED', approval: { status: 'approved' } } },
    { is: 'executed', told: { code: 'OK', data: { refunded_cents: 2590 } } },
    {
      is: 'rejected',
      told: { code: 'CONFIRMATION_REJECTED', message: containing('No parcel came back') },
    },
    { is: 'expired by the alarm', told: { code: 'APPROVAL_EXPIRED', next: 'stop_and_tell_user' } },
    { is: 'expired by the clock alone', told: { code: 'APPROVAL_EXPIRED', next: 'stop_and_tell_user' } },
    { is: 'failed', told: { code: 'WITHDRAWN' } },
  ])('is told that it is $is', async ({ is, told }) => {
    const order = await newOrder();
    const agent = await newAgent({ approval_ttl_seconds: 3600 });
    const send = async () => outcomeOf(await agent.call('refund_order', refund(order), 'same'));
    const { approval } = await send();
    await bring[is]?.(agent, approval?.id ?? '');
    const states = await statesIn(agent);
    expect(await send()).toMatchObject({ ...told, step: 1, replayed: true });
    expect((await auditIn(agent.object)).filter(({ kind }) => kind === 'call')).toHaveLength(1);
    expect(await statesIn(agent)).toEqual(is === 'expired by the clock alone' ? ['expired'] : states);
    await expectSteps(agent, 1);
  });
});

describe('a call that was told UPSTREAM_UNAVAILABLE, sent again', () => {
  it.each([
    { is: 'executed', fault: answersOverloaded, told: { code: 'OK', data: { refunded_cents: 2590 } } },
    {
      is: 'failed',
      fault: isRefused,
      told: { code: 'UPSTREAM_UNAVAILABLE', message: containing('Nothing was changed') },
    },
  ])('is told what its attempt came to: $is', async ({ fault, told }) => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const d1 = watchD1();
    d1.fault('send', fault);
    const send = async () => outcomeOf(await agent.call('refund_order', refund(order), 'same'));
    const unknown = { code: 'UPSTREAM_UNAVAILABLE', message: containing('did not say') };
    expect(await send()).toMatchObject({ ...unknown, replayed: false });
    expect(await send()).toMatchObject({ ...unknown, replayed: true, step: 1 });
    expect(d1.trips.filter(({ kind }) => kind === 'send')).toHaveLength(1);
    await runAlarm(agent.object);
    expect(await send()).toMatchObject({ ...told, replayed: true, step: 1 });
    expect(await provenCodes(agent)).toHaveLength(2);
  });

  it('is a new call where nothing was sent', async () => {
    const agent = await newAgent(UNASKED);
    const args = refund(await newOrder());
    const d1 = watchD1();
    d1.fault('check', isRefused);
    expect(await codeOf(agent.call('refund_order', args, 'same'))).toBe('UPSTREAM_UNAVAILABLE');
    d1.heal();
    const again = outcomeOf(await agent.call('refund_order', args, 'same'));
    expect(again).toMatchObject({ code: 'OK', step: 2, replayed: false });
  });
});
