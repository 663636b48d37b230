/**
 * A double of the part of Stripe's API v1 that refunds use. It keeps its own books, remembers idempotency keys with what was
 * answered, 500s included, and answers a reused key with other parameters, or while the first request runs, as Stripe does.
 */
const KEEP_MS = 24 * 60 * 60_000;
const PAGE = 100;

export type Payment = { amount: number; currency: string; customer_id: string; disputed?: boolean; intent?: boolean };
export type Refund = {
  id: string;
  object: 'refund';
  charge: string;
  payment_intent: string | null;
  amount: number;
  currency: string;
  status: string;
  metadata: Record<string, string>;
};
type Answered = { status: number; body: string };
/** `answer` null: the first request runs. */
type Kept = { parameters: string; at: number; answer: Answered | null };

export class StripeDouble {
  readonly refunds: Refund[] = [];
  /** Requests that made or repeated a refund, with their keys. */
  readonly posted: { key: string; body: string }[] = [];
  /** The status of the next refunds. */
  status = 'succeeded';
  /** How long a refund is missing from lists, in ms. */
  lagMs = 0;
  /** Runs within the next execution, after the refund is made: to hold it, or to answer 500 for it. */
  onExecuted: (() => Promise<Response | null>) | null = null;
  readonly #payments = new Map<string, Payment>();
  readonly #kept = new Map<string, Kept>();
  readonly #madeAt = new Map<string, number>();

  /** A payment of this id: `pi_…` has a charge of its own, `ch_…` is a charge without an intent. */
  pay(id: string, payment: Payment): void {
    this.#payments.set(id, payment);
  }

  refundedOf = (id: string): number =>
    this.refunds
      .filter(({ charge, payment_intent, status }) => [charge, payment_intent].includes(id) && status !== 'failed')
      .reduce((sum, { amount }) => sum + amount, 0);

  /** As if the key had been pruned. */
  forgetKeys = (): void => this.#kept.clear();

  handle = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.headers.get('authorization')?.startsWith('Bearer sk_') !== true) return failed(401, 'api_key_invalid');
    const [, kind, id = ''] = /^\/v1\/(charges|payment_intents)\/(\w+)$/.exec(pathname) ?? [];
    if (kind !== undefined) return this.#payment(kind, id);
    if (pathname !== '/v1/refunds') return failed(404, 'resource_missing');
    return request.method === 'GET' ? this.#list(searchParams) : this.#create(request);
  };

  #payment(kind: string, id: string): Response {
    const payment = this.#payments.get(id);
    if (payment === undefined || id.startsWith('pi_') !== (kind === 'payment_intents'))
      return failed(404, 'resource_missing');
    const { amount, currency, customer_id, disputed = false } = payment;
    const isIntent = kind === 'payment_intents';
    const metadata = { customer_id };
    const charge = {
      ...{ id: isIntent ? chargeOf(id) : id, object: 'charge', currency, disputed, metadata },
      ...{ amount, amount_captured: amount, amount_refunded: this.refundedOf(id) },
      payment_intent: isIntent ? id : null,
    };
    return Response.json(isIntent ? { id, object: 'payment_intent', metadata, latest_charge: charge } : charge);
  }

  #list(query: URLSearchParams): Response {
    const of = query.get('payment_intent') ?? query.get('charge');
    const found = this.refunds.filter(
      ({ id, charge, payment_intent }) =>
        [charge, payment_intent].includes(of) && Date.now() >= (this.#madeAt.get(id) ?? 0) + this.lagMs,
    );
    return Response.json({ object: 'list', has_more: found.length > PAGE, data: found.toReversed().slice(0, PAGE) });
  }

  async #create(request: Request): Promise<Response> {
    const key = request.headers.get('idempotency-key') ?? '';
    const body = await request.text();
    this.posted.push({ key, body });
    const kept = this.#kept.get(key);
    if (kept === undefined || Date.now() > kept.at + KEEP_MS) return this.#executeOnce(key, body);
    if (kept.parameters !== body) return failed(400, 'idempotency_error', 'idempotency_error');
    return kept.answer === null ? failed(409, 'idempotency_key_in_use') : responseOf(kept.answer);
  }

  /** What fails validation is not kept under the key. */
  async #executeOnce(key: string, body: string): Promise<Response> {
    const form = new URLSearchParams(body);
    const id = form.get('payment_intent') ?? form.get('charge') ?? '';
    const payment = this.#payments.get(id);
    if (payment === undefined) return failed(404, 'resource_missing');
    if (payment.disputed === true) return failed(400, 'charge_disputed');
    const left = payment.amount - this.refundedOf(id);
    if (left === 0) return failed(400, 'charge_already_refunded');
    if (Number(form.get('amount')) > left) return failed(400, 'amount_too_large');
    const running: Kept = { parameters: body, at: Date.now(), answer: null };
    this.#kept.set(key, running);
    const answer = await this.#execute(id, payment, form);
    running.answer = { status: answer.status, body: await answer.text() };
    return responseOf(running.answer);
  }

  async #execute(id: string, { currency }: Payment, form: URLSearchParams): Promise<Response> {
    const isIntent = id.startsWith('pi_');
    const refund: Refund = {
      ...{ id: `re_${this.refunds.length + 1}double`, object: 'refund', status: this.status, currency },
      ...{ charge: isIntent ? chargeOf(id) : id, payment_intent: isIntent ? id : null },
      amount: Number(form.get('amount')),
      metadata: { toolgate_key: form.get('metadata[toolgate_key]') ?? '' },
    };
    this.refunds.push(refund);
    this.#madeAt.set(refund.id, Date.now());
    const act = this.onExecuted;
    this.onExecuted = null;
    return (await act?.()) ?? Response.json(refund);
  }
}

const responseOf = ({ status, body }: Answered): Response =>
  new Response(body, { status, headers: { 'content-type': 'application/json' } });

const chargeOf = (intent: string): string => intent.replace(/^pi_/, 'ch_');

const failed = (status: number, code: string, type = 'invalid_request_error'): Response =>
  Response.json({ error: { type, code, message: 'double' } }, { status });
