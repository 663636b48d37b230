/** Rounds of refunds in another system that outlives the Worker: load, death, restart, and a look into that system's own books. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StripeDouble } from '../../demo/stripe-double.ts';
import { Random } from '../simulation/random.ts';
import type { BuiltWorker } from './built-worker.ts';
import { Gate, Unanswered, type Session, type Told } from './gate.ts';
import { demand, inTime, isUnsettled, verifyAudit } from './truth.ts';

const AGENTS = 8;
/** Few enough that agents meet at one payment now and then. */
const PAYMENTS = 24;
const PAYMENT_CENTS = 10_000_000;
const POLICY = {
  name: 'Payments',
  allowed_tools: ['refund_payment'],
  confirm_above_cents: 50_000,
  max_refund_cents: 50_000,
  max_steps: 1_000,
  max_duplicate_calls: 1_000,
};
/** One way of a request. Most of a call's time is then on the wire. */
const MAX_WAY_MS = 150;
const MIN_LOAD_MS = 300;
const MAX_LOAD_MS = 2_000;
/** The alarm's first look comes four seconds after the claim, its second eight later; a busy machine is given some more. */
const SETTLE_LIMIT_MS = 40_000;
/** A call is taken again ten times. */
const ASK_AGAIN_MS = 2_500;
/** `amount` is of this refund alone, so that two equal refunds in the other system's books are a double. */
type Refund = { session: Session; call_id: string; payment: string; amount: number; told: Told[] };

/** A way to a double that takes its time there and back, and goes on when the one who asked has died. */
export class Wire {
  /** Refunds that have been sent and not answered. */
  underWay = 0;
  readonly #double: StripeDouble;
  readonly #random: Random;

  constructor(double: StripeDouble, seed: string) {
    this.#double = double;
    this.#random = new Random(`${seed}/wire`);
  }

  handle = async (request: Request): Promise<Response> => {
    const way = (): Promise<void> => sleep(this.#random.int(0, MAX_WAY_MS));
    const isRefund = request.method === 'POST';
    if (isRefund) this.underWay += 1;
    await way();
    const answer = await this.#double.handle(request);
    await way();
    if (isRefund) this.underWay -= 1;
    return answer;
  };
}

export class WireCampaign {
  readonly #worker: BuiltWorker;
  readonly #double: StripeDouble;
  readonly #wire: Wire;
  readonly #gate: Gate;
  readonly #seed: string;
  #caller: { caller_id: string; api_key: string } | null = null;
  readonly #refunds: Refund[] = [];
  #rounds = 0;
  #underWay = 0;
  #onWire = 0;
  #slowestMs = 0;

  constructor(worker: BuiltWorker, double: StripeDouble, wire: Wire, seed: string) {
    this.#worker = worker;
    this.#double = double;
    this.#wire = wire;
    this.#gate = new Gate(worker.url);
    this.#seed = seed;
  }

