/** Who may look at an approval, what they see, and that looking changes nothing (docs/specification.md#the-page-and-the-decision). */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApprovalView, LinkProof } from '../../src/gate/session/rpc.ts';
import { decide, fateOf, linkOf, parkedRefund, parkIn, reject, type Parked } from '../support/approver.ts';
import { changePolicy, dumpOf, failReads, runAlarm, withoutAlarms } from '../support/inside.ts';
import { APPROVERS, newAgent, newOrder, outcomeOf, POLLING, refund, moved } from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const DAY_MS = 86_400_000;
const badLink = { refused: 'bad_link' };

async function viewOf(parked: Parked, approver = 0): Promise<ApprovalView> {
  const answer = await parked.agent.stub().view(await linkOf(parked, approver));
  if ('refused' in answer) throw new Error('a bad link');
  return answer.view;
}

/** Neither shows anything nor decides. */
async function expectBad({ agent }: Parked, proof: LinkProof): Promise<void> {
  const decision = { phrase: '25.90', note: null, shown: '', request_id: 'r' };
  expect(await agent.stub().view(proof)).toEqual(badLink);
  for (const what of ['approve', 'reject'] as const)
    expect(await agent.stub().decide({ ...proof, ...decision, decision: what })).toEqual(badLink);
}

describe('a link', () => {
  it('is no good with any one of its 128 bits turned', async () => {
    const parked = await parkedRefund();
    const proof = await linkOf(parked);
    const bits = BigInt(`0x${proof.bits}`);
    for (let place = 0n; place < 128n; place += 1n) {
      const turned = (bits ^ (1n << place)).toString(16).padStart(32, '0');
      expect(await parked.agent.stub().view({ ...proof, bits: turned })).toEqual(badLink);
    }
    for (const wrong of ['', proof.bits.slice(1), `${proof.bits}0`, proof.bits.replace(/./, 'é')])
      await expectBad(parked, { ...proof, bits: wrong });
    expect(await viewOf(parked)).toMatchObject({ id: parked.id, status: 'pending' });
  });

  it("is no good with another approver's bits, another approval's, or the number of nobody", async () => {
    const parked = await parkedRefund();
    const other = await parkIn(parked.agent);
    const [anas, bos, others] = [await linkOf(parked, 0), await linkOf(parked, 1), await linkOf(other, 0)];
    expect(new Set([anas.bits, bos.bits, others.bits]).size).toBe(3);
    await expectBad(parked, { ...anas, bits: bos.bits });
    await expectBad(parked, { ...anas, bits: others.bits });
    await expectBad(parked, { ...anas, approval_id: 'apr_nothing' });
    for (const approver of [-1, 0.5, 2, Number.NaN]) await expectBad(parked, { ...anas, approver });
  });

  it('is good only while its approver is on the current list', async () => {
    const parked = await parkedRefund();
    await changePolicy(parked.agent, { approvers: APPROVERS.slice(1) });
    await expectBad(parked, await linkOf(parked, 0));
    expect(await viewOf(parked, 1)).toMatchObject({ status: 'pending' });
    await changePolicy(parked.agent, { approvers: ['ANA@shop.test'] });
    expect(await viewOf(parked, 0)).toMatchObject({ status: 'pending' });
    await expectBad(parked, await linkOf(parked, 1));
  });

  it('is not made for an approver who joined later', async () => {
    const parked = await parkedRefund();
    await changePolicy(parked.agent, { approvers: [...APPROVERS, 'cy@shop.test'] });
    expect((await linkOf(parked, 2)).bits).toBe('');
    await expectBad(parked, { ...(await linkOf(parked)), approver: 2 });
  });

  it('can be viewed until 30 days after its time, and decides nothing then', async () => {
    const parked = await parkedRefund();
    const opened = Date.now();
    const { expires_at } = await viewOf(parked);
    expect(expires_at).toBeGreaterThan(opened + DAY_MS - 10_000);
    vi.useFakeTimers({ toFake: ['Date'], now: expires_at - 1 });
    expect(await viewOf(parked)).toMatchObject({ status: 'pending' });
    vi.setSystemTime(expires_at);
    expect(await viewOf(parked)).toMatchObject({ status: 'expired' });
    vi.setSystemTime(expires_at + 30 * DAY_MS - 1);
    expect(await fateOf(parked, await decide(parked))).toMatchObject({ became: 'already_decided', status: 'expired' });
    vi.setSystemTime(expires_at + 30 * DAY_MS);
    await expectBad(parked, await linkOf(parked));
  });
});

