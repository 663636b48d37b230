/** What a test may see of a session object and bring about around it that no agent, approver or operator can. */
import { listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import type { Policy } from '../../src/gate/ports.ts';
import type { AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { changeCaller, revokeCaller } from '../../src/gate/ledger/caller-changes.ts';
import { findCaller, readCallerChange } from '../../src/gate/ledger/callers.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';
import { stubOf } from './session.ts';

type Row = Record<string, string | number | null>;

/** Rows of the object's own database. */
export const rowsIn = (object: string, sql: string, ...params: (string | number)[]) =>
  runInDurableObject(env.SESSION.getByName(object), (_, { storage }) =>
    storage.sql.exec<Row>(sql, ...params).toArray(),
  );

/** The platform's own begin with an underscore. */
const OWN_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'";

export const tablesIn = async (object: string): Promise<string[]> =>
  (await rowsIn(object, OWN_TABLES)).map(({ name }) => String(name));

/** The ids of all objects that keep anything. One that was only asked for is there, and empty. */
export async function objectsWithStorage(): Promise<string[]> {
  const ids = await listDurableObjectIds(env.SESSION);
  const tables = await Promise.all(
    ids.map((id) =>
      runInDurableObject(env.SESSION.get(id), (_, { storage }) => storage.sql.exec(OWN_TABLES).toArray().length),
    ),
  );
  return ids.filter((_, index) => tables[index] !== 0).map(String);
}

/** All that the object keeps, its alarm included, as text to compare. */
export async function dumpOf(object: string): Promise<string> {
  const tables = await tablesIn(object);
  const rows = await Promise.all(tables.map(async (table) => [table, await rowsIn(object, `SELECT * FROM ${table}`)]));
  return JSON.stringify({ rows, alarm: await alarmOf(object) });
}

/** The audit rows as the object keeps them, in their order. */
export const auditIn = async (object: string): Promise<AuditRow[]> =>
  (await rowsIn(object, 'SELECT row FROM log ORDER BY seq')).map(({ row }) => JSON.parse(String(row)) as AuditRow);

/** A time ahead of the real clock, which alarms go by. */
export const AHEAD = Date.UTC(2040, 0, 1);

/** Begins at {@link AHEAD}: no alarm runs but those that a test runs. */
export const withoutAlarms = () => vi.useFakeTimers({ toFake: ['Date'], now: AHEAD });

/** Runs the alarm now; false where none was armed. */
export const runAlarm = (object: string): Promise<boolean> => runDurableObjectAlarm(env.SESSION.getByName(object));

/** When the object's alarm is armed for, in ms since the epoch. */
export const alarmOf = (object: string): Promise<number | null> =>
  runInDurableObject(env.SESSION.getByName(object), (_, { storage }) => storage.getAlarm());

type Told = { caller_id: string; object: string };

/** Changes the caller's policy and tells the session, as the operator's route does. */
export async function changePolicy({ caller_id, object }: Told, changes: Partial<Policy>): Promise<void> {
  const sql = ledgerSql(env.DB);
  const caller = await findCaller(sql, caller_id);
  if (caller === null) throw new Error('there is no such caller');
  const next = { name: caller.name, policy: { ...caller.policy, ...changes }, version: caller.version };
  await changeCaller(sql, next, { caller_id, at: Date.now(), request_id: 'req-change' });
  await tell({ caller_id, object });
}

/** Revokes the caller in the ledger only: the session has not heard of it yet. */
export async function revokeUnheard({ caller_id }: Told): Promise<void> {
  await revokeCaller(ledgerSql(env.DB), { caller_id, at: Date.now(), request_id: 'req-revoke' });
}

export async function revoke(told: Told): Promise<void> {
  await revokeUnheard(told);
  await tell(told);
}

/** Tells the session what its caller is now. */
export async function tell({ caller_id, object }: Told): Promise<void> {
  const change = await readCallerChange(ledgerSql(env.DB), caller_id);
  if (change === null) throw new Error('there is no such caller');
  await stubOf(object).tell(change);
}

/** Runs `action` once, when the next read of an order is answered and before whoever asked hears of it. */
export function afterNextRead(action: () => Promise<unknown>): void {
  const prepare = env.DB.prepare.bind(env.DB);
  let isDone = false;
  vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql);
    if (isDone || !sql.includes('FROM orders')) return statement;
    isDone = true;
    const bind = statement.bind.bind(statement);
    statement.bind = (...values) => {
      const bound = bind(...values);
      const all = bound.all.bind(bound);
      bound.all = async <Row>() => {
        const result = await all<Row>();
        await action();
        return result;
      };
      return bound;
    };
    return statement;
  });
}

/** Runs `action` once, before the next transaction reaches the ledger. */
export function beforeNextBatch(action: () => Promise<unknown>): void {
  const batch = env.DB.batch.bind(env.DB);
  const spy = vi.spyOn(env.DB, 'batch');
  spy.mockImplementationOnce(async <Row>(statements: D1PreparedStatement[]) => {
    await action();
    return batch<Row>(statements);
  });
}

/** Every read of an order fails with `error` until mocks are restored. */
export function failReads(error: Error): void {
  const prepare = env.DB.prepare.bind(env.DB);
  vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    if (sql.includes('FROM orders')) throw error;
    return prepare(sql);
  });
}
