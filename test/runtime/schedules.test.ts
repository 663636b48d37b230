/** Stories of the simulation, played with the real object: what ties the simulation to the product. */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCaller } from '../../src/gate/ledger/caller-changes.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';
import type { SqlRow } from '../../src/gate/ports.ts';
import { Approvers } from '../simulation/approver.ts';
import { SimulatedClient, type Place } from '../simulation/client.ts';
import { checkEnd, END_QUERIES, type LedgerEnd } from '../simulation/end.ts';
import { scenarioOf } from '../simulation/generate.ts';
import { Model } from '../simulation/model.ts';
import { operate } from '../simulation/operator.ts';
import { Random } from '../simulation/random.ts';
import { recount, type Answered } from '../simulation/recount.ts';
import type { Disturbance, Scenario } from '../simulation/scenario.ts';
import { RealStage } from '../support/real-stage.ts';
import { KEY_HASH } from '../support/session.ts';
import { isWhole } from '../support/whole.ts';

/** In steps, so that a failure names where to look. */
const SCHEDULES = isWhole ? 200 : 10;
const STEP = isWhole ? 25 : 10;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('a schedule with the real object', () => {
  it.each(Array.from({ length: SCHEDULES / STEP }, (_, i) => ({ from: 1 + i * STEP, to: (i + 1) * STEP })))(
    'keeps every promise: seeds $from to $to',
    async ({ from, to }) => {
      for (let seed = from; seed <= to; seed += 1) expect(await play(scenarioOf(seed)), `seed ${seed}`).toEqual([]);
    },
    300_000,
  );
});

async function play(scenario: Scenario) {
  const random = new Random(`real ${scenario.seed}`);
  const stage = new RealStage(scenario.seed, random);
  const model = new Model();
  model.begin(stage);
  const callers = await Promise.all(scenario.callers.map((caller, i) => addCaller(scenario.seed, i, caller, model)));
  const orders = await Promise.all(scenario.orders.map((order, i) => addOrder(scenario.seed, i, order, model)));
  const places = scenario.sessions.map(({ name, caller, ...fields }): Place => {
    return { ...fields, caller_id: callers[caller] ?? '', api_key: '', key_hash: KEY_HASH, session_id: name };
  });
  breakLedger(scenario, random);

  const approvers = new Approvers(() => stage, model);
  const clients = scenario.clients.flatMap((client) => {
    const place = places[client.session];
    return place === undefined ? [] : [new SimulatedClient(client, place, orders, stage, model).run()];
  });
  await stage.play(
    Promise.all([
      ...clients,
      ...scenario.operators.map((act) => operate(act, callers, orders, stage, model)),
      ...scenario.disturbances.map((each) => disturb(each, places, stage)),
      mails(stage, approvers),
    ]),
    () => model.unanswered.length > 0,
  );
  while (model.unanswered.length > 0) await stage.moment();
  vi.restoreAllMocks();
  await stage.rest();
  for (const id of callers) await readCaller(id, model);
  for (const id of orders) await readOrder(id, model);
  const attempts = await stage.ledgerRows('SELECT * FROM attempts');
  recount(model, await stage.ends(), attempts, stage);
  checkEnd(await ledgerEnd(stage), model);
  return model.violations;
}

/** Names of their own for each story: they share one database. */
const named = (seed: number, i: number): string => String(seed * 10 + i);

async function addCaller(
  seed: number,
  i: number,
  { name, policy }: Scenario['callers'][number],
  model: Model,
): Promise<string> {
  const caller_id = `story${named(seed, i).padStart(11, '0')}`;
  const change = { caller_id, at: Date.now(), request_id: 'story' };
  await createCaller(ledgerSql(env.DB), { name, policy, key_hash: KEY_HASH }, change);
  model.addCaller(caller_id, policy);
  return caller_id;
}

async function addOrder(seed: number, i: number, order: Scenario['orders'][number], model: Model): Promise<string> {
  const { customer_id, total_cents, currency } = order;
  const order_id = `ORD-${named(seed, i).padStart(4, '0')}`;
  const insert = 'INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES (?, ?, ?, ?)';
  await env.DB.prepare(insert).bind(order_id, customer_id, total_cents, currency).run();
  model.addOrder({ order_id, customer_id, total: total_cents, currency });
  return order_id;
}

/** Batches, which are all writes and their read-backs, fail before they arrive or lose their answers. */
function breakLedger({ faults }: Scenario, random: Random): void {
  for (const database of [env.DB, env.AUDIT]) {
    const batch = database.batch.bind(database);
    vi.spyOn(database, 'batch').mockImplementation(async (statements) => {
      if (random.chance(faults.failBefore)) throw new Error('D1_ERROR: Network connection lost.');
      const results = await batch(statements);
      if (random.chance(faults.lostAnswer)) throw new Error('D1_ERROR: Network connection lost.');
      return results;
    });
  }
}

async function disturb(disturbance: Disturbance, places: Place[], stage: RealStage): Promise<void> {
  await stage.time.sleep(disturbance.atMs);
  if (disturbance.kind === 'jump') return stage.jump(disturbance.ms);
  const place = places[disturbance.session];
  if (place === undefined) return;
  await (disturbance.kind === 'evict' ? stage.evict(place.caller_id, place.session_id) : stage.crash());
}

/** Asks each object for the links of the approvals it was heard to open, as the mail's consumer does. */
async function mails(stage: RealStage, approvers: Approvers): Promise<void> {
  const sent = new Set<string>();
  for (let round = 0; round < 40; round += 1) {
    await stage.time.sleep(8_000);
    for (const { id, object } of stage.answers.flatMap(pendingIn).filter(({ id }) => !sent.has(id))) {
      sent.add(id);
      for (let approver = 0; approver < 3; approver += 1) {
        const message = { type: 'approval', object, approval_id: id, approver } as const;
        const task = await stage
          .session(object)
          .mailTask(message)
          .catch(() => null);
        if (task?.kind === 'approval') approvers.arrived({ to: task.to, link: task.link });
      }
    }
  }
}

function pendingIn({ object, method, answer }: Answered): { id: string; object: string }[] {
  if (method !== 'call') return [];
  const id = (answer as { outcome?: { approval?: { id: string } } }).outcome?.approval?.id;
  return id === undefined ? [] : [{ id, object }];
}

async function readCaller(id: string, model: Model): Promise<void> {
  const row = await env.DB.prepare('SELECT version, policy, revoked_at FROM callers WHERE caller_id = ?')
    .bind(id)
    .first();
  model.ledger.caller(
    id,
    Number(row?.['version']),
    String(row?.['policy']),
    (row?.['revoked_at'] ?? null) as number | null,
  );
}

async function readOrder(id: string, model: Model): Promise<void> {
  const row = await env.DB.prepare(
    `SELECT total_cents, coalesce(applied_cents, 0) AS refunded_cents
     FROM orders LEFT JOIN subject_totals ON backend = 'ledger:orders' AND subject = order_id WHERE order_id = ?`,
  )
    .bind(id)
    .first();
  model.ledger.order(id, Number(row?.['total_cents']), Number(row?.['refunded_cents']));
}

const ledgerEnd = async (stage: RealStage): Promise<LedgerEnd> => ({
  orders: await stage.ledgerRows(END_QUERIES.orders),
  attempts: await stage.ledgerRows(END_QUERIES.attempts),
  audit: (await env.AUDIT.prepare(END_QUERIES.audit).all<SqlRow>()).results,
  approvals: await stage.ledgerRows(END_QUERIES.approvals),
  sessions: await stage.ledgerRows(END_QUERIES.sessions),
});
