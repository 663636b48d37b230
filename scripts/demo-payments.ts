/**
 * The demo's second part: a refund in somebody else's system. A double of Stripe refunds a payment and loses the answer; the
 * gate settles the refund by itself, and the double's own books show one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { serveDouble, type DoubleServer } from '../demo/serve-double.ts';
import { StripeDouble } from '../demo/stripe-double.ts';
import { askJson } from './answer.ts';
import { tableHead, tableRow } from './demo-table.ts';

const PAYMENT = 'pi_3Qdemopayment';
const REFUND = { payment: PAYMENT, amount: 800, currency: 'USD', reason: 'requested_by_customer' };
const SETTLE_LIMIT_MS = 30_000;

const outcome = z.object({ code: z.string(), replayed: z.boolean() });
const effects = z.object({ rows: z.array(z.unknown()) });

export type PaymentsDemo = { double: StripeDouble; server: DoubleServer; variables: Record<string, string> };

/** Starts the double on a port of this machine, with one payment of 50.00 by customer CUS-1. */
export async function preparePayments(): Promise<PaymentsDemo> {
  const double = new StripeDouble();
  double.pay(PAYMENT, { amount: 5_000, currency: 'usd', customer_id: 'CUS-1' });
  const server = await serveDouble(double.handle);
  return { double, server, variables: { STRIPE_ORIGIN: server.url, STRIPE_ACCOUNT: 'demo', STRIPE_SECRET: 'sk_demo' } };
}

type At = { url: string; adminToken: string; apiKey: string };

export async function playPayments({ url, adminToken, apiKey }: At, { double, server }: PaymentsDemo): Promise<void> {
  const session = { customer_id: 'CUS-1', session_id: 'demo-payments' };
  const { token } = z.object({ token: z.string() }).parse(await askJson(`${url}/v1/sessions`, apiKey, session));
  console.log(
    `\nNow a refund in another system: a double of Stripe on ${server.url}, which makes the refund and loses its answer.\n\n${tableHead('the double')}`,
  );
  let number = 0;
  const propose = async (says: string, args: typeof REFUND): Promise<void> => {
    const before = double.refunds.length;
    const call = { tool: 'refund_payment', arguments: args };
    const told = outcome.parse(await askJson(`${url}/v1/calls`, token, call));
    const made = double.refunds.length - before;
    number += 1;
    const row = { says, ...call };
    console.log(tableRow(number, row, { ...told, fromRecord: told.replayed }, made === 0 ? '—' : 'refunded once'));
  };

  server.plan('POST /v1/refunds', { kind: 'lost after' });
  server.plan('GET /v1/refunds', { kind: 'answer', status: 503, body: '' });
  await propose('refunds 8.00; the answer is lost, and so is the look-up', REFUND);
  await propose('tries another amount meanwhile', { ...REFUND, amount: 900 });
  const waited = await untilSettled(() => askJson(`${url}/admin/effects`, adminToken));
  console.log(`     ► nobody does anything: the gate looks the refund up and settles it (${waited} s)`);
  await propose('asks again', REFUND);
  console.log(booksOf(double));
}

/** Seconds until no effect is unknown. */
async function untilSettled(list: () => Promise<unknown>): Promise<number> {
  const begun = Date.now();
  while (effects.parse(await list()).rows.length > 0) {
    if (Date.now() > begun + SETTLE_LIMIT_MS) throw new Error('the refund was not settled within 30 seconds');
    await sleep(250);
  }
  return Math.round((Date.now() - begun) / 1_000);
}

function booksOf({ refunds, posted }: StripeDouble): string {
  const keys = new Set(posted.map(({ key }) => key)).size;
  const lines = refunds.map(
    ({ id, payment_intent, amount }) => `  ${id}  ${payment_intent}  ${(amount / 100).toFixed(2)}`,
  );
  return `\nThe double's own books: ${refunds.length} refund, ${posted.length} request, ${keys} key.\n${lines.join('\n')}`;
}
