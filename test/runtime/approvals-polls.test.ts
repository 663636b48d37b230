/** What a host sees of an approval while it waits, and that nothing the agent's side sees names a person (docs/specification.md#asking-about-an-approval). */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ApprovalAnswer } from '../../src/gate/session/rpc.ts';
import { decide, linkOf, parkedRefund, parkIn, reject, statusOf, type Parked } from '../support/approver.ts';
import { changePolicy, revoke, runAlarm } from '../support/inside.ts';
import { APPROVERS, KEY_HASH, newAgent, newOrder, outcomeOf, POLLING, refund } from '../support/session.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const DAY_MS = 86_400_000;
const poll = ({ agent, id }: Parked, wait = 0): Promise<ApprovalAnswer> => agent.stub().approval(agent.uid, id, wait);

/** The answer and how long it took, in ms. */
async function timed(answer: Promise<ApprovalAnswer>) {
  const started = performance.now();
  return { answer: await answer, ms: performance.now() - started };
}
const soon = () => new Promise((resolve) => setTimeout(resolve, 100));

describe('a poll', () => {
  it('tells the approval, and what its call would be told now', async () => {
    const parked = await parkedRefund();
    const { agent, id, order } = parked;
    const pending = await poll(parked);
    const notice = { id, status: 'pending', expires_at: expect.any(String) as string, arguments: refund(order) };
    expect(pending).toEqual({
      id,
      status: 'pending',
      tool: 'refund_order',
      arguments: refund(order),
      expires_at: expect.any(Number) as number,
      decided_at: null,
      note: null,
      sent: null,
      delivery: { asked: 2, sent: expect.any(Number) as number, undeliverable: 0 },
      outcome: expect.objectContaining({
        ok: false,
        code: 'CONFIRMATION_REQUIRED',
        step: 1,
        approval: notice,
      }) as object,
    });
    await decide(parked);
    expect(await poll(parked)).toMatchObject({
      status: 'executed',
      decided_at: expect.any(Number) as number,
      outcome: { ok: true, code: 'OK', step: 1, data: { order_id: order, refunded_cents: 2590 } },
    });
    expect(await agent.call('nothing', {})).toMatchObject({ outcome: { step: 2 } });
  });

  it('keeps to itself what an approver noted beside a yes', async () => {
    const parked = await parkedRefund();
    await decide(parked, { note: 'on the fraud list, last time' });
    expect(await poll(parked)).toMatchObject({ status: 'executed', note: null });
  });

  it('finds an approval of this session only', async () => {
    const parked = await parkedRefund();
    const stranger = await newAgent();
    expect(await poll({ ...parked, agent: stranger })).toEqual({ refused: 'not_found' });
    expect(await poll({ ...parked, id: 'apr_nothing' })).toEqual({ refused: 'not_found' });
  });

  it('expires what is past its time', async () => {
    const parked = await parkedRefund();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS });
    expect(await poll(parked, 25)).toMatchObject({
      status: 'expired',
      outcome: { code: 'APPROVAL_EXPIRED', next: 'stop_and_tell_user' },
    });
  });

  it('is answered 60 times a minute', async () => {
    const parked = await parkedRefund();
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    for (let asked = 0; asked < 60; asked += 1) expect(await statusOf(parked)).toBe('pending');
    expect(await poll(parked)).toEqual({ refused: 'too_many_polls' });
    expect(await poll({ ...parked, id: 'apr_nothing' })).toEqual({ refused: 'too_many_polls' });
    expect(outcomeOf(await parked.agent.call('nothing', {})).code).toBe('UNKNOWN_TOOL');
    vi.setSystemTime(start + 59_999);
    expect(await poll(parked)).toEqual({ refused: 'too_many_polls' });
    vi.setSystemTime(start + 60_000);
    expect(await statusOf(parked)).toBe('pending');
  });
});

