/**
 * The product's Worker in this process, for requests by the million: its own app, session code and statements, over
 * `node:sqlite` where the platform has D1 and objects. Messages between them are copied as the platform copies them, time and
 * randomness are the episode's, and nothing fails: what is asked here is what input alone can do.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { readConfig, type Config } from '../../src/gate/env.ts';
import worker from '../../src/index.ts';
import type { SqlRow, SqlValue, Statement } from '../../src/gate/ports.ts';
import { sessionCore, type SessionCore } from '../../src/gate/session/core.ts';
import type { Alarm, SessionPorts } from '../../src/gate/session/session-ports.ts';
import type { QueueMessage, SessionRpc } from '../../src/gate/session/rpc.ts';
import { upstreamWith } from '../../src/gate/session/upstream.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';
import { registry } from '../support/tools.ts';
import { auditMigrations, migrations } from '../support/migrations.ts';
import { Random } from '../simulation/random.ts';
import { queueBatch } from '../support/queue-batch.ts';
import { SynchronousBlob, subtle } from '../support/synchronous.ts';
import { VARIABLES, type Mail, type Target } from './target.ts';
import { backendsWith } from '../../src/gate/backends/http.ts';
import { wildBackend } from './wild-backend.ts';

const reading = readConfig(VARIABLES);
if (!reading.ok) throw new Error('the deployment is not configured');
const config: Config = reading.config;

/** Alarms for work that waits come within this; what is armed for later is the end of an approval or of a session's memory. */
const SOON_MS = 10_000;

const BEGINS = Date.parse('2026-11-12T12:00:00Z');
/** The longest between two requests, so that an episode outlives the shortest approvals. */
const PAUSE_MS = 500;

/** What is this process's own, for when the deployment is closed. */
const ITS_OWN = { Date, Blob, log: console.log, error: console.error };

class Database {
  readonly #db = new DatabaseSync(':memory:');
  readonly #statements = new Map<string, StatementSync>();

  run = (sql: string): void => this.#db.exec(sql);

  all(sql: string, params: readonly SqlValue[] = []): SqlRow[] {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.all(...params).map((row) => ({ ...row }) as SqlRow);
  }

  within<T>(work: () => T): T {
    this.run('BEGIN');
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (error) {
      this.run('ROLLBACK');
      throw error;
    }
  }

  close = (): void => this.#db.close();
}

function asD1(database: Database): object {
  const prepare = (sql: string, params: SqlValue[] = []) => ({
    sql,
    params,
    bind: (...bound: SqlValue[]) => prepare(sql, bound),
    all: async () => ({ results: database.all(sql, params) }),
  });
  const batch = async (statements: Statement[]) =>
    database.within(() => statements.map(({ sql, params }) => ({ results: database.all(sql, params) })));
  return { prepare, batch };
}

type Kept = { core: SessionCore; database: Database; armedFor: number };

export class Deployment implements Target {
  readonly #ledger = new Database();
  readonly #audit = new Database();
  readonly mails: Mail[] = [];
  readonly logged: string[] = [];
  readonly #objects = new Map<string, Kept>();
  readonly #queue: QueueMessage[] = [];
  readonly #random: Random;
  readonly #env: Env;
  #now = BEGINS;

  constructor(seed: string) {
    this.#random = new Random(`platform ${seed}`);
    for (const sql of migrations()) this.#ledger.run(sql);
    for (const sql of auditMigrations()) this.#audit.run(sql);
    this.#env = this.#bindings();
    this.#takeOver();
  }

