/** Whether the shared database can serve: it answers, and the migrations were applied. */
import type { LedgerSql } from '../ports.ts';

/** Reads from the table that comes last in the migrations. Throws as any read does when D1 is out of reach. */
export async function readNewestTable(sql: LedgerSql): Promise<void> {
  await sql.all('SELECT 1 FROM approvals LIMIT 1');
}
