/**
 * Effects in another system, from outside: the real Worker, a double of Stripe on loopback, and every fault of HTTP between
 * them. What counts is that the double's own books show one refund, and that everybody was told the truth.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { serveDouble, type DoubleServer, type HttpFault } from '../../demo/serve-double.ts';
import { StripeDouble } from '../../demo/stripe-double.ts';
import { approveOnPage, linkInMail } from '../../scripts/demo-approval.ts';
import { startWorker } from '../../scripts/local-worker.ts';
import { isWhole } from '../support/whole.ts';
import { freshWorker, type OwnClient } from './client.ts';

const FAULTS: [what: string, fault: HttpFault][] = [
  ['is lost on its way', { kind: 'lost' }],
  ['is done, and its connection closed', { kind: 'lost after' }],
  ['is done, and never answered', { kind: 'hangs after' }],
  ['is never answered', { kind: 'hangs' }],
  ['is delivered twice', { kind: 'doubled' }],
  ['is done three seconds after its connection was closed', { kind: 'late', ms: 3_000 }],
  ['is done, and answered 500', { kind: 'answer after', status: 500, body: '{}' }],
  ['is done, and answered 401', { kind: 'answer after', status: 401, body: '{}' }],
  ['is done, and answered with a page', { kind: 'answer after', status: 200, body: '<html>' }],
  ['is done, and answered with 1 MiB', { kind: 'answer after', status: 200, body: 'x'.repeat(1_048_576) }],
  ['is refused with 401 before its key is looked up', { kind: 'answer', status: 401, body: '{}' }],
  ['is refused with 429', { kind: 'answer', status: 429, body: '{}' }],
  ['is reset on its way', { kind: 'reset' }],
  ['is done, and its connection reset by the other side', { kind: 'reset after' }],
];
const MOMENTS = ['a call', 'a decision', 'the alarm'] as const;
type Moment = (typeof MOMENTS)[number];

const double = new StripeDouble();
let server: DoubleServer;
let client: OwnClient;
let payments = 0;

beforeAll(async () => {
  server = await serveDouble(double.handle);
  const variables = { STRIPE_ORIGIN: server.url, STRIPE_ACCOUNT: 'test', STRIPE_SECRET: 'sk_test' };
  client = await freshWorker((options) => startWorker({ ...options, variables }));
});
afterAll(async () => {
  await client.stop();
  await server.stop();
});

type Told = { code: string; approval?: { id: string } };

/** A payment of its own, and a session that may refund it. */
async function begin(confirm_above_cents: number) {
  const payment = `pi_${String((payments += 1)).padStart(12, '0')}`;
  double.pay(payment, { amount: 10_000, currency: 'usd', customer_id: 'CUS-1' });
  const caller = await client.newCaller({ allowed_tools: ['refund_payment'], confirm_above_cents });
  const { token } = await client.newSession({ customer_id: 'CUS-1' }, caller);
  const args = { payment, amount: 2_590, currency: 'USD', reason: 'requested_by_customer' };
  const call = async (): Promise<Told> => {
    const { json } = await client.call(token, { tool: 'refund_payment', arguments: args });
    return json as Told;
  };
  return { payment, call };
}

async function meetFault(fault: HttpFault, moment: Moment): Promise<void> {
  const { payment, call } = await begin(moment === 'a decision' ? 0 : 50_000);
  if (moment === 'the alarm') server.plan('POST /v1/refunds', payment, { kind: 'lost' });
  server.plan('POST /v1/refunds', payment, fault);
  // The look-up of the call or the decision does not answer either, so that the alarm has work.
  server.plan('GET /v1/refunds', payment, { kind: 'answer', status: 503, body: '' });
  const first = await call();
  if (first.approval !== undefined) await approveOnPage(await linkInMail(client.worker, first.approval.id), '25.90');
  if (first.code === 'OK') expect(double.refundedOf(payment), 'told OK').toBe(2_590);
  await vi.waitFor(async () => expect((await call()).code).toBe('OK'), { timeout: 45_000, interval: 1_000 });
  expect(double.refundedOf(payment)).toBe(2_590);
}

/** `npm test` meets a few that answer at once; `npm run test:whole` meets all. */
const met = isWhole ? FAULTS : FAULTS.filter(([, { kind }]) => !kind.startsWith('hangs')).slice(0, 3);

describe.each(MOMENTS)('in %s', (moment) => {
  it.concurrent.each(met)('one refund is made, and told, where the request %s', (_what, fault) =>
    meetFault(fault, moment),
  );
});

it('settles a lost answer by itself within 30 seconds, with one key and the same bytes', async () => {
  const { payment, call } = await begin(50_000);
  server.plan('POST /v1/refunds', payment, { kind: 'lost after' });
  server.plan('GET /v1/refunds', payment, { kind: 'answer', status: 503, body: '' });
  expect((await call()).code).toBe('UPSTREAM_UNAVAILABLE');
  const begun = Date.now();
  await vi.waitFor(
    async () => {
      const { json } = await client.send('/admin/effects', { credential: client.worker.adminToken });
      expect(JSON.stringify(json)).not.toContain(payment);
    },
    { timeout: 30_000, interval: 250 },
  );
  expect(Date.now() - begun).toBeLessThan(30_000);
  const requests = double.posted.filter(({ body }) => body.includes(payment));
  expect(new Set(requests.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(double.refundedOf(payment)).toBe(2_590);
});
