/** Agents that come, make their calls and go, so many at once for so long. */
import { Random } from '../simulation/random.ts';
import { Agent, POLICY } from './agent.ts';
import type { BuiltWorker } from './built-worker.ts';
import { Gate } from './gate.ts';

const ORDERS = 200;
const ORDER_CENTS = 5_000_000;
const CALLS_A_SESSION = 40;

export class Crowd {
  readonly agents: Agent[] = [];
  readonly #gate: Gate;
  readonly #seed: string;
  readonly #caller: { caller_id: string; api_key: string };
  readonly #orders: readonly string[];
  #opened = 0;
  /** Milliseconds each answer took, of the present stretch. */
  #took: number[] = [];

  private constructor(gate: Gate, seed: string, caller: { caller_id: string; api_key: string }, orders: string[]) {
    this.#gate = gate;
    this.#seed = seed;
    this.#caller = caller;
    this.#orders = orders;
  }

  static async of(worker: BuiltWorker, seed: string): Promise<Crowd> {
    const gate = new Gate(worker.url);
    const orders = Array.from({ length: ORDERS }, (_, number) => `ORD-${String(number).padStart(4, '0')}`);
    await worker.rows(
      `INSERT INTO orders (order_id, customer_id, total_cents, currency)
       SELECT value, 'CUS-1', ?1, 'BRL' FROM json_each(?2)`,
      ...[ORDER_CENTS, JSON.stringify(orders)],
    );
    return new Crowd(gate, seed, await gate.newCaller(POLICY), orders);
  }

  /** `width` agents at any moment; one that is done is followed by another until `ms` have passed. Says how it went. */
  async busyFor(ms: number, width: number): Promise<string> {
    const first = await Promise.all(Array.from({ length: width }, () => this.#newAgent()));
    this.#took = [];
    const startedAt = Date.now();
    const until = startedAt + ms;
    const follow = async (agent: Agent): Promise<void> => {
      await agent.run(CALLS_A_SESSION, until);
      if (Date.now() < until) await follow(await this.#newAgent());
    };
    await Promise.all(first.map(follow));
    const took = this.#took.toSorted((one, other) => one - other);
    const at = (share: number): string => `${(took[Math.floor(share * (took.length - 1))] ?? 0).toFixed(0)} ms`;
    const seconds = (Date.now() - startedAt) / 1_000;
    return (
      `${took.length} answers in ${seconds.toFixed(1)} s to ${width} agents at once (${(took.length / seconds).toFixed(0)}/s); ` +
      `half within ${at(0.5)}, 95 % within ${at(0.95)}, 99 % within ${at(0.99)}`
    );
  }

  async #newAgent(): Promise<Agent> {
    const name = `s${(this.#opened += 1)}`;
    const session = await this.#gate.open(this.#caller, name);
    const random = new Random(`${this.#seed}/${name}`);
    const agent = new Agent(this.#gate, session, random, this.#orders, (_call, ms) => this.#took.push(ms));
    this.agents.push(agent);
    return agent;
  }
}