  /** One kill and its reckoning; says in a line what it met. Throws a `Violation`. */
  async round(): Promise<string> {
    this.#rounds += 1;
    const random = new Random(`${this.#seed}/wire/${this.#rounds}`);
    const payments = Array.from({ length: PAYMENTS }, (_, number) => `pi_r${this.#rounds}p${number}`.padEnd(14, '0'));
    for (const payment of payments)
      this.#double.pay(payment, { amount: PAYMENT_CENTS, currency: 'usd', customer_id: null });
    this.#caller ??= await this.#gate.newCaller(POLICY);
    const caller = this.#caller;
    const sessions = await Promise.all(
      Array.from({ length: AGENTS }, (_, number) => this.#gate.open(caller, `w${this.#rounds}-a${number}`)),
    );
    const at = random.chance(0.5) ? 'a write of the ledger' : 'any moment';
    const killed = this.#worker.kill(random.int(MIN_LOAD_MS, MAX_LOAD_MS), at);
    const load = sessions.map((session, number) => {
      const own = new Random(`${this.#seed}/${session.session_id}`);
      return this.#runUntilDeath(session, own, payments, number);
    });
    await killed;
    const { underWay } = this.#wire;
    await Promise.all(load);
    await this.#worker.start();
    const settledMs = await this.#settled(random);
    await this.#reckon();
    this.#underWay += underWay;
    this.#onWire += underWay > 0 ? 1 : 0;
    this.#slowestMs = Math.max(this.#slowestMs, settledMs);
    return `${underWay} refunds on the wire; settled in ${(settledMs / 1_000).toFixed(1)} s`;
  }

  end(): string {
    const { size } = this.#double.effectsByKey();
    return [
      `${this.#rounds} kills: ${this.#onWire} met refunds on the wire, ${this.#underWay} in all.`,
      `${this.#refunds.length} refunds asked for, ${size} made, each once; ${this.#double.posted.length} requests for them.`,
      `The slowest settled ${(this.#slowestMs / 1_000).toFixed(1)} s after the restart.`,
    ].join('\n');
  }

  async #runUntilDeath(session: Session, random: Random, payments: string[], number: number): Promise<void> {
    try {
      for (let count = 1; ; count += 1) {
        const refund: Refund = {
          ...{ session, call_id: `c${count}`, payment: random.pick(payments), told: [] },
          amount: this.#refunds.length + 1,
        };
        this.#refunds.push(refund);
        // Some are sent twice at once, as a host does that lost patience.
        await Promise.all(Array.from({ length: number % 2 === 0 ? 2 : 1 }, () => this.#send(refund)));
      }
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
    }
  }

  async #send({ session, call_id, payment, amount, told }: Refund): Promise<void> {
    const args = { payment, amount, currency: 'USD', reason: 'requested_by_customer' };
    told.push(await this.#gate.call(session.token, { tool: 'refund_payment', arguments: args, call_id }));
  }

  /** Half of the time calls ask again at once; otherwise the alarms are alone. How long it took, in ms. */
  async #settled(random: Random): Promise<number> {
    const begun = Date.now();
    if (random.chance(0.5)) await Promise.all(this.#open().map((refund) => this.#send(refund)));
    await inTime(async () => {
      const open = await this.#worker.rows<{ effect_key: string }>('SELECT effect_key FROM open_sends');
      demand(open.length === 0, () => `not settled: ${JSON.stringify(open)}`);
    }, SETTLE_LIMIT_MS);
    return Date.now() - begun;
  }

  /** Those that got no answer, and those that were told that nothing is known yet. */
  readonly #open = (): Refund[] =>
    this.#refunds.filter(({ told }) => told.length === 0 || told.slice(-1).some(isUnsettled));

  async #reckon(): Promise<void> {
    await inTime(async () => {
      // One after the other, or they would find their payments busy.
      for (const refund of this.#open()) await this.#send(refund);
      if (this.#open().length > 0) await sleep(ASK_AGAIN_MS);
      demand(this.#open().length === 0, () => `still open: ${JSON.stringify(this.#open().at(0)?.told)}`);
    }, SETTLE_LIMIT_MS);
    const { refunds } = this.#double;
    const made = new Map(refunds.map(({ amount, payment_intent }) => [amount, payment_intent]));
    demand(made.size === refunds.length, () => `${refunds.length} refunds were made of ${made.size} intents`);
    for (const { payment, amount, told } of this.#refunds) {
      const last = told.at(-1);
      const isTrue = last?.ok === made.has(amount) && (!last.ok || made.get(amount) === payment);
      demand(isTrue, () => `${amount} was told ${last?.code}, and is made: ${made.has(amount)}`);
    }
    const asked = new Set(this.#refunds.map(({ amount }) => amount));
    demand(
      [...made.keys()].every((amount) => asked.has(amount)),
      () => 'a refund was made that nobody asked for',
    );
    await inTime(() => this.#checkBooks());
    await verifyAudit(this.#worker);
  }

  /** The gate's books say what the other system's say. */
  async #checkBooks(): Promise<void> {
    const [books] = await this.#worker.rows<{ made: number; cents: number; moved: number }>(
      `SELECT count(*) AS made, coalesce(sum(amount_cents), 0) AS cents,
              (SELECT coalesce(sum(applied_cents), 0) FROM subject_totals WHERE backend NOT LIKE 'ledger:%') AS moved
       FROM attempts WHERE applied = 1 AND backend NOT LIKE 'ledger:%'`,
    );
    const { refunds } = this.#double;
    const cents = refunds.reduce((sum, { amount }) => sum + amount, 0);
    demand(
      books?.made === refunds.length && books.cents === cents && books.moved === cents,
      () =>
        `the other system made ${refunds.length} refunds of ${cents} cents, the ledger says ${JSON.stringify(books)}`,
    );
  }
}
