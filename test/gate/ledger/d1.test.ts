import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../src/gate/ports.ts';
import { isRowRefusal, ledgerSql } from '../../../src/gate/ledger/d1.ts';

/** What the caller of a batch meets when D1 fails like this. */
function failureOf(error: Error): Promise<unknown> {
  const db = { prepare: () => ({ bind: () => ({}) }), batch: () => Promise.reject(error) } as unknown as D1Database;
  return ledgerSql(db)
    .batch([{ sql: 'SELECT 1', params: [] }])
    .catch((caught: unknown) => caught);
}

describe('ledgerSql', () => {
  it.each([
    'D1_ERROR: Network connection lost.',
    'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
    'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
    'D1_ERROR: D1 DB reset because its code was updated.',
    'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
  ])('says that trying again may help: %s', async (message) => {
    const failure = await failureOf(new Error(message));
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ transient: true });
  });

  it.each([
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
    'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
    "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  ])('says that trying again at once would not help: %s', async (message) => {
    const failure = await failureOf(new Error(message));
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ transient: false });
  });

  it('finds the reason where only the cause names it', async () => {
    const failure = await failureOf(new Error('D1_ERROR', { cause: new Error('Network connection lost.') }));
    expect(failure).toMatchObject({ name: 'UpstreamError', transient: true });
  });

  it.each([
    'D1_ERROR: no such table: nowhere: SQLITE_ERROR',
    'D1_ERROR: CHECK constraint failed: refunded_within_total: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)',
  ])('leaves a bug what it is: %s', async (message) => {
    const bug = new Error(message);
    expect(await failureOf(bug)).toBe(bug);
  });
});

describe('isRowRefusal', () => {
  it.each([
    'D1_ERROR: NOT NULL constraint failed: audit.code: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_NOTNULL)',
    'D1_ERROR: string or blob too big: SQLITE_TOOBIG',
    'D1_ERROR: datatype mismatch: SQLITE_MISMATCH',
    'D1_ERROR: malformed JSON: SQLITE_ERROR',
  ])('is what the row itself is refused for: %s', (message) => {
    expect(isRowRefusal(new Error(message))).toBe(true);
  });

  it.each(['D1_ERROR: Network connection lost.', 'D1_ERROR: no such table: audit: SQLITE_ERROR'])(
    'is nothing that may pass: %s',
    (message) => {
      expect(isRowRefusal(new Error(message))).toBe(false);
    },
  );
});
