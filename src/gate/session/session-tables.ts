/**
 * The object's own database with what one life of the object remembers of it, so that a call reads its session's row and
 * the places of its log from memory. Whoever writes the row or the log brings the memory up to date in the same step; a
 * transaction that is rolled back forgets all of it, and the next reader looks again.
 */
import type { SessionSql, SqlRow, SqlValue } from '../ports.ts';
import type { LogIndex } from './log-index.ts';
import type { SessionPorts } from './session-ports.ts';
import type { SessionRow } from './session-row.ts';

export class SessionTables implements SessionSql {
  readonly #sql: SessionSql;
  /** Null where no session is open; undefined before it was read. */
  session: SessionRow | null | undefined;
  /** Undefined before the log was read. */
  index: LogIndex | undefined;

  constructor(sql: SessionSql) {
    this.#sql = sql;
  }

  all(sql: string, ...params: SqlValue[]): SqlRow[] {
    return this.#sql.all(sql, ...params);
  }

  transaction<T>(run: () => T): T {
    try {
      return this.#sql.transaction(run);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  forget(): void {
    this.session = undefined;
    this.index = undefined;
  }
}

/** What the platform gives, with the tables in the place of the bare database. */
export interface OwnPorts extends SessionPorts {
  sql: SessionTables;
}