  async fetch(request: Request): Promise<Response> {
    this.#now += this.#random.int(0, PAUSE_MS);
    return worker.fetch(request, this.#env, { waitUntil: () => undefined } as never);
  }

  all = async (sql: string, params: SqlValue[] = []): Promise<SqlRow[]> => this.#ledger.all(sql, params);

  async settle(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      for (const object of this.#objects.values()) {
        if (object.armedFor > Date.now() + SOON_MS) continue;
        object.armedFor = Infinity;
        await object.core.alarm();
      }
      const bodies = this.#queue.splice(0);
      if (bodies.length > 0) await worker.queue(queueBatch(bodies).batch, this.#env);
    }
    await worker.scheduled({} as ScheduledController, this.#env);
  }

  async objectsWithStorage(): Promise<number> {
    const tables = "SELECT count(*) AS tables FROM sqlite_master WHERE type = 'table'";
    return [...this.#objects.values()].filter(({ database }) => database.all(tables)[0]?.['tables'] !== 0).length;
  }

  close(): void {
    for (const database of [this.#ledger, this.#audit]) database.close();
    for (const { database } of this.#objects.values()) database.close();
    const { log, error, ...globals } = ITS_OWN;
    Object.assign(console, { log, error });
    Object.assign(globalThis, globals);
    for (const name of ['getRandomValues', 'randomUUID', 'subtle']) Reflect.deleteProperty(crypto, name);
  }

  /** Time, ids, tokens and nonces are the episode's until it is closed, so that it can be told again byte for byte. */
  #takeOver(): void {
    const random = this.#random;
    const now = (): number => this.#now;
    class EpisodeDate extends ITS_OWN.Date {
      constructor(...given: [] | [string | number | Date]) {
        super(given.length === 0 ? now() : given[0]);
      }
      static override now = now;
    }
    Object.assign(globalThis, { Date: EpisodeDate, Blob: SynchronousBlob });
    const getRandomValues = (target: Uint8Array): Uint8Array => (target.set(random.bytes(target.length)), target);
    const randomUUID = (): string => random.hex(16).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5');
    for (const [name, value] of Object.entries({ getRandomValues, randomUUID, subtle }))
      Object.defineProperty(crypto, name, { value, configurable: true });
    const keep = (line: unknown): void => void this.logged.push(String(line));
    Object.assign(console, { log: keep, error: keep });
  }

  #bindings(): Env {
    const bindings = {
      ...VARIABLES,
      DB: asD1(this.#ledger),
      AUDIT: asD1(this.#audit),
      SESSION: { getByName: (name: string) => this.#stub(name) },
      QUEUE: {
        sendBatch: async (messages: { body: QueueMessage }[]) => this.#queue.push(...messages.map(({ body }) => body)),
      },
      EMAIL: { send: async (mail: Mail) => (this.mails.push(mail), { messageId: 'sent' }) },
      FAILED_CREDENTIALS: { limit: async () => ({ success: this.#random.chance(0.95) }) },
    };
    return bindings as unknown as Env;
  }

  /** What is handed over is copied: an object gets nothing that could not travel. */
  #stub(name: string): SessionRpc {
    const { core } = this.#object(name);
    const over =
      (method: keyof SessionRpc) =>
      async (...args: unknown[]) => {
        const ask = core[method] as (...given: unknown[]) => Promise<unknown>;
        return structuredClone(await ask(...structuredClone(args)));
      };
    const methods = Object.keys(core) as (keyof SessionRpc)[];
    return Object.fromEntries(methods.map((method) => [method, over(method)])) as unknown as SessionRpc;
  }

  #object(name: string): Kept {
    const known = this.#objects.get(name);
    if (known !== undefined) return known;
    const database = new Database();
    const alarm: Alarm = {
      set: (at) => void (kept.armedFor = at),
      get: async () => (kept.armedFor === Infinity ? null : kept.armedFor),
    };
    const kept: Kept = { core: sessionCore(this.#ports(database, alarm)), database, armedFor: Infinity };
    this.#objects.set(name, kept);
    return kept;
  }

  #ports(database: Database, alarm: Alarm): SessionPorts {
    const now = (): number => Date.now();
    return {
      sql: { all: (sql, ...params) => database.all(sql, params), transaction: (run) => database.within(run) },
      ledger: ledgerSql(this.#env.DB),
      audit: ledgerSql(this.#env.AUDIT),
      backends: backendsWith({
        variables: VARIABLES,
        loopback: false,
        fetch: wildBackend(this.#random),
        log: (entry) => void this.logged.push(JSON.stringify(entry)),
      }),
      alarm,
      queue: { send: async (messages) => void this.#queue.push(...messages) },
      upstream: upstreamWith(now),
      tools: registry,
      config,
      now,
      random: (bytes) => this.#random.hex(bytes),
      // Nobody changes what a wait waits for while it does: it is over at once.
      sleep: async () => undefined,
      log: (entry) => void this.logged.push(JSON.stringify(entry)),
    };
  }
}
