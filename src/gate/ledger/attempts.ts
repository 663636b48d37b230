/**
 * The ledger's rows of attempts (SPEC 6): each is written once, applied or void, whichever is inserted first. The row that
 * a batch reads last is the only result, whatever guards, counts and errors say.
 */
import * as z from 'zod';
import type { Attempt, Attempts, LedgerRow, LedgerSql, SqlRow, Statement } from '../ports.ts';
import { timestamp } from '../time.ts';
import { flag, integer, jsonObject, jsonText, pageOf, placeIn, type Page } from './columns.ts';

const ledgerRow = z
  .object({ applied: flag, code: z.string().nullable(), answer: jsonText(jsonObject) })
  .transform(({ applied, code, answer }, context): LedgerRow => {
    if (applied) return { applied, answer };
    if (code !== null) return { applied, code, facts: answer };
    context.addIssue('a void without a code');
    return z.NEVER;
  });

/** What an attempt's row says. Throws where there is none: the batch that reads it has written it. */
export const rowToLedger = (row: SqlRow | undefined): LedgerRow => ledgerRow.parse(row);

/** The statement that ends every batch about an attempt. */
export const readAttempt = (effectKey: string): Statement => ({
  sql: 'SELECT applied, code, answer FROM attempts WHERE effect_key = ?1',
  params: [effectKey],
});

const VOID = `
  INSERT INTO attempts (effect_key, call_key, attempt, uid, tool, applied, code, answer, at)
  VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, '{}', ?7)
  ON CONFLICT DO NOTHING`;

/**
 * Voids without a guard. "Not applied" is written, because a send may still be on its way: a read that finds no row
 * settles nothing. Where the send was first, its row comes back applied.
 */
export function attemptsFrom(sql: LedgerSql, now: () => number): Attempts {
  return {
    async void(attempt: Attempt, code: string) {
      const { effect_key, call_key, uid, tool } = attempt;
      const params = [effect_key, call_key, attempt.attempt, uid, tool, code, now()];
      const results = await sql.batch([{ sql: VOID, params }, readAttempt(effect_key)]);
      return rowToLedger(results.at(-1)?.[0]);
    },
  };
}

/** An attempt as the operator's list shows it. */
export type ListedAttempt = { call_key: string; attempt: number; uid: string; applied: boolean; at: string };

const listedRow = z.object({
  effect_key: z.string(),
  call_key: z.string(),
  attempt: integer,
  uid: z.string(),
  applied: flag,
  at: integer,
});

const LIST = `
  SELECT effect_key, call_key, attempt, uid, applied, at FROM attempts
  WHERE ?1 IS NULL OR effect_key > ?1 ORDER BY effect_key LIMIT ?2`;

/**
 * All attempts in the order of their keys, which is that of their storage: complete for every row that was there when the
 * first page was read. Throws `InvalidCursor`.
 */
export async function listAttempts(sql: LedgerSql, cursor: string | null, limit: number): Promise<Page<ListedAttempt>> {
  const [after = null] = placeIn(cursor, z.tuple([z.string()])) ?? [];
  const rows = (await sql.all(LIST, after, limit + 1)).map((row) => listedRow.parse(row));
  const page = pageOf(rows, limit, ({ effect_key }) => [effect_key]);
  return {
    next_cursor: page.next_cursor,
    rows: page.rows.map(({ call_key, attempt, uid, applied, at }) => ({
      call_key,
      attempt,
      uid,
      applied,
      at: timestamp(at),
    })),
  };
}
