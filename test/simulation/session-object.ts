/**
 * A Durable Object of a simulated world around the product's `sessionCore`: one SQLite database, an output gate (nothing
 * leaves before the writes before it are durable), one alarm, and deaths that take memory and undurable writes with them.
 */
import type { Config } from '../../src/gate/env.ts';
import type { SqlValue } from '../../src/gate/ports.ts';
import { sessionCore, type SessionCore } from '../../src/gate/session/core.ts';
import type { SessionPorts } from '../../src/gate/session/session-ports.ts';
import type { QueueMessage } from '../../src/gate/session/rpc.ts';
import { upstreamWith } from '../../src/gate/session/upstream.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';
import { backendsWith } from '../../src/gate/backends/http.ts';
import type { Backend } from './backend.ts';
import { registry } from './elsewhere.ts';
import type { Watched } from './facts.ts';
import type { Ledger, Sender } from './ledger.ts';
import { SimulatedAlarm } from './object-alarm.ts';
import { borrow, giveBack, isWrite } from './object-database.ts';
import { Random } from './random.ts';
import type { Faults } from './scenario.ts';
import type { Database } from './sqlite.ts';
import type { Timer, VirtualTime } from './virtual-time.ts';

export type ObjectWitness = Record<'record' | 'log' | 'session', (object: Watched, ...values: SqlValue[]) => void> & {
  arrives(method: string, args: unknown[]): void;
  answered(object: Watched, method: string, args: unknown[], answer: unknown): void;
  lost(object: Watched): void;
  /** What was written is durable, with the alarm that is set for it; null where there is none. */
  kept(object: Watched, alarmAt: number | null): void;
};

export type Surroundings = {
  time: VirtualTime;
  faults: Faults;
  ledger: Ledger;
  backend: Backend;
  config: Config;
  witness: ObjectWitness;
  send(messages: QueueMessage[], random: Random): Promise<void>;
  log(entry: Record<string, unknown>): void;
  note(what: string): void;
  /** The platform dropped an alarm: from now on the cron comes by. */
  needCron(): void;
};

const SIM_VARIABLES = { SIM_ORIGIN: 'https://backend.test', SIM_ACCOUNT: 'one', SIM_SECRET: 'secret' };

/** Memory and coroutines of one life. Whatever belongs to a life that is over reaches nothing any more. */
class Life {
  isOver = false;
  readonly inFlight = new Set<(error: Error) => void>();
}

class Reset extends Error {
  override name = 'Error';
}

export class SimulatedObject {
  readonly name: string;
  readonly #world: Surroundings;
  readonly #borrowed = borrow(this);
  readonly random: Random;
  #life = new Life();
  #core: SessionCore | null = null;
  #flush: Timer | null = null;
  #waiting: (() => void)[] = [];
  /** As last set, durable or not. */
  #alarmAt: number | null = null;
  readonly #alarm: SimulatedAlarm;
  #cut = { until: 0, landing: false };

  constructor(name: string, label: string, world: Surroundings, seed: number) {
    [this.name, this.#world] = [name, world];
    this.random = new Random(`object ${seed} ${label}`);
    this.database.mark('world');
    this.#alarm = new SimulatedAlarm({
      time: world.time,
      faults: world.faults,
      random: this.random,
      note: world.note,
      label: this.label,
      isWriting: () => this.#flush !== null,
      fires: () => void (this.#alarmAt = null),
      run: () => this.invoke('alarm', []),
      givesUp: () => world.needCron(),
    });
  }

  get database(): Database {
    return this.#borrowed.database;
  }

