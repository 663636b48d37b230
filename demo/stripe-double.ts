/**
 * A double of the part of Stripe's API v1 that refunds use. It keeps its own books, remembers idempotency keys with what was
 * answered, 500s included, and answers a reused key with other parameters, or while the first request runs, as Stripe does
 * (docs.stripe.com: /api/idempotent_requests, /error-low-level). Requests reach it by `handle`; serve-double.ts serves it over
 * HTTP and adds the faults of a network.
 */
const KEEP_MS = 24 * 60 * 60_000;
const MAX_PAGE = 100;
const DEFAULT_PAGE = 10;

export type Payment = { amount: number; currency: string; customer_id: string | null; disputed?: boolean };
export type Refund = {
  id: string;
  object: 'refund';
  charge: string;
  payment_intent: string | null;
  amount: number;
  currency: string;
  reason: string | null;
  status: string;
  metadata: Record<string, string>;
};
type Answered = { status: number; body: string };
/** `answer` null: the first request runs. */
type Kept = { parameters: string; at: number; answer: Answered | null };
type Act = () => Promise<Response | null>;
/** A payment by either of its names. `intent` null: a charge that was made without one. */
type Paid = { payment: Payment; charge: string; intent: string | null };

export class StripeDouble {
  /** Its books: every refund that was made, in order. */
  readonly refunds: Refund[] = [];
  /** Each request for a refund as it arrived, also those that were answered from the key or refused. */
  readonly posted: { key: string; body: string }[] = [];
  /** The status of the next refunds. */
  status = 'succeeded';
  /** How long a refund is missing from lists, in ms. */
  lagMs = 0;
  /** Runs once, before the next refund is made. What it answers is kept under the key, and no refund is made. */
  onExecute: Act | null = null;
  /** Runs once, after the next refund is made: to hold it, or to answer something else for it. That is kept under the key. */
  onExecuted: Act | null = null;
  readonly #payments = new Map<string, Payment>();
  readonly #kept = new Map<string, Kept>();
  readonly #madeAt = new Map<string, number>();

  /** Adds or changes a payment. `pi_…` has the charge `ch_…` of the same letters; `ch_…` is a charge without an intent. */
  pay(id: string, payment: Payment): void {
    this.#payments.set(id, payment);
  }

  /** What was refunded of a payment, by either of its names. */
  refundedOf = (id: string): number =>
    this.refunds
      .filter(({ charge, payment_intent }) => charge === id || payment_intent === id)
      .filter(({ status }) => status !== 'failed' && status !== 'canceled')
      .reduce((sum, { amount }) => sum + amount, 0);

  /** How many refunds each idempotency key made. */
  effectsByKey = (): Map<string, number> => {
    const effects = new Map<string, number>();
    for (const { metadata } of this.refunds) {
      const key = metadata['toolgate_key'] ?? '';
      effects.set(key, (effects.get(key) ?? 0) + 1);
    }
    return effects;
  };

  /** As if the keys had been pruned. */
  forgetKeys = (): void => this.#kept.clear();

