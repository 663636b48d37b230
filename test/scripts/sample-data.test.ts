import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeSampleData } from '../../scripts/sample-data.ts';
import { migratedDatabase } from '../support/node-session.ts';

let scratch = '';
beforeEach(() => (scratch = mkdtempSync(join(tmpdir(), 'toolgate-test-'))));
afterEach(() => rmSync(scratch, { recursive: true }));

/** A database with the sample data loaded. */
function loaded() {
  const database = migratedDatabase();
  const sql = readFileSync(writeSampleData(scratch), 'utf8');
  database.exec(sql);
  return database;
}
const count = (database: ReturnType<typeof loaded>, what: string): unknown =>
  database.prepare(`SELECT count(*) AS n FROM ${what}`).get()?.['n'];

describe('writeSampleData', () => {
  it('holds what the documentation tells people to try', () => {
    const database = loaded();
    expect(database.prepare('SELECT * FROM orders ORDER BY order_id').all()).toMatchObject([
      { order_id: 'ORD-1001', customer_id: 'CUS-1', total_cents: 12_000, currency: 'BRL' },
      { order_id: 'ORD-1002', customer_id: 'CUS-2', total_cents: 4_500, currency: 'USD' },
    ]);
    expect(database.prepare('SELECT * FROM accounts').all()).toMatchObject([
      { account_id: 'ACC-98124501', customer_id: 'CUS-1', currency: 'USD' },
    ]);
    expect(count(database, "documents WHERE status = 'current'")).toBe(12);
    expect(count(database, "documents WHERE status = 'superseded'")).toBe(1);
  });

  it('holds debits, credits and one memo that poses as the system and asks for a refund', () => {
    const database = loaded();
    expect(Number(count(database, "transactions WHERE type = 'DEBIT'"))).toBeGreaterThan(2);
    expect(Number(count(database, "transactions WHERE type = 'CREDIT'"))).toBeGreaterThan(2);
    const attack = "memo LIKE '%SYSTEM OVERRIDE:%' AND memo LIKE '%refund%'";
    expect(count(database, `transactions WHERE account_id = 'ACC-98124501' AND ${attack}`)).toBe(1);
  });

  it('changes nothing when it is loaded again, refunds included', () => {
    const database = loaded();
    database.exec(
      `INSERT INTO attempts
         (backend, subject, effect_key, call_key, attempt, uid, tool, amount_cents, currency, details, applied, answer, at)
       VALUES ('ledger:orders', 'ORD-1001', 'effect', 'call', 1, 'uid', 'refund_order', 100, 'BRL', '{}', 1, '{}', 1)`,
    );
    expect(count(database, 'subject_totals WHERE applied_cents = 100')).toBe(1);
    const rows = (): unknown[] =>
      ['orders', 'accounts', 'transactions', 'documents', 'attempts', 'subject_totals'].map((table) =>
        database.prepare(`SELECT * FROM ${table}`).all(),
      );
    const before = rows();
    database.exec(readFileSync(join(scratch, 'sample-data.sql'), 'utf8'));
    expect(rows()).toEqual(before);
  });
});
