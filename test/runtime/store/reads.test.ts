import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { LedgerSql, SqlRow } from '../../../src/gate/ports.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import { noBackends } from '../../support/backends.ts';
import { documents as documentsPort } from '../../../src/tools/help-centre/documents.ts';
import { accounts as accountsPort, type TransactionQuery } from '../../../src/tools/accounts/accounts.ts';

const kit = { ledger: ledgerSql(env.DB), backends: noBackends, now: () => 0 };
const documents = documentsPort.open(kit);
const accounts = accountsPort.open(kit);

async function insertDocument(id: string, status: string): Promise<void> {
  await env.DB.prepare("INSERT INTO documents VALUES (?, 'Warranty', '2', ?, 'en', 'digest', 'body')")
    .bind(id, status)
    .run();
}

describe('documents', () => {
  it('finds a document by its id and nothing by another', async () => {
    await insertDocument('kc-found', 'current');
    expect(await documents.find('kc-found')).toEqual({
      id: 'kc-found',
      title: 'Warranty',
      version: '2',
      status: 'current',
      lang: 'en',
    });
    expect(await documents.find('kc-lost')).toBeNull();
  });

  it('counts by status, also where there is none', async () => {
    const before = await documents.count('current');
    expect(await documents.count('superseded')).toBe(0);
    await insertDocument('kc-counted', 'current');
    await insertDocument('kc-old', 'superseded');
    expect(await documents.count('current')).toBe(before + 1);
    expect(await documents.count('superseded')).toBe(1);
  });
});

let made = 0;

/** An account of CUS-1 in USD with these postings, each a day, a type and an amount; its memo is its place in the list. */
async function account(...postings: [day: string, type: 'DEBIT' | 'CREDIT', amount: number][]): Promise<string> {
  const id = `ACC-${String((made += 1)).padStart(8, '0')}`;
  await env.DB.batch([
    env.DB.prepare("INSERT INTO accounts VALUES (?, 'CUS-1', 'USD')").bind(id),
    ...postings.map(([day, type, amount], place) =>
      env.DB.prepare('INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?)').bind(
        id,
        day,
        place,
        type,
        amount,
        `#${place}`,
      ),
    ),
  ]);
  return id;
}

const query = (account_id: string, changes: Partial<TransactionQuery> = {}): TransactionQuery => ({
  account_id,
  customer_id: 'CUS-1',
  start_date: '2026-01-01',
  transaction_type: 'ALL',
  min_amount_cents: 0,
  limit: 50,
  ...changes,
});

async function memosOf(account_id: string, changes: Partial<TransactionQuery> = {}): Promise<string[] | null> {
  const found = await accounts.transactions(query(account_id, changes));
  return found === null ? null : found.transactions.map(({ memo }) => memo);
}

describe('accounts', () => {
  it('lists transactions newest first, those of one day in reverse order of entry', async () => {
    const id = await account(['2026-01-02', 'DEBIT', 100], ['2026-01-03', 'CREDIT', 200], ['2026-01-03', 'DEBIT', 300]);
    expect(await accounts.transactions(query(id))).toEqual({
      currency: 'USD',
      transactions: [
        { posted_on: '2026-01-03', type: 'DEBIT', amount_cents: 300, memo: '#2' },
        { posted_on: '2026-01-03', type: 'CREDIT', amount_cents: 200, memo: '#1' },
        { posted_on: '2026-01-02', type: 'DEBIT', amount_cents: 100, memo: '#0' },
      ],
      more: false,
    });
  });

  it('includes the first day and the smallest amount, and keeps to the type', async () => {
    const id = await account(['2026-01-02', 'DEBIT', 100], ['2026-01-03', 'CREDIT', 200], ['2026-01-04', 'DEBIT', 300]);
    expect(await memosOf(id, { start_date: '2026-01-03' })).toEqual(['#2', '#1']);
    expect(await memosOf(id, { min_amount_cents: 200 })).toEqual(['#2', '#1']);
    expect(await memosOf(id, { transaction_type: 'DEBIT' })).toEqual(['#2', '#0']);
    expect(await memosOf(id, { transaction_type: 'CREDIT', min_amount_cents: 201 })).toEqual([]);
  });

  it('leaves out the oldest beyond the limit and says that there are more', async () => {
    const id = await account(['2026-01-02', 'DEBIT', 1], ['2026-01-03', 'DEBIT', 2], ['2026-01-04', 'DEBIT', 3]);
    expect(await accounts.transactions(query(id, { limit: 2 }))).toMatchObject({
      transactions: [{ memo: '#2' }, { memo: '#1' }],
      more: true,
    });
    expect(await accounts.transactions(query(id, { limit: 3 }))).toMatchObject({ more: false });
  });

  it('knows an account without transactions from one that does not exist', async () => {
    expect(await accounts.transactions(query(await account()))).toEqual({
      currency: 'USD',
      transactions: [],
      more: false,
    });
    expect(await accounts.transactions(query('ACC-99999999'))).toBeNull();
  });

  it('hides the accounts of other customers, and none where no customer is asked for', async () => {
    const id = await account(['2026-01-02', 'DEBIT', 1]);
    expect(await memosOf(id, { customer_id: 'CUS-2' })).toBeNull();
    expect(await memosOf(id, { customer_id: 'CUS-1' })).toEqual(['#0']);
    expect(await memosOf(id, { customer_id: null })).toEqual(['#0']);
  });

  it('reads no row beyond what it answers with, however long the account is', async () => {
    const days = Array.from({ length: 28 }, (_, day) => `2026-02-${String(day + 1).padStart(2, '0')}`);
    const id = await account(...days.map((day): [string, 'DEBIT', number] => [day, 'DEBIT', 1]));
    const read: number[] = [];
    const metered: LedgerSql = {
      ...ledgerSql(env.DB),
      async all(sql, ...values) {
        const { results, meta } = await env.DB.prepare(sql)
          .bind(...values)
          .all<SqlRow>();
        read.push(meta.rows_read);
        return results;
      },
    };
    await accountsPort.open({ ...kit, ledger: metered }).transactions(query(id, { limit: 3 }));
    expect(read).toEqual([5]);
  });

  it.each(['2026-02-30', '2026-2-3', 'yesterday'])('keeps no posting of the day %s', async (day) => {
    await expect(account([day, 'DEBIT', 1])).rejects.toThrow('posted_on_is_a_date');
  });
});
