import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import type { SqlRow, SqlValue } from '../../../src/gate/ports.ts';
import { searchTransactions } from '../../../src/tools/accounts/search-transactions.ts';
import { readWith, refusedFields } from '../../support/bound-tool.ts';

const search = (changes: JsonObject = {}): JsonObject => ({
  account_id: 'ACC-98124501',
  start_date: '2026-03-01',
  ...changes,
});
const rent = { posted_on: '2026-03-02', type: 'DEBIT', amount_cents: 90_000, memo: 'Rent' } as const;

/** An account in USD of so many transactions, all of them rent, that remembers what it was asked. */
function account(size: number) {
  const asked: SqlValue[][] = [];
  const read = (_sql: string, params: SqlValue[]): SqlRow[] => {
    asked.push(params);
    const none = { posted_on: null, type: null, amount_cents: null, memo: null };
    return size === 0
      ? [{ currency: 'USD', ...none }]
      : Array.from({ length: size }, () => ({ currency: 'USD', ...rent }));
  };
  return { read, asked };
}

describe('searchTransactions', () => {
  it('answers with the account, its currency, its transactions and whether there are more', async () => {
    for (const [size, shown, more] of [
      [0, 0, false],
      [1, 1, false],
      [50, 50, false],
      [51, 50, true],
    ] as const) {
      const answer = await readWith(searchTransactions, search(), account(size).read);
      const transactions = Array.from({ length: shown }, () => rent);
      const data = { account_id: 'ACC-98124501', currency: 'USD', transactions, more };
      expect(answer).toEqual({ ok: true, data });
      expect(searchTransactions.misfit(data)).toBeNull();
    }
  });

  it('asks for all types and amounts unless told otherwise, 50 at most', async () => {
    const { read, asked } = account(1);
    await readWith(searchTransactions, search({ transaction_type: null, min_amount_cents: null }), read);
    // One more than is shown, to know whether there are more.
    expect(asked).toEqual([['ACC-98124501', 'CUS-1', '2026-03-01', 'ALL', 0, 51]]);
  });

  it('asks without a customer if the session has none', async () => {
    const { read, asked } = account(1);
    await readWith(searchTransactions, search(), read, null);
    expect(asked.map(([, customer_id]) => customer_id)).toEqual([null]);
  });

  it('says so where there is no such account', async () => {
    expect(await readWith(searchTransactions, search(), () => [])).toEqual({
      ok: false,
      code: 'ACCOUNT_NOT_FOUND',
      facts: {},
    });
  });

  it.each(['2024-02-29', '2000-02-29', '2026-12-31', '0001-01-01', '9999-12-31'])('takes the date %s', (start_date) => {
    expect(refusedFields(searchTransactions, search({ start_date }))).toEqual([]);
  });

  it.each([
    ...['2026-02-29', '1900-02-29', '2026-04-31', '2026-00-10', '2026-13-01', '2026-01-00', '2026-01-32'],
    ...['2026-1-1', '2026-01-01T00:00:00Z', '01-01-2026', '20260101', 'yesterday', '', ' 2026-01-01', '2026-01-01\n'],
    ...['+002026-01-01', '２０２６-01-01', 20260101, null, true],
  ])('refuses the date %j', (start_date) => {
    expect(refusedFields(searchTransactions, search({ start_date }))).toEqual(['start_date']);
  });

  it.each([
    ['account_id', 'ACC-1'],
    ['account_id', 'acc-98124501'],
    ['transaction_type', 'debit'],
    ['min_amount_cents', -1],
    ['min_amount_cents', 0.5],
    ['min_amount_cents', '100'],
  ])('refuses %s %j', (field, value) => {
    expect(refusedFields(searchTransactions, search({ [field]: value }))).toEqual([field]);
  });

  it.each([
    ['currency', { currency: 'EUR' }],
    ['transactions.0.amount_cents', { transactions: [{ ...rent, amount_cents: -5 }] }],
    ['transactions.0', { transactions: [{ ...rent, balance: 1 }] }],
    ['transactions', { transactions: Array.from({ length: 51 }, () => rent) }],
  ])('finds the misfit %s of a drifted backend', (path, drift) => {
    const data = { account_id: 'ACC-98124501', currency: 'USD', transactions: [rent], more: false };
    expect(searchTransactions.misfit({ ...data, ...drift })).toBe(path);
  });
});
