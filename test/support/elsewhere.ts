/** Effects in another system for the crash matrix: refunds of payments at a double of Stripe, which the Worker reaches by `fetch`. */
import type { Policy } from '../../src/gate/ports.ts';
import { effectKeyOf } from '../../src/gate/pipeline/effect-key.ts';
import { StripeDouble } from '../../demo/stripe-double.ts';
import { watch, type FaultName } from './awaits.ts';
import { toldBy, UNASKED, wordBy, type Begun } from './begun.ts';
import { decisionOn, parks, wordOf } from './effects.ts';
import { rowsIn } from './inside.ts';
import { newAgent, type Agent } from './session.ts';
import { digestsOf } from '../../src/gate/tool/facts.ts';

export const stripe = new StripeDouble();

/** What becomes of one request on its way to the double and back. */
export type NetworkFault = (go: () => Promise<Response>) => Promise<Response>;
export const lost: NetworkFault = () => Promise.reject(new TypeError('fetch failed'));
export const lostAfter: NetworkFault = async (go) => (await go(), lost(go));

/** `planned`: faults of the next requests that are no check of the tool, in order. */
export const network = { planned: [] as NetworkFault[], requests: 0 };

/** Puts the double in the place of the network. Stand at the doors after it, so that what passes is seen. */
export function reachDouble(): void {
  [network.planned, network.requests] = [[], 0];
  globalThis.fetch = (input, { method = 'GET', headers = {}, body = null } = {}) => {
    // Without the signal: what lands late must outlive the object that sent it.
    const request = new Request(input, { method, headers, body });
    const go = () => stripe.handle(request);
    network.requests += 1;
    const isCheck = request.url.includes('/v1/payment_intents');
    return (isCheck ? undefined : network.planned.shift())?.(go) ?? go();
  };
}

export type Elsewhere = Begun & { payment: string };

let payments = 0;
const refundOf = (payment: string) => ({
  payment,
  amount: 2_590,
  currency: 'USD',
  reason: 'requested_by_customer',
});

/** A payment of its own, and an agent that may refund it. The payment is what the ledger calls the subject. */
export async function elsewhere(policy: Partial<Policy> = UNASKED): Promise<Elsewhere> {
  const payment = `pi_${String((payments += 1)).padStart(12, '0')}`;
  stripe.pay(payment, { amount: 10_000, currency: 'usd', customer_id: 'CUS-1' });
  const agent = await newAgent({ ...UNASKED, ...policy, allowed_tools: ['refund_payment'] });
  const ask = (call_id: string) => toldBy(agent.call('refund_payment', refundOf(payment), call_id));
  return { agent, order: payment, payment, ask, begin: () => ask('same') };
}

/** As if the clock had moved for this session alone: what the alarm waits for is due. */
export const passTime = ({ object }: Agent, ms = 10_000): Promise<unknown> =>
  rowsIn(object, 'UPDATE record SET last_send_at = last_send_at - ?', ms);

/** An effect that was sent, and of which nobody knows what became: the call's own look-up meets the same fault. */
export async function unknownElsewhere(fault: FaultName = 'is done, and its answer is lost'): Promise<Elsewhere> {
  const ready = await elsewhere();
  let isSent = false;
  const strikes = (label: string): boolean => (isSent ||= label === 'network: POST') && label.startsWith('network');
  watch(ready.agent.object).plan = { strikes, fault, times: 2 };
  await ready.ask('earlier');
  return ready;
}

export const effectKeyIn = async ({ object }: Agent): Promise<string> => {
  const [row] = await rowsIn(object, 'SELECT key, attempt FROM record ORDER BY round DESC');
  return effectKeyOf({ key: String(row?.['key']), attempt: Number(row?.['attempt']) });
};

/** A refund that waits for a person, about to be approved. */
export async function decidingElsewhere(): Promise<Elsewhere> {
  const ready = await elsewhere({ confirm_above_cents: 0 });
  const { agent, payment } = ready;
  const id = await parks(agent, refundOf(payment), 'refund_payment');
  const decision = await decisionOn(agent, id, { shown: '' });
  const seen = await agent.stub().view(decision);
  if ('refused' in seen) throw new Error(seen.refused);
  const { phrase, facts } = seen.view;
  const given = { ...decision, phrase, shown: digestsOf(facts ?? []) };
  return { ...ready, begin: () => wordBy(agent.stub().decide(given), wordOf) };
}

/** What an operator found at the other system. */
export const foundThere = ({ payment }: Elsewhere) =>
  ({
    applied: true,
    external_id: 're_1double',
    answer: { refund_id: 're_1double', payment, amount: 2_590, currency: 'USD', status: 'succeeded' },
    evidence: 'seen in the list of refunds',
  }) as const;

/** A request to the object about an unknown effect. */
export const aboutUnknown =
  (asked: (ready: Elsewhere, effectKey: string) => Promise<unknown>) => async (): Promise<Begun> => {
    const ready = await unknownElsewhere();
    const key = await effectKeyIn(ready.agent);
    return {
      ...ready,
      begin: () => wordBy(asked(ready, key), (answer) => JSON.stringify(answer) ?? 'done'),
    };
  };
