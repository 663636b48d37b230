/** The databases of simulated objects: kept from world to world, with triggers that tell the model of every write. */
import { createTables } from '../../src/gate/session/schema.ts';
import { RECORD_COLUMNS } from './rules-records.ts';
import type { SimulatedObject } from './session-object.ts';
import { Database } from './sqlite.ts';

const RECORD = RECORD_COLUMNS.map((column) => `NEW.${column}`).join(', ');
const WITNESSES = [
  `CREATE TEMP TRIGGER see_record_new AFTER INSERT ON main.record BEGIN SELECT seen_record(${RECORD}); END`,
  `CREATE TEMP TRIGGER see_record AFTER UPDATE OF state ON main.record BEGIN SELECT seen_record(${RECORD}); END`,
  'CREATE TEMP TRIGGER see_log AFTER INSERT ON main.log BEGIN SELECT seen_log(NEW.seq, NEW.row); END',
  'CREATE TEMP TRIGGER see_session AFTER INSERT ON main.session BEGIN SELECT seen_session(NEW.uid, NEW.caller_id, NEW.session_id); END',
];

export type Borrowed = { database: Database; owner: { object: SimulatedObject | null } };

/** Databases of objects of worlds that ended, and who writes in each now. */
const pool: Borrowed[] = [];
export function borrow(object: SimulatedObject): Borrowed {
  const free = pool.pop() ?? build();
  free.owner.object = object;
  return free;
}

function build(): Borrowed {
  const owner: { object: SimulatedObject | null } = { object: null };
  const database = new Database((exec) => createTables({ all: (sql) => (exec(sql), []), transaction: (run) => run() }));
  for (const name of ['record', 'log', 'session'] as const)
    database.onWrite(`seen_${name}`, (...values) => owner.object?.sees(name, values));
  for (const trigger of WITNESSES) database.all(trigger);
  return { database, owner };
}

export function giveBack(borrowed: Borrowed): void {
  borrowed.owner.object = null;
  pool.push(borrowed);
}

const writes = new Map<string, boolean>();
export function isWrite(sql: string): boolean {
  const known = writes.get(sql);
  if (known !== undefined) return known;
  const is = !/^\s*SELECT\b/.test(sql);
  writes.set(sql, is);
  return is;
}
