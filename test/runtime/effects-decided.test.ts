/** The life of an effect (docs/specification.md#life-of-an-effect): what is over — executed, rejected, expired, failed — and what an attempt's number follows. */
import { env } from 'cloudflare:workers';
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
  parks,
  provenInD1,
  provenLog,
  rejects,
  standStill,
  statesIn,
  wordOf,
} from '../support/effects.ts';
import { isRefused, losesAnswer, watchD1 } from '../support/faults.ts';
import { revoke, runAlarm } from '../support/inside.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

const UNASKED = { confirm_above_cents: 50_000 };

beforeEach(standStill);
afterEach(moveOn);

/** A parked refund, and what ends it. */
async function parked() {
  const order = await newOrder();
  const agent = await newAgent({ approval_ttl_seconds: 3600 });
  return { order, agent, id: await parks(agent, refund(order)) };
}
const endings: Record<string, (agent: Agent, id: string) => Promise<unknown>> = {
  executed: (agent, id) => approves(agent, id),
  rejected: (agent, id) => rejects(agent, id, 'Not without the parcel'),
  async expired(agent) {
    later(HOUR_MS);
    await runAlarm(agent.object);
  },
  failed: (agent, id) => agent.stub().withdraw(id, 'req-withdraw'),
};

describe.each([
  { state: 'executed', ledger: { refunded_cents: 2590, applied: 1, voids: 0 } },
  { state: 'rejected', ledger: { refunded_cents: 0, applied: 0, voids: 0 } },
  { state: 'expired', ledger: { refunded_cents: 0, applied: 0, voids: 0 } },
  { state: 'failed', ledger: { refunded_cents: 0, applied: 0, voids: 0 } },
])('a record that is $state', ({ state, ledger }) => {
  it.each(['approve', 'reject'] as const)('is shown to an approver who tries to %s it, and stays', async (decision) => {
    const { order, agent, id } = await parked();
    await endings[state]?.(agent, id);
    const rows = await provenLog(agent);
    expect(await approves(agent, id, { decision, approver: 1 })).toMatchObject({
      refused: 'already_decided',
      view: { status: state },
    });
    expect(await provenLog(agent)).toEqual(rows);
    expect(await ledgerOf(order)).toEqual(ledger);
  });

  it('is left by the alarm', async () => {
    const { order, agent, id } = await parked();
    await endings[state]?.(agent, id);
    const d1 = watchD1();
    const rows = await provenInD1(agent);
    expect(await provenInD1(agent)).toEqual(rows);
    expect(d1.trips.filter(({ kind }) => kind === 'send' || kind === 'void')).toEqual([]);
    expect(await statesIn(agent)).toEqual([state]);
    expect(await ledgerOf(order)).toEqual(ledger);
  });
});

describe('an identical call', () => {
  it('is a replay of an executed record, from what the ledger held then', async () => {
    const { order, agent, id } = await parked();
    await approves(agent, id);
    const other = await newAgent(UNASKED);
    expect(await codeOf(other.call('refund_order', refund(order)))).toBe('OK');
    expect(outcomeOf(await agent.call('refund_order', refund(order)))).toMatchObject({
      ok: true,
      replayed: true,
      data: { order_id: order, refunded_cents: 2590, remaining_refundable_cents: 9410 },
    });
    expect((await ledgerOf(order)).refunded_cents).toBe(5180);
  });

  it('is CONFIRMATION_REJECTED with the note after a rejection, in this session only', async () => {
    const { order, agent, id } = await parked();
    await rejects(agent, id, 'Not without the parcel');
    const outcome = outcomeOf(await agent.call('refund_order', refund(order)));
    expect(outcome).toMatchObject({ code: 'CONFIRMATION_REJECTED', message: containing('the parcel') });
    const other = await newAgent({}, { caller_id: agent.caller_id });
    expect(await codeOf(other.call('refund_order', refund(order)))).toBe('CONFIRMATION_REQUIRED');
  });

  it.each(['expired', 'failed'])(
    'opens a new approval after one that %s, for the attempt that was never sent',
    async (state) => {
      const { order, agent, id } = await parked();
      await endings[state]?.(agent, id);
      const next = await parks(agent, refund(order));
      expect(next).not.toBe(id);
      await approves(agent, next);
      expect(await attemptsOf(agent)).toEqual([APPLIED]);
      expect(await statesIn(agent)).toEqual([state, 'executed']);
      await provenInD1(agent);
    },
  );

  it('is the next attempt after one that the ledger voided', async () => {
    const order = await newOrder({ total_cents: 5000 });
    const agent = await newAgent(UNASKED);
    const other = await newAgent(UNASKED);
    const sending = watchD1().stop('send', 'before');
    const call = codeOf(agent.call('refund_order', refund(order)));
    await sending.reached();
    await other.call('refund_order', refund(order, { amount_cents: 2411 }));
    sending.release();
    expect(await call).toBe('AMOUNT_EXCEEDS_REFUNDABLE');
    expect(await statesIn(agent)).toEqual(['failed']);
    expect(await attemptsOf(agent)).toEqual([{ attempt: 1, applied: 0, code: 'AMOUNT_EXCEEDS_REFUNDABLE' }]);
    await setTotal(order, 10_000);
    expect(await codeOf(agent.call('refund_order', refund(order)))).toBe('OK');
    expect(await attemptsOf(agent)).toMatchObject([
      { attempt: 1, applied: 0 },
      { attempt: 2, applied: 1 },
    ]);
    expect((await ledgerOf(order)).refunded_cents).toBe(5001);
    await provenInD1(agent);
  });
});