describe('a poll that waits', () => {
  const changes: [string, string, (parked: Parked) => Promise<unknown>][] = [
    ['it is approved and done', 'executed', (parked) => decide(parked)],
    ['it is rejected', 'rejected', (parked) => reject(parked)],
    ['it is withdrawn', 'failed', ({ agent, id }) => agent.stub().withdraw(id, 'req')],
    ['its caller is revoked', 'failed', ({ agent }) => revoke(agent)],
    ['its session ends', 'failed', ({ agent }) => agent.stub().end(null)],
  ];
  it.each(changes)('answers when %s', async (_, status, change) => {
    const parked = await parkedRefund();
    const waiting = timed(poll(parked, 20));
    await soon();
    await change(parked);
    const { answer, ms } = await waiting;
    expect(ms).toBeLessThan(5_000);
    // An approval is a change of its own: whoever is told of it asks again.
    const told = 'refused' in answer ? answer.refused : answer.status;
    expect(told === 'approved' ? await statusOf(parked) : told).toBe(status);
  });

  it('answers when it expires', async () => {
    const parked = await parkedRefund();
    const waiting = timed(poll(parked, 20));
    await soon();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS });
    await runAlarm(parked.agent.object);
    const { answer, ms } = await waiting;
    expect(answer).toMatchObject({ status: 'expired' });
    expect(ms).toBeLessThan(5_000);
  });

  it('answers at its approval, before the money has moved', async () => {
    const parked = await parkedRefund();
    const waiting = poll(parked, 20);
    await soon();
    const [decided, first] = await Promise.all([decide(parked), waiting]);
    expect(first).toMatchObject({
      status: 'approved',
      outcome: { code: 'CONFIRMATION_REQUIRED', approval: { status: 'approved' } },
    });
    expect(decided).toEqual({ decided: 'approved' });
    expect(await statusOf(parked)).toBe('executed');
  });

  it('is not woken by another approval, and answers at the end of its time', async () => {
    const parked = await parkedRefund();
    const waiting = timed(poll(parked, 1));
    await soon();
    await reject(await parkIn(parked.agent));
    await changePolicy(parked.agent, { max_steps: 11 });
    const { answer, ms } = await waiting;
    expect(answer).toMatchObject({ status: 'pending' });
    expect(ms).toBeGreaterThan(900);
  });

  it('does not wait for what is decided', async () => {
    const parked = await parkedRefund();
    await reject(parked);
    expect((await timed(poll(parked, 20))).ms).toBeLessThan(5_000);
  });

  it('is one of at most four in a session: the fifth ends the oldest', async () => {
    const first = await parkedRefund();
    const second = await parkIn(first.agent);
    const answered: number[] = [];
    const waits: Promise<unknown>[] = [];
    for (const [place, parked] of [first, second, first, second, first, second].entries()) {
      waits.push(poll(parked, 20).then(() => answered.push(place)));
      await soon();
    }
    await vi.waitFor(() => expect(answered).toEqual([0, 1]), 5_000);
    await reject(first);
    await vi.waitFor(() => expect(new Set(answered)).toEqual(new Set([0, 1, 2, 4])), 5_000);
    await reject(second);
    await Promise.all(waits);
  });
});

describe("the agent's side", () => {
  it('sees no address, no link and none of its bits, in anything it is told', async () => {
    const requester = 'Cy@Shop.test';
    const told: unknown[] = [];
    const agent = await newAgent({ max_steps: 20, approvers: [...APPROVERS, requester] }, { requested_by: requester });
    const order = await newOrder();
    const ask = async (tool: string, args: unknown) => told.push(await agent.call(tool, args));
    await ask('refund_order', refund(order));
    const parked = await parkIn(agent);
    await runAlarm(agent.object);
    await vi.waitFor(async () => expect(await poll(parked)).toMatchObject({ delivery: { sent: 2 } }), POLLING);
    const links = await Promise.all([0, 1].map((approver) => linkOf(parked, approver)));
    told.push(await poll(parked), await agent.stub().tools(agent.uid), await agent.stub().heads());
    await reject(parked, `ask ${APPROVERS[0]} or <${requester}>`);
    told.push(await poll(parked));
    await ask('refund_order', refund(parked.order));
    await changePolicy(agent, { max_refund_cents: 1 });
    await ask('refund_order', refund(order, { amount_cents: 2 }));
    await ask('get_order', { order_id: order });
    await ask('nothing', {});
    const { caller_id, session_id } = agent;
    const again = { caller_id, session_id, key_hash: KEY_HASH, ttl_seconds: 60 };
    told.push(await agent.stub().open({ ...again, requested_by: 'di@shop.test' }));
    told.push(await agent.stub().open(again));

    const text = JSON.stringify(told).toLowerCase();
    expect(text).toContain('ask [link] or');
    for (const secret of ['@', 'ana', 'http', '?t=', ...links.map(({ bits }) => bits)])
      expect(text.includes(secret), secret).toBe(false);
  });
});
