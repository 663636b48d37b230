/**
 * A database of a simulated world on `node:sqlite`. Databases live longer than worlds, because making one and preparing its
 * statements costs more than most worlds do: a world runs within one transaction that is rolled back at its end.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SqlRow, SqlValue } from '../../src/gate/ports.ts';
import { worldRandom } from './platform.ts';

export class Database {
  readonly #db = new DatabaseSync(':memory:');
  readonly #statements = new Map<string, StatementSync>();

  constructor(schema: (exec: (sql: string) => void) => void) {
    schema((sql) => this.#db.exec(sql));
    // SQL's own chance is the world's too.
    this.#db.function('random', { deterministic: false }, () => worldRandom().int(0, 2 ** 31));
    // Objects and the ledger hand over millions of rows a minute; nothing of it must reach a disk.
    this.#db.exec('PRAGMA temp_store = memory');
  }

  /** A function that triggers call when something was written, whoever wrote it. */
  onWrite(name: string, told: (...values: SqlValue[]) => void): void {
    this.#db.function(name, { varargs: true }, (...values) => {
      told(...(values as SqlValue[]));
      return null;
    });
  }

  all(sql: string, params: readonly SqlValue[] = []): SqlRow[] {
    return this.#prepared(sql).all(...params) as SqlRow[];
  }

  /** Everything written from here on until `keep` or `undo` of the same name. */
  mark = (name: string): void => void this.#prepared(`SAVEPOINT ${name}`).run();
  keep = (name: string): void => void this.#prepared(`RELEASE ${name}`).run();
  undo(name: string): void {
    this.#prepared(`ROLLBACK TO ${name}`).run();
    this.keep(name);
  }

  within<T>(name: string, run: () => T): T {
    this.mark(name);
    try {
      const result = run();
      this.keep(name);
      return result;
    } catch (error) {
      this.undo(name);
      throw error;
    }
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
