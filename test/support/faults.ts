/**
 * Faults on the way to D1 and back. A trip can be failed, robbed of its answer, hung, or stopped for as long as a test likes.
 * Nothing here lets a promise cross between the object and the test: workerd dies of an object that is aborted while one
 * does, so both sides look at plain flags instead.
 */
import { abortAllDurableObjects } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { sessionMethods } from './session-class.ts';

/** What a trip to D1 is for: `check` reads an order, `send` and `void` write an attempt, `report` carries the outbox to either database. */
export type TripKind = 'check' | 'send' | 'void' | 'report' | 'other';
/** `parallel`: it began while another was on its way, so nobody waited for it alone. `written`: rows of each statement. `read`: rows of all. */
export type Trip = { kind: TripKind; parallel: boolean; written: number[]; read: number };
type Go = () => Promise<unknown>;
export type Fault = (go: Go) => Promise<unknown>;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

/** Resolves once `isSo`; the runner's own limit ends a wait in vain. Takes no notice of a faked clock. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause();
}

const lost = (): Error => new Error('D1_ERROR: Network connection lost.');
const overloaded = (): Error => new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.');

/** It is done, and nobody is told: the kind of error after which the object tries again by itself. */
export const losesAnswer: Fault = async (go) => {
  await go();
  throw lost();
};
/** It is done, and the answer is an error after which nothing is tried again. */
export const answersOverloaded: Fault = async (go) => {
  await go();
  throw overloaded();
};
/** It never gets there. */
export const isRefused: Fault = () => Promise.reject(overloaded());
/** It never gets there and nobody says so. */
export const hangs: Fault = () => new Promise(() => undefined);

export type Stop = {
  reached(): Promise<void>;
  release(): void;
  /** What was on its way gets there now, whatever became of the object that sent it. */
  land(): Promise<unknown>;
};

type Planned = { kind: TripKind; fault: Fault; times: number };

/** Watches every trip to D1 until mocks are restored or somebody else watches. */
export function watchD1() {
  const trips: Trip[] = [];
  const planned: Planned[] = [];
  let onTheWay = 0;

  async function travel(kind: TripKind, go: Go): Promise<unknown> {
    const trip: Trip = { kind, parallel: onTheWay > 0, written: [], read: 0 };
    trips.push(trip);
    onTheWay += 1;
    const counted: Go = async () => {
      const answer = await go();
      for (const { rows_written, rows_read } of metasOf(answer)) {
        trip.written.push(rows_written);
        trip.read += rows_read;
      }
      return answer;
    };
    try {
      const plan = planned.find((each) => each.kind === kind && each.times > 0);
      if (plan === undefined) return await counted();
      plan.times -= 1;
      return await plan.fault(counted);
    } finally {
      onTheWay -= 1;
    }
  }
  spyOnBindings(travel);

  const fault = (kind: TripKind, fault: Fault, times = Infinity): void => void planned.unshift({ kind, fault, times });

  return {
    trips,
    fault,
    /** From here on every trip goes as it should. */
    heal: (): void => void planned.splice(0),
    /** Stops the next trip of a kind before it leaves, or on its way back; `then` is what befalls it once it goes on. */
    stop(kind: TripKind, place: 'before' | 'after', then: Fault = (go) => go()): Stop {
      let isReached = false;
      let isReleased = false;
      let going: Go = () => Promise.reject(new Error('nothing was on its way'));
      const wait = async (): Promise<void> => {
        isReached = true;
        await until(() => isReleased);
      };
      fault(
        kind,
        async (go) => {
          going = go;
          if (place === 'before') await wait();
          const answer = await then(go);
          if (place === 'after') await wait();
          return answer;
        },
        1,
      );
      return {
        reached: () => until(() => isReached),
        release: () => void (isReleased = true),
        land: () => going(),
      };
    },
  };
}
export type WatchedD1 = ReturnType<typeof watchD1>;

function spyOnBindings(travel: (kind: TripKind, go: Go) => Promise<unknown>): void {
  for (const database of [env.DB, env.AUDIT]) spyOnDatabase(database, travel);
}

function spyOnDatabase(database: D1Database, travel: (kind: TripKind, go: Go) => Promise<unknown>): void {
  // Who watched before watches no more: a spy on a spy would call itself.
  vi.spyOn(database, 'prepare').mockRestore();
  vi.spyOn(database, 'batch').mockRestore();
  const prepare = database.prepare.bind(database);
  const batch = database.batch.bind(database);
  const texts = new WeakMap<D1PreparedStatement, string>();
  vi.spyOn(database, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql);
    const bind = statement.bind.bind(statement);
    statement.bind = (...values) => {
      const bound = bind(...values);
      texts.set(bound, sql);
      const all = bound.all.bind(bound);
      bound.all = <Row>() => travel(kindOf([sql]), () => all<Row>()) as Promise<D1Result<Row>>;
      return bound;
    };
    return statement;
  });
  vi.spyOn(database, 'batch').mockImplementation(<Row>(statements: D1PreparedStatement[]) => {
    const kind = kindOf(statements.map((statement) => texts.get(statement) ?? ''));
    return travel(kind, () => batch<Row>(statements)) as Promise<D1Result<Row>[]>;
  });
}

function kindOf(texts: string[]): TripKind {
  const [first = ''] = texts;
  if (first.includes('INSERT INTO attempts')) return first.includes('judged') ? 'send' : 'void';
  if (/INSERT INTO (audit|approvals)|UPDATE sessions SET open_records/.test(first)) return 'report';
  return first.includes('FROM orders LEFT JOIN subject_totals') ? 'check' : 'other';
}

const metasOf = (answer: unknown) =>
  ((Array.isArray(answer) ? answer : [answer]) as D1Result[]).map(({ meta }) => meta);

/** Counts what reaches an object; resolves once that many calls, or decisions, have got as far as they get without waiting. */
export function watchArrivals(method: 'call' | 'decide' = 'call'): (arrived: number) => Promise<void> {
  const spy = vi.spyOn(sessionMethods, method);
  return (arrived) => until(() => spy.mock.calls.length >= arrived);
}

/** Every object dies now: memory is lost, calls under way are never answered, what is durable stays. */
export async function everyObjectDies(): Promise<void> {
  await pause();
  await abortAllDurableObjects();
}