describe('looking', () => {
  it('changes nothing when it is opened by anyone at any time', async () => {
    const parked = await parkedRefund();
    await runAlarm(parked.agent.object);
    await vi.waitFor(async () => {
      const answer = await parked.agent.stub().approval(parked.agent.uid, parked.id, 0);
      expect(answer).toMatchObject({ delivery: { sent: 2 } });
    }, POLLING);
    await runAlarm(parked.agent.object);
    const proofs = [await linkOf(parked), await linkOf(parked, 1), { ...(await linkOf(parked)), bits: 'no' }];
    const look = async () => {
      const before = await dumpOf(parked.agent.object);
      for (const proof of proofs) await parked.agent.stub().view(proof);
      expect(await dumpOf(parked.agent.object)).toBe(before);
    };
    await look();
    failReads(new Error('D1 DB is overloaded'));
    await look();
    vi.restoreAllMocks();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS });
    await look();
    expect(await viewOf(parked)).toMatchObject({ status: 'expired' });
  });

  it('shows what the ledger says now apart from what the agent claims', async () => {
    const parked = await parkedRefund({}, { session_id: `chat-${Date.now()}` });
    await moved(parked.order, 500);
    expect(await viewOf(parked)).toMatchObject({
      tool: 'refund_order',
      caller_name: 'Shop',
      session_id: parked.agent.session_id,
      decided_at: null,
      decided_by: null,
      result: null,
      claimed: { amount_cents: 2590, currency: 'BRL', arguments: refund(parked.order) },
      facts: [
        { label: 'Order', value: parked.order },
        { label: 'Customer', value: 'CUS-1' },
        { label: 'Order total', value: '120.00 BRL' },
        { label: 'Refunded so far', value: '5.00 BRL' },
        { label: 'Still refundable', value: '115.00 BRL' },
      ],
      applied_before: [],
      phrase: '25.90',
    });
  });

  it('shows what the ledger says where it would refuse by now, and nothing of it where it cannot be read', async () => {
    const parked = await parkedRefund();
    await env.DB.prepare('UPDATE orders SET total_cents = 1 WHERE order_id = ?').bind(parked.order).run();
    const { status, facts } = await viewOf(parked);
    expect(status).toBe('pending');
    expect(facts).toContainEqual({ label: 'Order total', value: '0.01 BRL' });
    failReads(new Error('D1 DB is overloaded'));
    const unread = { status: 'pending', facts: null, phrase: '25.90' };
    expect(await viewOf(parked)).toMatchObject(unread);
  });

  it('tells an order that is gone from a ledger that cannot be read', async () => {
    const parked = await parkedRefund();
    await env.DB.prepare('DELETE FROM orders WHERE order_id = ?').bind(parked.order).run();
    expect(await viewOf(parked)).toMatchObject({ status: 'pending', facts: [], others: [] });
  });

  it('waits no longer than 5 seconds for the list of other approvals', async () => {
    const parked = await parkedRefund();
    const prepare = env.DB.prepare.bind(env.DB);
    vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
      const statement = prepare(sql);
      if (sql.includes('FROM approvals'))
        statement.bind = () => Object.assign(statement, { all: () => new Promise(() => undefined) });
      return statement;
    });
    expect(await viewOf(parked)).toMatchObject({ status: 'pending', others: [] });
  });

  it('shows the other approvals of the order, from any session, of the last 30 days', async () => {
    const old = await parkedRefund();
    await runAlarm(old.agent.object);
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start + 20 * DAY_MS });
    const recent = await parkedRefund({}, {}, old.order);
    await reject(recent);
    await runAlarm(recent.agent.object);
    const elsewhere = await parkedRefund();
    await runAlarm(elsewhere.agent.object);
    vi.setSystemTime(start + 31 * DAY_MS);
    const now = await parkedRefund({}, {}, old.order);
    await runAlarm(now.agent.object);
    expect((await viewOf(now)).others).toEqual([
      {
        id: recent.id,
        status: 'rejected',
        amount_cents: 2590,
        currency: 'BRL',
        opened_at: expect.any(Number) as number,
        note: null,
      },
    ]);
  });

  it('shows what was decided, by whom, and what came of it', async () => {
    const parked = await parkedRefund();
    await decide(parked, { approver: 1, note: 'fine' });
    expect(await viewOf(parked)).toMatchObject({
      status: 'executed',
      decided_by: 1,
      decided_at: expect.any(Number) as number,
      note: 'fine',
      result: { ok: true, data: { refunded_cents: 2590 } },
      facts: expect.arrayContaining([{ label: 'Refunded so far', value: '25.90 BRL' }]) as unknown,
    });
  });

  it('shows what was done before under the same call', async () => {
    const order = await newOrder();
    const agent = await newAgent({ identical_effects: 'ask', confirm_above_cents: 50_000 });
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('OK');
    const again = await parkIn(agent, order);
    expect((await viewOf(again)).applied_before).toMatchObject([{ attempt: 1, answer: { refunded_cents: 2590 } }]);
  });
});
