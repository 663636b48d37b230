/** Runs one story from its beginning to where everything has come to rest, and says what it broke. */
import { newApiKey } from '../../src/gate/auth/api-key.ts';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import { Approvers } from './approver.ts';
import { SimulatedClient, type Place } from './client.ts';
import { checkEnd, END_QUERIES, type LedgerEnd } from './end.ts';
import { Model, type Violation } from './model.ts';
import { operate } from './operator.ts';
import type { Disturbance, Scenario } from './scenario.ts';
import { Trace } from './trace.ts';
import { World } from './world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** While clients, people and faults are at work. */
const BUSY_MS = 15 * MINUTE_MS;
/** Longer than an approval lives, an approved action is tried and a write may be late. */
const REST_MS = 150 * MINUTE_MS;

/** The cron has come by three times without a fault: every session has its alarm again. */
const WATCHED_MS = 16 * MINUTE_MS;

export type Run = { hash: string; violations: Violation[]; lines: string[]; events: number };

/** What a library or the product threw where nobody caught it. */
const uncaught: string[] = [];
process.on('unhandledRejection', (error) =>
  uncaught.push(error instanceof Error ? (error.stack ?? error.message) : String(error)),
);

export async function run(scenario: Scenario, keepLines = false): Promise<Run> {
  const trace = new Trace(keepLines);
  const model = new Model();
  const approvers: Approvers = new Approvers(() => world, model);
  const world: World = new World(scenario, model, approvers.arrived, trace);
  const callers = scenario.callers.map(({ name, policy }, i) => {
    const caller_id = `caller${String(i).padStart(10, '0')}`;
    const { key, hash } = newApiKey(caller_id);
    const { database } = world.ledger;
    database.all('INSERT INTO callers (caller_id, name, policy, created_at) VALUES (?, ?, ?, 0)', [
      caller_id,
      name,
      JSON.stringify(policy),
    ]);
    database.all('INSERT INTO caller_keys (caller_id, key_hash, created_at) VALUES (?, ?, 0)', [caller_id, hash]);
    model.addCaller(caller_id, policy);
    return { caller_id, api_key: key, key_hash: hash };
  });
  const orders = scenario.orders.map(({ customer_id, total_cents, currency, elsewhere }, i) => {
    const order_id = `${elsewhere === null ? 'ORD' : 'PAY'}-${1001 + i}`;
    const order = { order_id, customer_id, total: total_cents, currency };
    if (elsewhere !== null) {
      world.backend.addOrder(order_id, { customer_id, total: total_cents, currency });
      model.addOrder({ ...order, tool: elsewhere });
      return order_id;
    }
    world.ledger.database.all('INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES (?, ?, ?, ?)', [
      order_id,
      customer_id,
      total_cents,
      currency,
    ]);
    model.addOrder(order);
    return order_id;
  });
  const places = scenario.sessions.map(({ name, caller, ...fields }): Place => ({
    ...(callers[caller] ?? { caller_id: '', api_key: '', key_hash: '' }),
    session_id: name,
    ...fields,
  }));
  try {
    for (const client of scenario.clients) {
      const place = places[client.session];
      if (place !== undefined) void new SimulatedClient(client, place, orders, world, model).run();
    }
    for (const act of scenario.operators)
      void operate(
        act,
        callers.map(({ caller_id }) => caller_id),
        orders,
        world,
        model,
      );
    for (const each of scenario.disturbances) void disturb(each, places, world);
    await world.time.runUntil(BUSY_MS);
    world.calm();
    await world.time.runUntil(BUSY_MS + WATCHED_MS);
    world.pauseCron();
    await world.time.runUntil(BUSY_MS + REST_MS - WATCHED_MS);
    // What was not yet due when the cron last came by: an approval whose alarm was dropped before its time was over.
    world.resumeCron();
    await world.time.runUntil(BUSY_MS + REST_MS);
    world.pauseCron();
    checkEnd(ledgerEnd(world), model);
    model.external.checkEnd(world.backend);
    if (scenario.long) {
      await world.time.runUntil(BUSY_MS + REST_MS + 65 * DAY_MS);
      checkEnd(ledgerEnd(world), model);
    }
  } catch (error) {
    model.fail('thrown', error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await settled();
    for (const text of uncaught.splice(0)) model.fail('uncaught', text);
    world.end();
  }
  return {
    hash: trace.hash,
    violations: model.violations,
    lines: trace.lines ?? [],
    events: world.time.events,
  };
}

const ledgerEnd = ({ ledger }: World): LedgerEnd => ({
  orders: ledger.database.all(END_QUERIES.orders),
  attempts: ledger.database.all(END_QUERIES.attempts),
  audit: ledger.audit.all(END_QUERIES.audit),
  approvals: ledger.database.all(END_QUERIES.approvals),
  sessions: ledger.database.all(END_QUERIES.sessions),
});

/** The process reports rejections that nobody handled only when it comes to rest. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function disturb(disturbance: Disturbance, places: Place[], world: World): Promise<void> {
  await world.time.sleep(disturbance.atMs);
  if (disturbance.kind === 'jump') {
    world.note(`clocks jump by ${disturbance.ms} ms`);
    world.backend.landAll();
    return world.time.jump(disturbance.ms);
  }
  const place = places[disturbance.session];
  if (place === undefined) return;
  const object = world.object(sessionObjectName(place.caller_id, place.session_id));
  if (disturbance.kind === 'cut') object.cutOff(disturbance.ms, disturbance.landing);
  else object[disturbance.kind]();
}
