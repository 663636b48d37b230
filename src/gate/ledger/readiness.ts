/** Whether the databases can serve: they answer, and the migrations were applied. */
import type { LedgerSql } from '../ports.ts';

/**
 * The newest table of each database: if it exists, all earlier migrations ran. Migrations without a new table are not detected.
 * A test compares them with the migrations.
 */
export const NEWEST_TABLES = { ledger: 'pauses', audit: 'audit' };

/** Throws when a database is out of reach. */
export async function readNewestTables({ ledger, audit }: { ledger: LedgerSql; audit: LedgerSql }): Promise<void> {
  await Promise.all([
    ledger.all(`SELECT 1 FROM ${NEWEST_TABLES.ledger} LIMIT 1`),
    audit.all(`SELECT 1 FROM ${NEWEST_TABLES.audit} LIMIT 1`),
  ]);
}
