/** Whether the shared database can serve: it answers, and the migrations were applied. */
import type { LedgerSql } from '../ports.ts';

/** The newest table: where it is, all are. What a later migration changes without a table it does not tell. A test compares it with the migrations. */
export const NEWEST_TABLE = 'pauses';

/** Throws when D1 is out of reach. */
export async function readNewestTable(sql: LedgerSql): Promise<void> {
  await sql.all(`SELECT 1 FROM ${NEWEST_TABLE} LIMIT 1`);
}
