/** Asking people by mail: from the parked call over the queue to each address, whatever fails on the way (docs/specification.md#mail). */
import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import worker from '../../src/index.ts';
import type { QueueMessage } from '../../src/gate/session/rpc.ts';
import { decide, parkedRefund, reject, type Parked } from '../support/approver.ts';
import { alarmOf, changePolicy, rowsIn, runAlarm } from '../support/inside.ts';
import { POLLING, refund } from '../support/session.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const DAY_MS = 86_400_000;
/** Two approvers nobody else has, since sessions of other tests send mails too. */
const approversOf = (test: string): string[] => [`ana@${test}.test`, `bo@${test}.test`];

/** The addresses among these that mails leave to; sending to one of `bad` fails with that code. */
function watchMail(approvers: string[], bad: Record<string, string> = {}): string[] {
  const addresses: string[] = [];
  vi.spyOn(env.EMAIL, 'send').mockImplementation(async ({ to }: EmailMessage | EmailMessageBuilder) => {
    if (typeof to !== 'string' || !approvers.includes(to)) return { messageId: 'other' };
    if (bad[to] !== undefined) throw Object.assign(new Error('no'), { code: bad[to] });
    addresses.push(to);
    return { messageId: 'sent' };
  });
  return addresses;
}

/** A parked refund whose requests stay in the object: the clock is ahead of every real alarm. */
async function unaskedRefund(approvers: string[]): Promise<Parked> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 365 * DAY_MS });
  return parkedRefund({ approvers });
}

const deliveryOf = async ({ agent, id }: Parked) => {
  const answer = await agent.stub().approval(agent.uid, id, 0);
  return 'refused' in answer ? answer.refused : answer.delivery;
};
const untilDelivered = (parked: Parked, delivery: object) =>
  vi.waitFor(async () => expect(await deliveryOf(parked)).toEqual(delivery), POLLING);

/** Hands the queue's consumer a batch, and tells which messages it wants again. */
async function consume(queue: string, bodies: QueueMessage[]): Promise<string[]> {
  const messages = bodies.map((body, place) => ({ id: `m${place}`, timestamp: new Date(), attempts: 1, body }));
  const batch = createMessageBatch(queue, messages);
  const context = createExecutionContext();
  await worker.queue(batch, env);
  const { retryMessages } = await getQueueResult(batch, context);
  return retryMessages.map(({ msgId }) => msgId);
}
const requestFor = ({ agent, id }: Parked, approver: number): QueueMessage => ({
  type: 'approval',
  object: agent.object,
  approval_id: id,
  approver,
});

