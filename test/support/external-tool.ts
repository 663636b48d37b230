/**
 * Another company's API and tools for it, one for each class of recipe. The API is what a `fetch` reaches: it keeps its own
 * books, remembers idempotency keys, looks up by reference, and does what a test says to one request after the other.
 */
import * as z from 'zod';
import { defineBackend, defineTool } from '../../src/gate/index.ts';
import type { Tool } from '../../src/gate/tool/define-tool.ts';

export type RecipeClass = 'key and look-up' | 'key only' | 'look-up only' | 'neither';
export const CLASSES: readonly RecipeClass[] = ['key and look-up', 'key only', 'look-up only', 'neither'];

export const QUIET_MS = 900_000;
export const LAG_MS = 60_000;
const KEEP_MS = 24 * 60 * 60_000;
export const VARIABLES = { SHOP_ORIGIN: 'https://shop.test', SHOP_ACCOUNT: 'acct', SHOP_SECRET: 'secret' };

const effect = z.object({ id: z.string(), reference: z.string(), cents: z.int(), state: z.string() });

/** `move_money` over an API of this class; a card may move 100.00 in all. */
export function toolOf(kind: RecipeClass, refusals: 'kept' | 'not_kept' = 'not_kept', version = '1'): Tool {
  const isKeyed = kind === 'key and look-up' || kind === 'key only';
  const backend = defineBackend({
    name: 'shop',
    version,
    env: { origin: 'SHOP_ORIGIN', account: 'SHOP_ACCOUNT', secret: 'SHOP_SECRET' },
    authorize: (secret) => ({ authorization: `Bearer ${secret}` }),
    key: isKeyed ? { header: 'Idempotency-Key', max: 64 } : null,
    keepMs: KEEP_MS,
    refusals: isKeyed ? refusals : 'not_kept',
    quietMs: QUIET_MS,
  });
  return defineTool({
    name: 'move_money',
    description: 'Moves money of one card.',
    risky: true,
    input: z.strictObject({ card: z.string().regex(/^card-\d+$/), amount_cents: z.int().positive() }),
    output: z.strictObject({ id: z.string().regex(/^eff_\d+$/), cents: z.int() }),
    codes: { CARD_NOT_FOUND: () => 'No such card.', LIMIT_REACHED: () => 'The card has no more.' },
    async check({ card }, { api }) {
      const { status, json } = await api.get(`/cards/${card}`);
      if (status === 404) return { ok: false, code: 'CARD_NOT_FOUND', facts: {} };
      return { ok: true, seen: { limit_cents: z.object({ limit: z.int() }).parse(json).limit } };
    },
    effect: {
      backend,
      money: ({ amount_cents }) => ({ amount_cents, currency: 'USD' }),
      subject: ({ card }) => card,
      ceiling: { cents: ({ limit_cents }) => limit_cents, code: 'LIMIT_REACHED' },
      request: ({ card, amount_cents }, { key }) => ({
        method: 'POST',
        path: '/effects',
        body: { json: { card, cents: amount_cents, reference: key } },
      }),
      read(item) {
        const { data } = effect.safeParse(item);
        if (data === undefined) return 'unknown';
        if (data.state === 'failed') return { refused: 'LIMIT_REACHED' };
        return { applied: { id: data.id, data: { id: data.id, cents: data.cents } } };
      },
      refusal: ({ status }) => (status === 422 ? { refused: 'LIMIT_REACHED' } : 'unknown'),
      lookup:
        kind === 'key only' || kind === 'neither'
          ? null
          : {
              lagMs: LAG_MS,
              path: (_input, { key }) => `/effects?reference=${key}`,
              find: ({ items }, key) =>
                z
                  .array(effect)
                  .parse(items)
                  .find(({ reference }) => reference === key) ?? 'absent',
            },
    },
  });
}

type Effect = z.output<typeof effect> & { card: string; at: number };
export type Trip = { method: string; path: string; key: string | null; body: string };
type Go = (request: Request) => Promise<Response>;
/** What becomes of one request on its way to the API and back. */
export type ApiFault = (go: Go, request: Request) => Promise<Response>;

/** It is done, and the answer is lost. */
export const losesAnswer: ApiFault = async (go, request) => {
  await go(request);
  throw new TypeError('fetch failed');
};
/** It never gets there. */
export const neverArrives: ApiFault = () => Promise.reject(new TypeError('fetch failed'));
/** It is done, and the answer is this status. */
export const answersAfter =
  (status: number, body = '{}'): ApiFault =>
  async (go, request) => {
    await go(request);
    return new Response(body, { status });
  };
/** Nothing is done, and the answer is this status. */
export const answersInstead =
  (status: number, body = '{}'): ApiFault =>
  async () =>
    new Response(body, { status });

export class ShopApi {
  readonly effects: Effect[] = [];
  readonly trips: Trip[] = [];
  /** Faults of the next requests by method, in order. */
  readonly faults: { GET: ApiFault[]; POST: ApiFault[] } = { GET: [], POST: [] };
  /** While set, every request meets it. */
  always: ApiFault | null = null;
  limitCents = 10_000;
  lagMs = 0;
  readonly #now: () => number;
  readonly #kept = new Map<string, { body: string; status: number; answer: string; at: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    const { pathname, search } = new URL(url);
    const method = request.method === 'GET' ? 'GET' : 'POST';
    const key = request.headers.get('idempotency-key');
    this.trips.push({ method, path: pathname + search, key, body: await request.clone().text() });
    const isFault = method === 'POST' || pathname === '/effects';
    const fault = this.always ?? (isFault ? this.faults[method].shift() : undefined);
    return fault === undefined ? this.serve(request) : fault((sent) => this.serve(sent), request);
  };

  /** The same as if the request had been on its way until now. */
  land = (trip: Trip): Promise<Response> =>
    this.serve(
      new Request(`https://shop.test${trip.path}`, {
        method: trip.method,
        body: trip.body,
        headers: trip.key === null ? {} : { 'idempotency-key': trip.key },
      }),
    );

  /** Answers a request that arrived. */
  async serve(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith('/cards/')) return Response.json({ limit: this.limitCents });
    if (request.method === 'GET') return Response.json({ items: this.#find(searchParams.get('reference') ?? '') });
    const body = await request.text();
    const key = request.headers.get('idempotency-key');
    const kept = key === null ? undefined : this.#kept.get(key);
    if (kept !== undefined && this.#now() < kept.at + KEEP_MS)
      return kept.body === body
        ? new Response(kept.answer, { status: kept.status })
        : new Response('{}', { status: 400 });
    const { status, answer } = this.#execute(body);
    if (key !== null && status === 201) this.#kept.set(key, { body, status, answer, at: this.#now() });
    return new Response(answer, { status });
  }

  #find = (reference: string): Effect[] =>
    this.effects.filter((each) => each.reference === reference && this.#now() >= each.at + this.lagMs);

  #execute(body: string): { status: number; answer: string } {
    const { card, cents, reference } = z
      .object({ card: z.string(), cents: z.int(), reference: z.string() })
      .parse(JSON.parse(body));
    const moved = this.effects.filter((each) => each.card === card).reduce((sum, each) => sum + each.cents, 0);
    if (moved + cents > this.limitCents) return { status: 422, answer: '{"error":"limit"}' };
    const made = { id: `eff_${this.effects.length + 1}`, reference, cents, card, state: 'done', at: this.#now() };
    this.effects.push(made);
    return { status: 201, answer: JSON.stringify(made) };
  }
}
