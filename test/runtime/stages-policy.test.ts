/** Stage 6: limits, what is reserved under them, and the notices that make "it was passed on" true (docs/specification.md#stage-6-policy). */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { decide, linkOf, parkedRefund, parkIn, reject, type Parked } from '../support/approver.ts';
import { changePolicy, runAlarm, withoutAlarms } from '../support/inside.ts';
import { shownOf } from '../support/shown.ts';
import { APPROVERS, newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const DAY_MS = 86_400_000;
const unasked = { confirm_above_cents: 50_000 };

/** The code of a refund of a new order. */
async function refundNew(agent: Agent, changes: Record<string, unknown> = {}): Promise<string> {
  const order = await newOrder({ currency: changes['currency'] === 'USD' ? 'USD' : 'BRL' });
  return outcomeOf(await agent.call('refund_order', refund(order, changes))).code;
}

describe('max_refund_cents', () => {
  beforeEach(() => void withoutAlarms());

  it("is the narrower of the session's and the policy's, and allows its own value", async () => {
    for (const [policy, own] of [
      [2590, 50_000],
      [50_000, 2590],
    ] as const) {
      const agent = await newAgent({ ...unasked, max_refund_cents: 50_000 }, { max_refund_cents: own });
      await changePolicy(agent, { max_refund_cents: policy });
      expect(await refundNew(agent)).toBe('OK');
      const order = await newOrder();
      const { code, message, next } = outcomeOf(
        await agent.call('refund_order', refund(order, { amount_cents: 2591 })),
      );
      expect({ code, next }).toEqual({ code: 'POLICY_LIMIT', next: 'stop_and_tell_user' });
      expect(message).toContain('2590 in minor units');
    }
  });
});

describe('max_session_refund_cents', () => {
  beforeEach(() => void withoutAlarms());

  it('counts what was applied, per currency, and allows its own value', async () => {
    const agent = await newAgent({ ...unasked, max_session_refund_cents: 5180 });
    expect(await refundNew(agent)).toBe('OK');
    expect(await refundNew(agent, { amount_cents: 2591 })).toBe('POLICY_LIMIT');
    expect(await refundNew(agent, { currency: 'USD' })).toBe('OK');
    expect(await refundNew(agent)).toBe('OK');
    expect(await refundNew(agent, { amount_cents: 1 })).toBe('POLICY_LIMIT');
  });

  it.each([
    ['a rejection', (parked: Parked) => reject(parked)],
    ['a withdrawal', ({ agent, id }: Parked) => agent.stub().withdraw(id, 'req')],
    [
      'a decision that fails',
      async (parked: Parked) => {
        await env.DB.prepare('UPDATE orders SET total_cents = 0 WHERE order_id = ?').bind(parked.order).run();
        return decide(parked, { shown: shownOf(parked.order, 0, { total_cents: 0 }) });
      },
    ],
    [
      'expiry, before anything notices it',
      async () => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS }),
    ],
  ] as const)('counts what waits for a person until %s', async (_, release) => {
    const parked = await parkedRefund({ max_session_refund_cents: 5000 });
    expect(await refundNew(parked.agent)).toBe('POLICY_LIMIT');
    await release(parked);
    expect(await refundNew(parked.agent)).toBe('CONFIRMATION_REQUIRED');
  });

  it('counts what may have been applied until the ledger says that it was not', async () => {
    const agent = await newAgent({ ...unasked, max_session_refund_cents: 5000 });
    const batch = vi.spyOn(env.DB, 'batch').mockRejectedValue(new Error('D1 DB is overloaded'));
    expect(await refundNew(agent)).toBe('UPSTREAM_UNAVAILABLE');
    batch.mockRestore();
    expect(await refundNew(agent)).toBe('POLICY_LIMIT');
    await runAlarm(agent.object);
    expect(await refundNew(agent)).toBe('OK');
  });

  it('counts what the same call moved before', async () => {
    const agent = await newAgent({ ...unasked, max_session_refund_cents: 5000, identical_effects: 'ask' });
    const order = await newOrder();
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('OK');
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('POLICY_LIMIT');
  });

  it('lets of many calls at once only those pass that have room together', async () => {
    const agent = await newAgent({ ...unasked, max_session_refund_cents: 7000, max_steps: 20 });
    const codes = await Promise.all(Array.from({ length: 10 }, () => refundNew(agent)));
    expect(codes.toSorted()).toEqual(['OK', 'OK', ...Array.from({ length: 8 }, () => 'POLICY_LIMIT')]);
  });
});

