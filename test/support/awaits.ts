/**
 * Every await of a session object, found by standing at all the doors that lead out of it: its own methods (a request
 * arrives, an answer leaves), D1, the queue, mail, other objects, the network and Web Crypto. Each passage has a label
 * made of what passes, so that an await nobody thought of has one too. At one passage a fault can strike.
 *
 * Whoever stands at a door knows the object by the asynchronous context of its method, so many sessions can be watched at
 * once, each with a fault of its own, and one object can die alone. Both sides look at plain flags: workerd dies of an
 * object that is aborted while a promise crosses between it and the test.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { env } from 'cloudflare:workers';
import { sessionMethods } from './session-class.ts';

type Go = () => Promise<unknown>;
type Inside = { id: string; ctx: DurableObjectState };

export type FaultName = keyof typeof faults;
/** Strikes `times` times, once unless it says so. */
type Plan = { strikes: (label: string, place: number) => boolean; fault: FaultName; times?: number };

/** What is seen of one session's object, and what is planned for it. */
export class Watch {
  /** The labels of all passages since watching began. */
  readonly awaits: string[] = [];
  plan: Plan | null = null;
  /** The fault has struck. */
  reached = false;
  /** Lets go what a fault holds up. */
  released = false;
  /** What never got where it was sent; it gets there when this is called, whatever became of the object. */
  land: Go = () => Promise.resolve();

  pass(label: string, go: Go, inside: Inside): Promise<unknown> {
    const place = this.awaits.push(label) - 1;
    const { plan } = this;
    if (plan === null || !plan.strikes(label, place)) return go();
    const times = (plan.times ?? 1) - 1;
    this.plan = times === 0 ? null : { ...plan, times };
    return faults[plan.fault](go, this, inside);
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));
const never = (): Promise<never> => new Promise(() => undefined);
const reach = (watch: Watch): void => void (watch.reached = true);

/** The object is gone from here on: memory is lost, nobody is answered, and what is durable stays. */
function dies(watch: Watch, { ctx }: Inside): Promise<never> {
  reach(watch);
  ctx.abort('the object dies');
  return never();
}

const faults = {
  /** Its last writes may die with it. */
  async 'dies before'(_: Go, watch: Watch, inside: Inside) {
    return dies(watch, inside);
  },
  async 'dies after'(go: Go, watch: Watch, inside: Inside) {
    await go();
    return dies(watch, inside);
  },
  /** What left the object left it after its writes were durable, and gets there when everything is over. */
  async 'dies, and it lands late'(go: Go, watch: Watch, inside: Inside) {
    watch.land = go;
    await inside.ctx.storage.sync();
    return dies(watch, inside);
  },
  async fails(_: Go, watch: Watch) {
    reach(watch);
    throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.');
  },
  async 'is done, and answers with an error'(go: Go, watch: Watch) {
    await go();
    reach(watch);
    throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.');
  },
  /** The kind of error after which the object tries again by itself. */
  async 'is done, and its answer is lost'(go: Go, watch: Watch) {
    await go();
    reach(watch);
    throw new Error('D1_ERROR: Network connection lost.');
  },
  async 'hangs, and lands late'(go: Go, watch: Watch) {
    watch.land = go;
    reach(watch);
    return never();
  },
  /** The request is delivered a second time meanwhile. */
  async 'is delivered twice'(go: Go, watch: Watch) {
    reach(watch);
    while (!watch.released) await pause();
    return go();
  },
};
export const FAULTS = Object.keys(faults) as FaultName[];

const inside = new AsyncLocalStorage<Inside>();
const watches = new Map<string, Watch>();

/** Watches an object from now on. */
export function watch(object: string): Watch {
  const watched = new Watch();
  watches.set(env.SESSION.idFromName(object).toString(), watched);
  return watched;
}

/** All that passes, of every object: those that are not watched, too. */
export const passages = new Set<string>();

