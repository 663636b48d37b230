/**
 * The backend of a simulated world, as a `fetch`: it keeps its own books, remembers keys as long as it says, and its look-ups
 * lag. The network before it delays, loses, repeats and breaks requests; what was sent lands whether or not its sender lives.
 */
import * as z from 'zod';
import { CLASSES, isElsewhere, KEEP_MS, LAG_MS, type Elsewhere } from './elsewhere.ts';
import type { Sender } from './ledger.ts';
import type { Faults } from './scenario.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The latest that a request lands: within the quiet period, less what the clocks of the two may differ. */
const LATEST_MS = 850_000;

export type Executed = { tool: Elsewhere; reference: string; order_id: string; amount: number; currency: string };
type Order = { customer_id: string; total: number; currency: string };
type Kept = { body: string; answer: () => Response; at: number };

/** Tells the model what leaves for the backend and what it does. */
export type BackendWitness = {
  leaves(tool: Elsewhere, reference: string, body: string): void;
  executed(effect: Executed, refunded: number): void;
  refused(orderId: string): void;
};

const posted = z.object({ order_id: z.string(), amount: z.int(), currency: z.string(), reference: z.string() });

export class Backend {
  readonly effects: (Executed & { id: string; at: number })[] = [];
  readonly #orders = new Map<string, Order>();
  readonly #kept = new Map<string, Kept>();
  readonly #time: VirtualTime;
  readonly #faults: Faults;
  readonly #witness: BackendWitness;
  readonly #note: (what: string) => void;
  readonly #onTheWay = new Set<() => void>();

  constructor(time: VirtualTime, faults: Faults, witness: BackendWitness, note: (what: string) => void) {
    [this.#time, this.#faults, this.#witness, this.#note] = [time, faults, witness, note];
  }

  addOrder = (id: string, order: Order): void => void this.#orders.set(id, order);

  /** Clocks are about to jump: what is on its way would land in the time that is jumped over. */
  landAll(): void {
    for (const land of [...this.#onTheWay]) land();
  }

  /** The network as one sender has it. */
  reachedBy =
    (sender: Sender) =>
    async (url: string, init: RequestInit): Promise<Response> => {
      const { pathname, searchParams } = new URL(url);
      const method = init.method ?? 'GET';
      const body = typeof init.body === 'string' ? init.body : '';
      const key = new Headers(init.headers).get('idempotency-key');
      await sender.leave();
      const tool = pathname.split('/')[2] ?? '';
      if (method === 'POST' && isElsewhere(tool))
        this.#witness.leaves(tool, posted.parse(JSON.parse(body)).reference, body);
      const serve = (isRefused: boolean): Response =>
        method === 'POST' && isElsewhere(tool)
          ? this.#post(tool, body, key, isRefused)
          : pathname.startsWith('/orders/')
            ? this.#order(pathname.slice('/orders/'.length))
            : this.#lookUp(tool, searchParams.get('reference') ?? '');
      return this.#travel(`${method} ${pathname}`, method === 'POST', serve, sender, init.signal ?? null);
    };

  async #travel(
    name: string,
    isSend: boolean,
    serve: (isRefused: boolean) => Response,
    sender: Sender,
    signal: AbortSignal | null,
  ): Promise<Response> {
    const { random } = sender;
    const faults = this.#faults;
    const answer = Promise.withResolvers<Response>();
    signal?.addEventListener('abort', () => answer.reject(new DOMException('aborted', 'AbortError')));
    const reply = (tell: () => void): void => void (sender.isGone() || tell());
    const fail = (ms: number): void =>
      void this.#time.after(ms, () => reply(() => answer.reject(new TypeError('fetch failed'))));
    if (random.chance(faults.failBefore)) {
      this.#note(`backend: ${name} never arrives`);
      fail(random.skewed(1, 3_000));
      return answer.promise;
    }
    const isHidden = random.chance(faults.lostAnswer);
    const late = isSend && random.chance(faults.lateWrite);
    const silent = random.chance(faults.silent);
    const isRefused = isSend && random.chance(faults.refuses);
    const crash = random.chance(faults.crashAtSend);
    const crashLater = random.chance(faults.crashAtAnswer);
    const wrong = random.pick([null, 401, 409, 429, 500, 503]);
    const arrival = late ? random.skewed(1_000, LATEST_MS) : random.skewed(1, 200);
    if (late) fail(random.skewed(1, 9_000));
    this.#schedule(arrival, () => {
      // Before the key is looked up nothing is done.
      const isTurnedAway = random.chance(faults.turnsAway);
      const response = isTurnedAway ? new Response('{}', { status: wrong ?? 503 }) : serve(isRefused);
      this.#note(`backend: ${name} ${response.status}${isHidden || late || silent ? ', unheard' : ''}`);
      if (silent || late) return;
      if (isHidden && wrong === null) return fail(random.skewed(1, 500));
      this.#time.after(random.skewed(1, 60), () => {
        if (crashLater && !sender.isGone()) sender.crash();
        reply(() => answer.resolve(isHidden ? new Response('{}', { status: wrong ?? 500 }) : response));
      });
    });
    if (isSend && random.chance(faults.duplicateWrite) && name.includes('refund_keyed_kept'))
      this.#schedule(random.skewed(1, LATEST_MS), () => void serve(false));
    if (crash) sender.crash();
    return answer.promise;
  }

  #schedule(ms: number, land: () => void): void {
    const once = (): void => void (this.#onTheWay.delete(once) && land());
    this.#onTheWay.add(once);
    this.#time.after(ms, once);
  }

  #refundedOf = (orderId: string): number =>
    this.effects.filter(({ order_id }) => order_id === orderId).reduce((sum, { amount }) => sum + amount, 0);

  #order(id: string): Response {
    const found = this.#orders.get(id);
    return found === undefined
      ? new Response('{}', { status: 404 })
      : Response.json({ ...found, refunded: this.#refundedOf(id) });
  }

  #lookUp(tool: string, reference: string): Response {
    const now = this.#time.wall();
    const found = this.effects.find(
      (each) => each.tool === tool && each.reference === reference && now >= each.at + LAG_MS / 2,
    );
    return Response.json({ found: found ?? null });
  }

  #post(tool: Elsewhere, body: string, key: string | null, isRefused: boolean): Response {
    const kept = key === null ? undefined : this.#kept.get(key);
    const now = this.#time.wall();
    if (kept !== undefined && now < kept.at + KEEP_MS)
      return kept.body === body ? kept.answer() : new Response('{"error":"mismatch"}', { status: 400 });
    const answer = this.#execute(tool, body, now, isRefused);
    const isKept = answer().status === 201 || CLASSES[tool].refusals === 'kept';
    if (key !== null && isKept) this.#kept.set(key, { body, answer, at: now });
    return answer();
  }

  #execute(tool: Elsewhere, body: string, at: number, isRefused: boolean): () => Response {
    const { order_id, amount, currency, reference } = posted.parse(JSON.parse(body));
    const left = (this.#orders.get(order_id)?.total ?? 0) - this.#refundedOf(order_id);
    if (amount > left || isRefused) {
      this.#witness.refused(order_id);
      return () => new Response('{}', { status: 422 });
    }
    const made = { id: `eff_${this.effects.length + 1}`, tool, reference, order_id, amount, currency, at };
    this.effects.push(made);
    this.#witness.executed(made, this.#refundedOf(order_id));
    return () => Response.json(made, { status: 201 });
  }
}