describe('approvals of a session', () => {
  beforeEach(() => void withoutAlarms());

  it('wait three at a time', async () => {
    const parked = await parkedRefund();
    const { agent } = parked;
    for (const code of ['CONFIRMATION_REQUIRED', 'CONFIRMATION_REQUIRED', 'POLICY_LIMIT'])
      expect(await refundNew(agent)).toBe(code);
    await reject(parked);
    expect(await refundNew(agent)).toBe('CONFIRMATION_REQUIRED');
  });

  it('that are past their time make room, before anything notices it', async () => {
    const { agent } = await parkedRefund({ approval_ttl_seconds: 60 });
    for (const _ of [2, 3]) await refundNew(agent);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    expect(await refundNew(agent)).toBe('CONFIRMATION_REQUIRED');
  });

  it('are opened ten times, with any outcome', async () => {
    const agent = await newAgent({ max_steps: 20 });
    for (let opened = 0; opened < 10; opened += 1) await agent.stub().withdraw((await parkIn(agent)).id, 'req');
    const order = await newOrder();
    const refused = outcomeOf(await agent.call('refund_order', refund(order)));
    expect(refused.code).toBe('POLICY_LIMIT');
    expect(refused.message).toContain('asked for 10 approvals');
    await changePolicy(agent, unasked);
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('OK');
  });

  it('are not opened if the requester is the only approver', async () => {
    const agent = await newAgent({ approvers: ['Ana@Shop.test'] }, { requested_by: 'aNA@shop.TEST' });
    const { code, message } = outcomeOf(await agent.call('refund_order', refund(await newOrder())));
    expect(code).toBe('POLICY_LIMIT');
    expect(message).toContain('nobody is left to ask');
    expect(message).not.toContain('passed on');
  });

  it('ask every approver except the requester', async () => {
    const parked = await parkedRefund({}, { requested_by: APPROVERS[0]?.toUpperCase() ?? '' });
    const answer = await parked.agent.stub().approval(parked.agent.uid, parked.id, 0);
    expect(answer).toMatchObject({ delivery: { asked: 1 } });
    expect((await linkOf(parked, 1)).bits).toBe('');
  });
});

describe('a notice', () => {
  /** Two approvers nobody else has, since sessions of other tests send mails too. */
  const approversOf = (test: string): string[] => [`ana@${test}.test`, `bo@${test}.test`];
  const noticing = (approvers: string[]) => newAgent({ approvers, max_refund_cents: 100, max_steps: 20 });

  /** The addresses of mails to these approvers, as they leave. */
  function watchMail(approvers: string[]): string[] {
    const addresses: string[] = [];
    vi.spyOn(env.EMAIL, 'send').mockImplementation(async ({ to }: EmailMessage | EmailMessageBuilder) => {
      if (typeof to === 'string' && approvers.includes(to)) addresses.push(to);
      return { messageId: 'sent' };
    });
    return addresses;
  }
  const isToldToBePassedOn = async (agent: Agent, order: string): Promise<boolean> =>
    /It was passed on/.test(outcomeOf(await agent.call('refund_order', refund(order))).message ?? '');
  const untilSent = async (addresses: string[], expected: string[]) => {
    await vi.waitFor(() => expect(addresses).toHaveLength(expected.length), 5_000);
    expect(addresses.toSorted()).toEqual(expected.toSorted());
  };

  it('goes to every approver, once for each call key', async () => {
    const approvers = approversOf('once');
    const mails = watchMail(approvers);
    const agent = await noticing(approvers);
    const orders = [await newOrder(), await newOrder()] as const;
    for (const order of [orders[0], orders[0]]) expect(await isToldToBePassedOn(agent, order)).toBe(true);
    await untilSent(mails, approvers);
    for (const order of [orders[0], orders[1]]) expect(await isToldToBePassedOn(agent, order)).toBe(true);
    await untilSent(mails, [...approvers, ...approvers]);
  });

  it('is sent three times a session, and after that the answer no longer says so', async () => {
    const approvers = approversOf('thrice').slice(1);
    const mails = watchMail(approvers);
    const agent = await noticing(approvers);
    const orders = await Promise.all(Array.from({ length: 4 }, () => newOrder()));
    const said: boolean[] = [];
    for (const order of [...orders, ...orders.slice(0, 1)]) said.push(await isToldToBePassedOn(agent, order));
    expect(said).toEqual([true, true, true, false, true]);
    await untilSent(mails, [...approvers, ...approvers, ...approvers]);
  });

  it('holds up nothing where all approvers left before it was sent', async () => {
    const approvers = approversOf('left');
    const agent = await noticing(approvers);
    const queue = vi.spyOn(env.QUEUE, 'sendBatch').mockRejectedValue(new Error('the queue is down'));
    expect(await isToldToBePassedOn(agent, await newOrder())).toBe(true);
    await vi.waitFor(() => expect(queue).toHaveBeenCalled(), 10_000);
    await changePolicy(agent, { approvers: [] });
    queue.mockRestore();
    const batches = vi.spyOn(env.QUEUE, 'sendBatch');
    await runAlarm(agent.object);
    expect(batches.mock.calls.filter(([messages]) => [...messages].length === 0)).toEqual([]);

    const mails = watchMail(approvers);
    await changePolicy(agent, { approvers });
    expect(await isToldToBePassedOn(agent, await newOrder())).toBe(true);
    await untilSent(mails, approvers);
  });
});
