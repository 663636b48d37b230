/** Customers' accounts as the bank shows them. One statement, so that account and transactions are of one moment and one trip. */
import * as z from 'zod';
import type { Port } from '../../gate/index.ts';

/** The currencies of accounts (CHECK on accounts.currency). */
export const CURRENCIES = ['BRL', 'USD'] as const;

/** `posted_on` is YYYY-MM-DD; the amount is positive, `type` says which way it went. */
export type Transaction = { posted_on: string; type: 'DEBIT' | 'CREDIT'; amount_cents: number; memo: string };

export type TransactionQuery = {
  account_id: string;
  /** Accounts of other customers do not exist; null sees all. */
  customer_id: string | null;
  start_date: string;
  transaction_type: 'DEBIT' | 'CREDIT' | 'ALL';
  min_amount_cents: number;
  limit: number;
};

export interface Accounts {
  /** Newest first; `more` where the limit left some out. Null where the account does not exist. */
  transactions(
    query: TransactionQuery,
  ): Promise<{ currency: (typeof CURRENCIES)[number]; transactions: Transaction[]; more: boolean } | null>;
}

const transactionRow: z.ZodType<Transaction> = z.object({
  posted_on: z.string(),
  type: z.enum(['DEBIT', 'CREDIT']),
  amount_cents: z.int(),
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

export const accounts: Port<Accounts> = {
  open: ({ ledger }) => ({
    async transactions({ account_id, customer_id, start_date, transaction_type, min_amount_cents, limit }) {
      const values = [account_id, customer_id, start_date, transaction_type, min_amount_cents];
      const rows = await ledger.all(SEARCH, ...values, limit + 1);
      const [first] = rows;
      if (first === undefined) return null;
      const found = rows.map((row) => foundRow.parse(row)).filter((row) => row.posted_on !== null);
      const { currency } = accountRow.parse(first);
      return { currency, transactions: found.slice(0, limit), more: found.length > limit };
    },
  }),
};