describe('an attempt', () => {
  it('is sent again under its number after an answer that was lost, and moves the order once', async () => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const d1 = watchD1();
    d1.fault('send', losesAnswer, 2);
    expect(outcomeOf(await agent.call('refund_order', refund(order)))).toMatchObject({ code: 'OK', replayed: false });
    expect(d1.trips.map(({ kind }) => kind)).toEqual(['check', 'send', 'send', 'send']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
    await provenInD1(agent);
  });

  it('is unknown after three answers that were lost', async () => {
    const order = await newOrder();
    const agent = await newAgent(UNASKED);
    const d1 = watchD1();
    d1.fault('send', losesAnswer);
    expect(await codeOf(agent.call('refund_order', refund(order)))).toBe('UPSTREAM_UNAVAILABLE');
    expect(d1.trips.filter(({ kind }) => kind === 'send')).toHaveLength(3);
    await provenInD1(agent);
    expect(await statesIn(agent)).toEqual(['executed']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
  });

  it('is never sent where the ledger cannot be read for its check', async () => {
    const agent = await newAgent(UNASKED);
    const d1 = watchD1();
    d1.fault('check', isRefused);
    const outcome = outcomeOf(await agent.call('refund_order', refund(await newOrder())));
    expect(outcome).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: containing('Nothing was changed'),
    });
    expect(await statesIn(agent)).toEqual([]);
  });
});

describe('a pending record without a decision', () => {
  it.each([
    { by: 'withdrawal', code: 'WITHDRAWN', actor: 'operator' },
    { by: 'the end of its session', code: 'SESSION_ENDED', actor: 'session' },
    { by: 'the revocation of its caller', code: 'CALLER_REVOKED', actor: 'session' },
  ])('is failed by $by, in one row and without a void', async ({ code, actor }) => {
    const { agent, id } = await parked();
    if (code === 'WITHDRAWN') await agent.stub().withdraw(id, 'req-withdraw');
    if (code === 'SESSION_ENDED') await agent.stub().end(agent.uid);
    if (code === 'CALLER_REVOKED') await revoke(agent);
    expect(await statesIn(agent)).toEqual(['failed']);
    expect(await attemptsOf(agent)).toEqual([]);
    const about = (await provenInD1(agent)).filter(({ approval_id, kind }) => kind === 'event' && approval_id === id);
    expect(about).toMatchObject([{ code, actor, ok: false }]);
    expect(wordOf(await approves(agent, id))).toBe('already_decided');
  });

  it('is carried out after its session ended, if it was approved before', async () => {
    const { order, agent, id } = await parked();
    const d1 = watchD1();
    d1.fault('send', isRefused);
    await approves(agent, id);
    await agent.stub().end(agent.uid);
    d1.heal();
    await provenInD1(agent);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
  });
});

describe('a record that was approved just before its time', () => {
  it('is carried out after it: the time is for deciding', async () => {
    const { order, agent, id } = await parked();
    const d1 = watchD1();
    d1.fault('send', isRefused);
    later(HOUR_MS - 1);
    expect(wordOf(await approves(agent, id))).toBe('approved');
    later(60_000);
    d1.heal();
    await provenInD1(agent);
    expect(await statesIn(agent)).toEqual(['executed']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 2590, applied: 1, voids: 0 });
  });
});

async function setTotal(order: string, cents: number): Promise<void> {
  await env.DB.prepare('UPDATE orders SET total_cents = ? WHERE order_id = ?').bind(cents, order).run();
}