describe('a request for approval', () => {
  it('is due at once, and leaves by itself, once to each', async () => {
    const approvers = approversOf('atonce');
    const mails = watchMail(approvers);
    const started = Date.now();
    const parked = await parkedRefund({ approvers });
    await untilDelivered(parked, { asked: 2, sent: 2, undeliverable: 0 });
    expect(Date.now() - started).toBeLessThan(10_000);
    await parked.agent.call('refund_order', refund(parked.order));
    await runAlarm(parked.agent.object);
    expect(mails.toSorted()).toEqual(approvers);
  });

  it('holds ids only', async () => {
    const parked = await unaskedRefund(approversOf('ids'));
    const queue = vi.spyOn(env.QUEUE, 'sendBatch').mockResolvedValue(undefined as unknown as QueueSendBatchResponse);
    await runAlarm(parked.agent.object);
    expect(queue.mock.calls.map(([messages]) => [...messages])).toEqual([
      [0, 1].map((approver) => ({ body: requestFor(parked, approver) })),
    ]);
  });

  it('is not lost with the queue', async () => {
    const approvers = approversOf('down');
    const mails = watchMail(approvers);
    const parked = await unaskedRefund(approvers);
    const queue = vi.spyOn(env.QUEUE, 'sendBatch').mockRejectedValue(new Error('the queue is down'));
    await runAlarm(parked.agent.object);
    expect(await alarmOf(parked.agent.object)).toBeLessThanOrEqual(Date.now() + 10_000);
    queue.mockRestore();
    await runAlarm(parked.agent.object);
    await untilDelivered(parked, { asked: 2, sent: 2, undeliverable: 0 });
    expect(mails.toSorted()).toEqual(approvers);
  });

  it('that is delivered again sends no second mail', async () => {
    const approvers = approversOf('again');
    const mails = watchMail(approvers);
    const parked = await unaskedRefund(approvers);
    for (const _ of [1, 2]) expect(await consume('toolgate', [requestFor(parked, 0)])).toEqual([]);
    expect(mails).toEqual(approvers.slice(0, 1));
    expect(await deliveryOf(parked)).toEqual({ asked: 2, sent: 1, undeliverable: 0 });
  });

  it.each([
    ['was decided', (parked: Parked) => reject(parked)],
    ['was withdrawn', ({ agent, id }: Parked) => agent.stub().withdraw(id, 'req')],
    ['is past its time', async () => void vi.setSystemTime(Date.now() + DAY_MS)],
    ['nobody there may decide', ({ agent }: Parked) => changePolicy(agent, { approvers: ['cy@shop.test'] })],
  ] as const)('mails nobody where it %s meanwhile', async (_, happen) => {
    const approvers = approversOf('late');
    const mails = watchMail([...approvers, 'cy@shop.test']);
    const parked = await unaskedRefund(approvers);
    await happen(parked);
    expect(await consume('toolgate', [requestFor(parked, 0), requestFor(parked, 1)])).toEqual([]);
    expect(mails).toEqual([]);
  });

  it('is asked for again where one mailbox fails for now, without mailing the other twice', async () => {
    const approvers = approversOf('busy');
    const bad = { 'ana@busy.test': 'E_RATE_LIMIT_EXCEEDED' };
    const mails = watchMail(approvers, bad);
    const parked = await unaskedRefund(approvers);
    const both = [requestFor(parked, 0), requestFor(parked, 1)];
    expect(await consume('toolgate', both)).toEqual(['m0']);
    expect(await deliveryOf(parked)).toEqual({ asked: 2, sent: 1, undeliverable: 0 });
    vi.restoreAllMocks();
    const later = watchMail(approvers);
    expect(await consume('toolgate', both)).toEqual([]);
    expect([...mails, ...later]).toEqual(['bo@busy.test', 'ana@busy.test']);
  });

  it('that nobody could deliver is told as undeliverable, to hosts and operators, and can still be decided', async () => {
    const approvers = approversOf('dead');
    const parked = await unaskedRefund(approvers);
    await consume('toolgate-dead', [requestFor(parked, 1)]);
    expect(await deliveryOf(parked)).toEqual({ asked: 2, sent: 0, undeliverable: 1 });
    await runAlarm(parked.agent.object);
    const row = await env.DB.prepare('SELECT status, delivery FROM approvals WHERE approval_id = ?')
      .bind(parked.id)
      .first();
    expect(row?.['status']).toBe('pending');
    expect(JSON.parse(String(row?.['delivery']))).toMatchObject([
      { email: approvers[0], undeliverable: false },
      { email: approvers[1], undeliverable: true },
    ]);
    expect(await decide(parked, { approver: 1 })).toMatchObject({ decided: 'approved' });
  });

  it('that was mailed is not marked by a dead letter that comes after', async () => {
    const approvers = approversOf('after');
    watchMail(approvers);
    const parked = await unaskedRefund(approvers);
    await consume('toolgate', [requestFor(parked, 0)]);
    await consume('toolgate-dead', [requestFor(parked, 0)]);
    expect(await deliveryOf(parked)).toEqual({ asked: 2, sent: 1, undeliverable: 0 });
  });
});

describe('sending again', () => {
  it('mails everyone once more, with the same links, and leaves a row', async () => {
    const approvers = approversOf('more');
    const mails = watchMail(approvers);
    const parked = await parkedRefund({ approvers });
    await untilDelivered(parked, { asked: 2, sent: 2, undeliverable: 0 });
    const bits = "SELECT json_extract(approvers, '$[0].bits') AS bits FROM record";
    const before = await rowsIn(parked.agent.object, bits);
    expect(await parked.agent.stub().resend(parked.id, 'req-resend')).toBe('done');
    await vi.waitFor(() => expect(mails).toHaveLength(4), 5_000);
    expect(mails.toSorted()).toEqual([...approvers, ...approvers].toSorted());
    expect(await rowsIn(parked.agent.object, bits)).toEqual(before);
    await untilDelivered(parked, { asked: 2, sent: 2, undeliverable: 0 });
  });

  it('is refused where none of those who were asked may decide any more, and asks nobody who may not', async () => {
    const approvers = approversOf('gone');
    const mails = watchMail(approvers);
    const parked = await parkedRefund({ approvers });
    await untilDelivered(parked, { asked: 2, sent: 2, undeliverable: 0 });
    await changePolicy(parked.agent, { approvers: approvers.slice(1) });
    expect(await parked.agent.stub().resend(parked.id, 'req')).toBe('done');
    await vi.waitFor(() => expect(mails).toHaveLength(3), 5_000);
    await untilDelivered(parked, { asked: 2, sent: 2, undeliverable: 0 });
    await changePolicy(parked.agent, { approvers: ['new@shop.test'] });
    expect(await parked.agent.stub().resend(parked.id, 'req')).toBe('nobody_to_ask');
    expect(await deliveryOf(parked)).toEqual({ asked: 2, sent: 2, undeliverable: 0 });
  });

  it('and withdrawing are for what is pending, and for what exists', async () => {
    const { agent, id } = await parkedRefund();
    expect(await agent.stub().withdraw(id, 'req')).toBe('done');
    for (const operate of ['resend', 'withdraw'] as const) {
      expect(await agent.stub()[operate](id, 'req')).toBe('not_pending');
      expect(await agent.stub()[operate]('apr_nothing', 'req')).toBe('not_found');
    }
    const late = await parkedRefund();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS });
    expect(await late.agent.stub().resend(late.id, 'req')).toBe('not_pending');
  });
});
