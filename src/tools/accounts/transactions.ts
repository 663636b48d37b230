/** Searches in customers' accounts. One statement, so that account and transactions are of one moment and one trip. */
import * as z from 'zod';
import { CURRENCIES, type Accounts, type LedgerSql, type Transaction } from '../../gate/ports.ts';
import { integer } from '../../gate/ledger/columns.ts';

const transactionRow: z.ZodType<Transaction> = z.object({
  posted_on: z.string(),
  type: z.enum(['DEBIT', 'CREDIT']),
  amount_cents: integer,
  memo: z.string(),
});
/** An account without a fitting transaction is one row of nulls. */
const foundRow = z.union([transactionRow, z.object({ posted_on: z.null() })]);
const accountRow = z.object({ currency: z.enum(CURRENCIES) });

const SEARCH = `
  SELECT a.currency, t.posted_on, t.type, t.amount_cents, t.memo
  FROM accounts a
  LEFT JOIN transactions t
    ON t.account_id = a.account_id
    AND t.posted_on >= ?3
    AND (?4 = 'ALL' OR t.type = ?4)
    AND t.amount_cents >= ?5
  WHERE a.account_id = ?1 AND (?2 IS NULL OR a.customer_id = ?2)
  ORDER BY t.posted_on DESC, t.entry DESC
  LIMIT ?6`;

/** Accounts of the bank; with a customer, only theirs exist. */
export function accountsFrom(sql: LedgerSql): Accounts {
  return {
    async transactions({ account_id, customer_id, start_date, transaction_type, min_amount_cents, limit }) {
      const values = [account_id, customer_id, start_date, transaction_type, min_amount_cents];
      const rows = await sql.all(SEARCH, ...values, limit + 1);
      const [first] = rows;
      if (first === undefined) return null;
      const found = rows.map((row) => foundRow.parse(row)).filter((row) => row.posted_on !== null);
      const { currency } = accountRow.parse(first);
      return { currency, transactions: found.slice(0, limit), more: found.length > limit };
    },
  };
}
