import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import type { Accounts, TransactionQuery } from '../../../src/gate/ports.ts';
import { searchTransactions } from '../../../src/tools/accounts/search-transactions.ts';
import { readWith, refusedFields } from '../../support/bound-tool.ts';

const search = (changes: JsonObject = {}): JsonObject => ({
  account_id: 'ACC-98124501',
  start_date: '2026-03-01',
  ...changes,
});
const rent = { posted_on: '2026-03-02', type: 'DEBIT', amount_cents: 90_000, memo: 'Rent' } as const;

/** An account that remembers what it was asked. */
function account(): { accounts: Accounts; queries: TransactionQuery[] } {
  const queries: TransactionQuery[] = [];
  const accounts: Accounts = {
    async transactions(query) {
      queries.push(query);
      return { currency: 'USD', transactions: [rent], more: true };
    },
  };
  return { accounts, queries };
}

describe('searchTransactions', () => {
  it('answers with the account, its currency, its transactions and whether there are more', async () => {
    const { accounts } = account();
    const answer = await readWith(searchTransactions, search(), { accounts });
    const data = { account_id: 'ACC-98124501', currency: 'USD', transactions: [rent], more: true };
    expect(answer).toEqual({ ok: true, data });
    expect(searchTransactions.misfit(data)).toBeNull();
  });

  it('asks for all types and amounts unless told otherwise, 50 at most', async () => {
    const { accounts, queries } = account();
    await readWith(searchTransactions, search({ transaction_type: null, min_amount_cents: null }), { accounts });
    expect(queries).toEqual([
      {
        account_id: 'ACC-98124501',
        customer_id: 'CUS-1',
        start_date: '2026-03-01',
        transaction_type: 'ALL',
        min_amount_cents: 0,
        limit: 50,
      },
    ]);
  });

  it('asks in the name of nobody where the session has no customer', async () => {
    const { accounts, queries } = account();
    await readWith(searchTransactions, search(), { accounts }, null);
    expect(queries.map(({ customer_id }) => customer_id)).toEqual([null]);
  });

  it('says so where there is no such account', async () => {
    const accounts: Accounts = { transactions: async () => null };
    expect(await readWith(searchTransactions, search(), { accounts })).toEqual({
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
