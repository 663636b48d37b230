/** One scripted agent in one session, and everything it was told. What it proposes comes from a seed. */
import { hashOf } from '../../src/gate/canonical.ts';
import type { Random } from '../simulation/random.ts';
import { Unanswered, type Gate, type Session, type Told } from './gate.ts';

type Refund = { order_id: string; amount_cents: number; currency: 'BRL'; reason: string };

/** One call as its host knows it: the same `call_id` however often it is sent. */
export type Call = {
  readonly session: Session;
  readonly call_id: string;
  readonly tool: 'refund_order' | 'get_order';
  readonly arguments: Refund | { order_id: string };
  /** What the ledger calls the intent; null for a read. */
  readonly key: string | null;
  /** How often it was sent, answered or not. */
  sent: number;
  /** In the order in which the answers came. */
  readonly told: Told[];
};

/** Amounts above this wait for a person; below it they move at once. */
export const CONFIRM_ABOVE_CENTS = 5_000;
export const POLICY = {
  name: 'Shop',
  allowed_tools: ['get_order', 'refund_order'],
  max_refund_cents: 50_000,
  confirm_above_cents: CONFIRM_ABOVE_CENTS,
  max_steps: 1_000,
  max_duplicate_calls: 1_000,
};

/** Calls of one agent at once. Many at once make the ledger the bottleneck: then claims are open at any moment. */
const MAX_WIDTH = 6;

const REASONS = ['damaged', 'not_delivered', 'customer_request'] as const;

export class Agent {
  readonly session: Session;
  readonly calls: Call[] = [];
  readonly #gate: Gate;
  readonly #random: Random;
  readonly #orders: readonly string[];
  readonly #onAnswer: (call: Call, ms: number) => void;

  constructor(
    gate: Gate,
    session: Session,
    random: Random,
    orders: readonly string[],
    onAnswer: (call: Call, ms: number) => void,
  ) {
    this.#gate = gate;
    this.session = session;
    this.#random = random;
    this.#orders = orders;
    this.#onAnswer = onAnswer;
  }

  /** Proposes some calls at once, again and again, until the Worker is gone. */
  async runUntilDeath(): Promise<void> {
    for (;;) {
      const width = this.#random.int(1, MAX_WIDTH);
      const calls = Array.from({ length: width }, () => this.#next()).flat();
      const sent = await Promise.allSettled(calls.map((call) => this.send(call)));
      const failed = sent.find((each) => each.status === 'rejected');
      if (failed?.reason instanceof Unanswered) return;
      if (failed !== undefined) throw failed.reason;
    }
  }

  /** Proposes `count` calls, one after the other; fewer, but at least one, where `until` (ms since the epoch) comes first. */
  async run(count: number, until: number): Promise<void> {
    do await Promise.all(this.#next().map((call) => this.send(call)));
    while (this.calls.length < count && Date.now() < until);
  }

  /** Sends a call, again where it was sent before. */
  async send(call: Call): Promise<Told> {
    const { tool, call_id } = call;
    const sentAt = performance.now();
    call.sent += 1;
    const told = await this.#gate.call(this.session.token, { tool, arguments: call.arguments, call_id });
    call.told.push(told);
    this.#onAnswer(call, performance.now() - sentAt);
    return told;
  }

  #next(): Call[] {
    const random = this.#random;
    const dice = random.unit();
    if (dice < 0.1) return [this.#call('get_order', { order_id: random.pick(this.#orders) })];
    const earlier = this.calls.filter(({ tool }) => tool === 'refund_order');
    if (dice < 0.25 && earlier.length > 0) return [this.#call('refund_order', random.pick(earlier).arguments)];
    const refund = this.#refund(dice);
    const call = this.#call('refund_order', refund);
    // Twins are two calls of one intent; an echo is one call sent twice.
    if (dice < 0.35) return [call, this.#call('refund_order', refund)];
    return dice < 0.4 ? [call, call] : [call];
  }

  #refund(dice: number): Refund {
    const random = this.#random;
    const [least, most] = dice > 0.97 ? [40_000, 49_999] : dice > 0.87 ? [5_001, 20_000] : [1, CONFIRM_ABOVE_CENTS];
    return {
      order_id: random.pick(this.#orders),
      amount_cents: random.int(least, most),
      currency: 'BRL',
      reason: random.pick(REASONS),
    };
  }

  #call(tool: Call['tool'], args: Call['arguments']): Call {
    const { session } = this;
    const key = tool === 'get_order' ? null : hashOf(['toolgate-1', session.caller_id, session.uid, tool, args]);
    const call: Call = { session, call_id: `c${this.calls.length + 1}`, tool, arguments: args, key, sent: 0, told: [] };
    this.calls.push(call);
    return call;
  }
}