  end(): void {
    if (this.#flush !== null) this.database.keep('undurable');
    this.database.undo('world');
    giveBack(this.#borrowed);
  }

  sees = (what: 'record' | 'log' | 'session', values: SqlValue[]): void => this.#world.witness[what](this, ...values);

  /** Runs a method as a message from outside does; rejects if the object dies meanwhile. */
  invoke(method: keyof SessionCore, args: unknown[]): Promise<unknown> {
    const life = this.#life;
    const core = (this.#core ??= sessionCore(this.#ports(life)));
    this.#world.witness.arrives(method, args);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    life.inFlight.add(reject);
    const run = async (): Promise<void> => {
      try {
        const answer: unknown = await (core[method] as (...given: unknown[]) => Promise<unknown>)(...args);
        await this.#leave(life);
        if (life.isOver) return;
        this.#world.witness.answered(this, method, args, answer);
        resolve(answer);
      } catch (error) {
        if (!life.isOver) reject(error instanceof Error ? error : new Error(String(error)));
      } finally {
        life.inFlight.delete(reject);
      }
    };
    void run();
    return promise;
  }

  /** The object dies: memory, coroutines and whatever was not durable yet are gone. */
  crash(): void {
    if (this.#core === null) return;
    this.#world.note(`${this.label} dies`);
    const life = this.#renew();
    if (this.#flush !== null) {
      this.#world.time.cancel(this.#flush);
      this.database.undo('undurable');
      this.#world.witness.lost(this);
    }
    [this.#flush, this.#waiting, this.#alarmAt] = [null, [], this.#alarm.at];
    for (const reject of life.inFlight) reject(new Reset('Durable Object reset because its code was updated.'));
  }

  /** The way to the ledger is broken for a time, or the way back. */
  cutOff(ms: number, landing: boolean): void {
    this.#world.note(`${this.label} is cut off for ${(ms / 1000).toFixed(1)} s`);
    this.#cut = { until: this.#world.time.elapsed + ms, landing };
  }

  /** Memory is lost at rest; what is running keeps an object where it is. */
  evict(): void {
    if (this.#core === null || this.#life.inFlight.size > 0 || this.#flush !== null) return;
    this.#world.note(`${this.label} is evicted`);
    this.#renew();
  }

  get label(): string {
    return `object ${this.name.slice(0, 6)}`;
  }

  #renew(): Life {
    const life = this.#life;
    life.isOver = true;
    this.#life = new Life();
    this.#core = null;
    return life;
  }

  #ports(life: Life): SessionPorts {
    const { time, config } = this.#world;
    const { ledger } = this.#world;
    const sender: Sender = {
      random: this.random,
      leave: () => this.#leave(life),
      isGone: () => life.isOver,
      crash: () => this.crash(),
      cut: () => (this.#world.time.elapsed < this.#cut.until ? (this.#cut.landing ? 'after' : 'before') : null),
    };
    const now = time.wall;
    return {
      sql: {
        all: (sql, ...params) => {
          if (life.isOver) throw new Reset('this life is over');
          if (isWrite(sql)) this.#dirty();
          return this.database.all(sql, params);
        },
        transaction: (run) => {
          if (life.isOver) throw new Reset('this life is over');
          this.#dirty();
          return this.database.within('step', run);
        },
      },
      ledger: ledgerSql(ledger.binding(sender)),
      audit: ledgerSql(ledger.binding(sender, ledger.audit)),
      backends: backendsWith({
        variables: SIM_VARIABLES,
        loopback: false,
        fetch: this.#world.backend.reachedBy(sender),
        log: () => undefined,
      }),
      alarm: { set: (at) => this.#arm(life, at), get: async () => this.#alarmAt },
      queue: {
        send: async (messages) => {
          await this.#leave(life);
          await this.#world.send(messages, this.random);
          if (life.isOver) await new Promise(() => undefined);
        },
      },
      upstream: upstreamWith(now),
      tools: registry,
      config,
      now,
      random: (bytes) => this.random.hex(bytes),
      sleep: (ms, stop) =>
        new Promise((resolve) => {
          const timer = time.after(ms, resolve);
          stop.addEventListener('abort', () => (time.cancel(timer), resolve()));
        }),
      log: this.#world.log,
    };
  }

  #arm(life: Life, at: number): void {
    if (life.isOver) return;
    this.#dirty();
    this.#alarmAt = at;
  }

  /** From here to its flush what is written is undurable, and nothing leaves. */
  #dirty(): void {
    if (this.#flush !== null) return;
    this.database.mark('undurable');
    this.#flush = this.#world.time.after(this.random.skewed(0.1, 15), () => this.#flushed());
  }

  #flushed(): void {
    if (this.random.chance(this.#world.faults.crashAtWrite)) return this.crash();
    this.#flush = null;
    this.database.keep('undurable');
    // While an alarm runs, or was dropped, the platform still owes a run.
    if (!this.#alarm.isOwed && this.#world.faults.alarmDropped === 0) this.#world.witness.kept(this, this.#alarmAt);
    this.#alarm.keep(this.#alarmAt);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const leave of waiting) leave();
  }

  async #leave(life: Life): Promise<void> {
    if (life.isOver) return new Promise(() => undefined);
    if (this.#flush === null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }
}