  handle = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.headers.get('authorization')?.startsWith('Bearer sk_') !== true)
      return failed(401, { message: 'Invalid API Key provided' });
    const [, kind, id = ''] = /^\/v1\/(charges|payment_intents)\/(\w+)$/.exec(pathname) ?? [];
    if (kind !== undefined) return this.#payment(kind, id, searchParams.getAll('expand[]'));
    if (pathname !== '/v1/refunds') return failed(404, { message: 'Unrecognized request URL' });
    return request.method === 'GET' ? this.#list(searchParams) : this.#create(request);
  };

  #find(id: string): Paid | null {
    const own = this.#payments.get(id);
    const isIntent = id.startsWith('pi_');
    if (own !== undefined) return { payment: own, charge: chargeOf(id), intent: isIntent ? id : null };
    const intent = id.replace(/^ch_/, 'pi_');
    const payment = this.#payments.get(intent);
    return isIntent || payment === undefined ? null : { payment, charge: id, intent };
  }

  #payment(kind: string, id: string, expand: string[]): Response {
    const paid = this.#find(id);
    const isIntent = kind === 'payment_intents';
    if (paid === null || id.startsWith('pi_') !== isIntent) return missing(id);
    const { amount, currency, customer_id, disputed = false } = paid.payment;
    const metadata = customer_id === null ? {} : { customer_id };
    const charge = {
      ...{ id: paid.charge, object: 'charge', currency, disputed, metadata, payment_intent: paid.intent },
      ...{ amount, amount_captured: amount, amount_refunded: this.refundedOf(paid.charge) },
    };
    const intent = { id: paid.intent, object: 'payment_intent', amount, currency, metadata, latest_charge: charge.id };
    if (isIntent)
      return Response.json(expand.includes('latest_charge') ? { ...intent, latest_charge: charge } : intent);
    const isExpanded = paid.intent !== null && expand.includes('payment_intent');
    return Response.json(isExpanded ? { ...charge, payment_intent: intent } : charge);
  }

  #list(query: URLSearchParams): Response {
    const found = this.refunds
      .filter(({ charge }) => (query.has('charge') ? charge === query.get('charge') : true))
      .filter(({ payment_intent }) =>
        query.has('payment_intent') ? payment_intent === query.get('payment_intent') : true,
      )
      .filter(({ id }) => Date.now() >= (this.#madeAt.get(id) ?? 0) + this.lagMs);
    const limit = Math.min(Number(query.get('limit') ?? DEFAULT_PAGE), MAX_PAGE);
    return Response.json({ object: 'list', has_more: found.length > limit, data: found.toReversed().slice(0, limit) });
  }

  async #create(request: Request): Promise<Response> {
    const key = request.headers.get('idempotency-key') ?? '';
    const body = await request.text();
    this.posted.push({ key, body });
    const kept = this.#kept.get(key);
    if (kept === undefined || Date.now() > kept.at + KEEP_MS) return this.#executeOnce(key, body);
    if (kept.parameters !== body) return failed(400, { message: 'other parameters' }, 'idempotency_error');
    if (kept.answer === null) return failed(409, { code: 'idempotency_key_in_use' }, 'idempotency_error');
    return responseOf(kept.answer, { 'idempotent-replayed': 'true' });
  }

  /** What fails validation is not kept under the key. */
  async #executeOnce(key: string, body: string): Promise<Response> {
    const form = new URLSearchParams(body);
    const id = form.get('payment_intent') ?? form.get('charge') ?? '';
    const paid = this.#find(id);
    if (paid === null || id.startsWith('pi_') !== form.has('payment_intent')) return missing(id);
    if (paid.payment.disputed === true) return failed(400, { code: 'charge_disputed' });
    const left = paid.payment.amount - this.refundedOf(paid.charge);
    if (left === 0) return failed(400, { code: 'charge_already_refunded' });
    // Stripe gives this one no code.
    if (Number(form.get('amount')) > left) return failed(400, { param: 'amount' });
    const running: Kept = { parameters: body, at: Date.now(), answer: null };
    this.#kept.set(key, running);
    const answer = await this.#execute(paid, form);
    running.answer = { status: answer.status, body: await answer.text() };
    return responseOf(running.answer);
  }

  async #execute({ payment, charge, intent }: Paid, form: URLSearchParams): Promise<Response> {
    const [before, after] = [this.onExecute, this.onExecuted];
    this.onExecute = null;
    const instead = await before?.();
    if (instead != null) return instead;
    this.onExecuted = null;
    const refund: Refund = {
      ...{
        id: `re_${this.refunds.length + 1}double`,
        object: 'refund',
        status: this.status,
        currency: payment.currency,
      },
      ...{ charge, payment_intent: intent, amount: Number(form.get('amount')), reason: form.get('reason') },
      metadata: { toolgate_key: form.get('metadata[toolgate_key]') ?? '' },
    };
    this.refunds.push(refund);
    this.#madeAt.set(refund.id, Date.now());
    return (await after?.()) ?? Response.json(refund);
  }
}

const responseOf = ({ status, body }: Answered, headers: Record<string, string> = {}): Response =>
  new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });

const chargeOf = (id: string): string => id.replace(/^pi_/, 'ch_');

const failed = (status: number, error: Record<string, string>, type = 'invalid_request_error'): Response =>
  Response.json({ error: { type, message: 'refused by the double', ...error } }, { status });

const missing = (id: string): Response => failed(404, { code: 'resource_missing', message: `No such payment: ${id}` });
