/** From a risky call to money moved: the real object, queue, mail, link and page. */
import { env, exports } from 'cloudflare:workers';
import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { shownOf } from '../support/shown.ts';
import {
  APPROVERS,
  ledgerOf,
  newAgent,
  newOrder,
  outcomeOf,
  POLLING,
  refund,
  type Agent,
  moved,
} from '../support/session.ts';

const ORIGIN = 'https://toolgate.test';

/** Mails by their address, as the mail service was handed them. */
function watchMail() {
  const mails = new Map<unknown, EmailMessageBuilder>();
  vi.spyOn(env.EMAIL, 'send').mockImplementation((mail: EmailMessage | EmailMessageBuilder) => {
    mails.set(mail.to, mail as EmailMessageBuilder);
    return Promise.resolve({ messageId: 'sent' });
  });
  return mails;
}
afterEach(() => vi.restoreAllMocks());

const linkIn = (mail: EmailMessageBuilder | undefined): string => /https:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? '';

/** A parked refund of a new order, of which the approvers were mailed. */
async function parkedRefund() {
  const mails = watchMail();
  const order = await newOrder();
  const agent = await newAgent();
  const { approval } = outcomeOf(await agent.call('refund_order', refund(order)));
  await runDurableObjectAlarm(env.SESSION.getByName(agent.object));
  await vi.waitFor(() => expect(new Set(mails.keys())).toEqual(new Set(APPROVERS)), 5_000);
  return { mails, order, agent, id: approval?.id ?? '' };
}

const stateOf = async ({ agent, id }: { agent: Agent; id: string }) => agent.stub().approval(agent.uid, id, 0);
const open = (link: string, init: RequestInit = {}): Promise<Response> =>
  exports.default.fetch(new Request(link, { redirect: 'manual', ...init }));
const decide = (link: string, form: Record<string, string>): Promise<Response> =>
  open(link, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(form)),
  });
const approve = (order: string) => ({ decision: 'approve', phrase: '25,90 brl', note: '', shown: shownOf(order) });

describe('an approval by mail', () => {
  it('mails every approver a link of their own and counts the mails', async () => {
    const parked = await parkedRefund();
    const links = APPROVERS.map((address) => linkIn(parked.mails.get(address)));
    expect(new Set(links).size).toBe(2);
    for (const link of links) expect(link.startsWith(`${ORIGIN}/approvals/${parked.id}?t=`)).toBe(true);
    await vi.waitFor(
      async () => expect(await stateOf(parked)).toMatchObject({ delivery: { asked: 2, sent: 2, undeliverable: 0 } }),
      POLLING,
    );
  });

  it('moves the money once when the form is posted, and then shows the result to both', async () => {
    const { mails, order } = await parkedRefund();
    const [anas, bos] = APPROVERS.map((address) => linkIn(mails.get(address)));
    expect((await open(anas ?? '')).status).toBe(200);
    expect(await ledgerOf(order)).toMatchObject({ refunded_cents: 0, applied: 0 });

    const decided = await decide(anas ?? '', approve(order));
    expect(decided.status).toBe(303);
    expect(new URL(decided.headers.get('location') ?? '', ORIGIN).href).toBe(anas);
    expect(await ledgerOf(order)).toMatchObject({ refunded_cents: 2590, applied: 1 });

    expect((await decide(bos ?? '', approve(order))).status).toBe(409);
    expect(await ledgerOf(order)).toMatchObject({ refunded_cents: 2590, applied: 1 });
    expect(await (await open(anas ?? '')).text()).toContain('It was approved by you');
    expect(await (await open(bos ?? '')).text()).toContain('It was approved by another approver');
  });

  it('decides nothing when an approver only opens the page', async () => {
    const parked = await parkedRefund();
    const link = linkIn(parked.mails.get(APPROVERS[0] ?? ''));
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT']) await (await open(link, { method })).text();
    expect((await open(link, { method: 'POST' })).status).toBe(403);
    expect(await stateOf(parked)).toMatchObject({ status: 'pending' });
  });

  it('asks again if the order was refunded meanwhile', async () => {
    const { mails, order } = await parkedRefund();
    const link = linkIn(mails.get(APPROVERS[0] ?? ''));
    await moved(order, 1_000);
    const answer = await decide(link, approve(order));
    expect(answer.status).toBe(409);
    const text = (await answer.text()).replaceAll(/<[^>]*>/g, '');
    expect(text).toContain('Refunded so far10.00 BRL (changed since you opened the page)');
    expect(text).toContain('Order total120.00 BRLRefunded');
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 1000, applied: 1, voids: 0 });
  });

  it('mails the other approver where one mailbox fails for good, and marks the bad one', async () => {
    const [bad, good] = APPROVERS;
    const agent = await newAgent();
    const sent: unknown[] = [];
    vi.spyOn(env.EMAIL, 'send').mockImplementation((mail: EmailMessage | EmailMessageBuilder) => {
      if (mail.to === bad) return Promise.reject(Object.assign(new Error('no'), { code: 'E_RECIPIENT_SUPPRESSED' }));
      sent.push(mail.to);
      return Promise.resolve({ messageId: 'sent' });
    });
    const { approval } = outcomeOf(await agent.call('refund_order', refund(await newOrder())));
    await runDurableObjectAlarm(env.SESSION.getByName(agent.object));
    const parked = { agent, id: approval?.id ?? '' };
    await vi.waitFor(
      async () => expect(await stateOf(parked)).toMatchObject({ delivery: { asked: 2, sent: 1, undeliverable: 1 } }),
      POLLING,
    );
    expect(sent).toEqual([good]);
  });
});