function pass(label: string, go: Go): Promise<unknown> {
  const store = inside.getStore();
  const watched = store === undefined ? undefined : watches.get(store.id);
  if (store === undefined || watched === undefined) return go();
  passages.add(label);
  return watched.pass(label, go, store);
}

type Method = (this: unknown, ...args: unknown[]) => unknown;
const undo: (() => void)[] = [];

/** Puts `made` in the place of a method, of which it is given the one that stood there. */
function replace(target: object, name: string, made: (original: Method) => Method): void {
  const own = Object.getOwnPropertyDescriptor(target, name);
  const original = Reflect.get(target, name) as Method;
  Object.defineProperty(target, name, { value: made(original), configurable: true, writable: true });
  undo.push(() =>
    own === undefined ? void Reflect.deleteProperty(target, name) : void Object.defineProperty(target, name, own),
  );
}

/** The methods of the object that others can call. */
export const METHODS = Object.getOwnPropertyNames(sessionMethods).filter((name) => name !== 'constructor');

/** Takes its stand at every door. */
export function standAtDoors(): void {
  for (const name of METHODS)
    replace(
      sessionMethods,
      name,
      (method) =>
        function (this: unknown, ...args) {
          const ctx = Reflect.get(this as object, 'ctx') as DurableObjectState;
          return inside.run({ id: ctx.id.toString(), ctx }, async () => {
            const answer = await pass(`${name} arrives`, async () => method.apply(this, args));
            return pass(`${name} answers`, async () => answer);
          });
        },
    );
  for (const database of [env.DB, env.AUDIT]) standAtDatabase(database);
  for (const name of ['send', 'sendBatch']) door(env.QUEUE, name, () => `queue: ${name}`);
  door(env.EMAIL, 'send', () => 'mail: send');
  door(globalThis, 'fetch', (_url, init) => `network: ${(init as RequestInit | undefined)?.method ?? 'GET'}`);
  for (const name of ['importKey', 'deriveBits', 'deriveKey', 'sign', 'verify', 'digest', 'encrypt', 'decrypt'])
    door(crypto.subtle, name, () => `crypto: ${name}`);
}

function standAtDatabase(database: D1Database): void {
  const texts = new WeakMap<object, string>();
  replace(
    database,
    'prepare',
    (prepare) =>
      function (...args) {
        const [sql] = args;
        const statement = prepare.apply(database, args) as D1PreparedStatement;
        return spied(statement, String(sql), texts);
      },
  );
  door(database, 'batch', (statements) => `D1: ${(statements as object[]).map((each) => texts.get(each)).join(', ')}`);
  door(database, 'exec', () => 'D1: exec');
}

export function leaveDoors(): void {
  for (const each of undo.splice(0).toReversed()) each();
  watches.clear();
}

const door = (target: object, name: string, label: (...args: unknown[]) => string): void =>
  replace(
    target,
    name,
    (method) =>
      (...args) =>
        pass(label(...args), async () => method.apply(target, args)),
  );

function spied(statement: D1PreparedStatement, sql: string, texts: WeakMap<object, string>): D1PreparedStatement {
  const text = labelOf(sql);
  texts.set(statement, text);
  const bind = statement.bind.bind(statement);
  statement.bind = (...values) => spied(bind(...values), sql, texts);
  for (const name of ['all', 'first', 'run', 'raw'] as const) {
    const method = statement[name].bind(statement) as Method;
    Reflect.set(statement, name, (...args: unknown[]) => pass(`D1: ${text}`, async () => method(...args)));
  }
  return statement;
}

/** `INSERT attempts`: what a statement does to which table. */
function labelOf(sql: string): string {
  const write = /\b(INSERT)\s+(?:OR\s+\w+\s+)?INTO\s+(\w+)|\b(UPDATE)\s+(\w+)\s+SET|\b(DELETE)\s+FROM\s+(\w+)/.exec(
    sql,
  );
  if (write !== null)
    return write
      .slice(1)
      .filter((part) => part !== undefined)
      .join(' ');
  return `SELECT ${/\bFROM\s+(\w+)/.exec(sql)?.[1] ?? sql}`;
}
