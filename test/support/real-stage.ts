/**
 * The stage of a simulated story played with the real object, D1 and Queue in workerd. Its time is a list of sleepers: the
 * first wakes once what runs has had a moment, and everybody's Date moves there.
 */
import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { vi } from 'vitest';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import { readConfig } from '../../src/gate/env.ts';
import type { SqlRow, SqlValue } from '../../src/gate/ports.ts';
import type { SessionRpc } from '../../src/gate/session/rpc.ts';
import type { Random } from '../simulation/random.ts';
import type { Answered, Asked, ObjectEnd } from '../simulation/recount.ts';
import type { Stage } from '../simulation/stage.ts';

/** Long before any alarm would fire by itself: alarms run when the story says so. */
const BEGINNING = Date.UTC(2040, 0, 1);
const MOMENT_MS = 1;
/** Ms of the story within which people act at the same time. */
const TOGETHER_MS = 100;
/** Moments that an answer is waited for; a long poll only ends with the clock. */
const PATIENCE = 30;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, MOMENT_MS));

type Sleeper = { at: number; wake(): void };

export class RealStage implements Stage {
  readonly seed: number;
  readonly http = false;
  readonly config;
  readonly asked: Asked[] = [];
  readonly answers: Answered[] = [];
  readonly #random: Random;
  readonly #objects = new Set<string>();
  readonly #sleepers: Sleeper[] = [];
  #elapsed = 0;
  #skew = 0;

  constructor(seed: number, random: Random) {
    [this.seed, this.#random] = [seed, random];
    const reading = readConfig(env);
    if (!reading.ok) throw new Error('not configured');
    this.config = reading.config;
    vi.useFakeTimers({ toFake: ['Date'], now: BEGINNING + seed * 86_400_000 });
    this.#skew = Date.now();
  }

  readonly time = {
    stage: this as RealStage,
    get elapsed(): number {
      return this.stage.#elapsed;
    },
    wall: (): number => this.#skew + Math.floor(this.#elapsed),
    sleep: (ms: number): Promise<void> =>
      new Promise((wake) => void this.#sleepers.push({ at: this.#elapsed + ms, wake })),
  };

  looked = (n: number): Promise<void> => this.time.sleep(200 * n);
  note(): void {
    // A failing schedule is told by its violations; the simulation of the same seed tells its story.
  }

  fetch = (path: string, init: RequestInit): Promise<Response> =>
    exports.default.fetch(new Request(`${this.config.publicUrl}${path}`, init));

  async ledgerRows(sql: string, ...params: SqlValue[]): Promise<SqlRow[]> {
    return (
      await env.DB.prepare(sql)
        .bind(...params)
        .all<SqlRow>()
    ).results;
  }

  /** A fresh stub whose answers are noted, as they are the story's evidence. */
  session(object: string): SessionRpc {
    this.#objects.add(object);
    const stub = env.SESSION.getByName(object);
    const noted =
      (method: keyof SessionRpc) =>
      async (...args: unknown[]) => {
        this.asked.push({ object, method, args });
        const answer: unknown = await (stub[method] as (...given: unknown[]) => Promise<unknown>)(...args);
        this.answers.push({ object, method, args, answer });
        return answer;
      };
    const methods = ['open', 'end', 'call', 'approval', 'view', 'decide', 'mailTask', 'delivered'] as const;
    return Object.fromEntries(methods.map((method) => [method, noted(method)])) as unknown as SessionRpc;
  }

  jump(ms: number): void {
    this.#skew += ms;
    vi.setSystemTime(this.time.wall());
  }

  crash = (): Promise<void> => abortAllDurableObjects();
  async evict(caller: string, session: string): Promise<void> {
    await evictDurableObject(env.SESSION.getByName(sessionObjectName(caller, session))).catch(() => undefined);
  }

  /**
   * Wakes sleepers one after another until `done`; those that are due at about the same time meet, while before a longer
   * leap of the clock whoever asked is answered. Alarms run now and then, early or late as it comes.
   */
  async play(done: Promise<unknown>, isBusy: () => boolean): Promise<void> {
    const story = { isOver: false };
    void done.finally(() => (story.isOver = true));
    while (!story.isOver) {
      await pause();
      if (this.#random.chance(0.1)) await this.alarms();
      const next = this.#sleepers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) continue;
      for (let moment = 0; moment < PATIENCE && next.at > this.#elapsed + TOGETHER_MS && isBusy(); moment += 1)
        await pause();
      this.#sleepers.splice(this.#sleepers.indexOf(next), 1);
      this.#elapsed = Math.max(this.#elapsed, next.at);
      vi.setSystemTime(this.time.wall());
      next.wake();
    }
  }

  moment = pause;

  async alarms(): Promise<void> {
    for (const object of this.#objects) await runDurableObjectAlarm(env.SESSION.getByName(object)).catch(() => false);
  }

  /** Past every approval, tried action and late write. */
  async rest(): Promise<void> {
    for (let round = 0; round < 5; round += 1) {
      this.#elapsed += 40 * 60_000;
      vi.setSystemTime(this.time.wall());
      await this.alarms();
    }
  }

  async ends(): Promise<ObjectEnd[]> {
    const rows = (sql: string) => (_object: unknown, state: DurableObjectState) =>
      state.storage.sql.exec<SqlRow>(sql).toArray();
    const of = async (name: string): Promise<ObjectEnd> => {
      const stub = env.SESSION.getByName(name);
      const tables = await runInDurableObject(stub, rows("SELECT name FROM sqlite_master WHERE name = 'session'"));
      if (tables.length === 0) return { name, session: [], log: [], record: [] };
      return {
        name,
        session: await runInDurableObject(stub, rows('SELECT uid, caller_id, session_id FROM session')),
        log: await runInDurableObject(stub, rows('SELECT seq, key, attempt, hash, row FROM log ORDER BY seq')),
        record: await runInDurableObject(stub, rows('SELECT * FROM record ORDER BY key, round')),
      };
    };
    return Promise.all([...this.#objects].map(of));
  }
}
