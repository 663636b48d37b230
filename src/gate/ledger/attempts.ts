/**
 * The ledger's rows of attempts (docs/specification.md#life-of-an-effect): each is written once, applied or void, whichever
 * is inserted first. The row that
 * a batch reads last is the only result, whatever guards, counts and errors say.
 */
import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import type { Attempt, Attempts, Kit, LedgerRow, LedgerSql, SqlRow, SqlValue, Statement } from '../ports.ts';
import { timestamp } from '../time.ts';
import { filter, flag, integer, jsonObject, jsonText, pageOf, placeIn, where, type Page } from './columns.ts';

/** What rows of the ledger are written with. */
export type LedgerKit = Pick<Kit, 'ledger' | 'now'>;

/** Where the attempts of a tool's own books are written. */
export const ledgerBackend = (name: string): string => `ledger:${name}`;

/**
 * One SELECT that answers one row: `code` (null where the attempt may be applied, else the refusing code), `answer` (JSON
 * text: the tool's data) and `facts` (JSON text: what the refusal names). Its parameters are `?1`, `?2`, … Bound numbers
 * arrive as REAL, so write `CAST(?2 AS INTEGER)` inside JSON.
 */
export type Judgement = { readonly sql: string; readonly params: readonly SqlValue[] };

const ledgerRow = z
  .object({ applied: flag, code: z.string().nullable(), answer: jsonText(jsonObject.nullable()) })
  .transform(({ applied, code, answer }, context): LedgerRow => {
    if (applied) return { applied, answer };
    if (code !== null) return { applied, code, facts: answer ?? {} };
    context.addIssue('a void without a code');
    return z.NEVER;
  });

/** Throws where there is no row: the batch that reads it has written it. */
export const rowToLedger = (row: SqlRow | undefined): LedgerRow => ledgerRow.parse(row);

/** The statement that ends every batch about an attempt. */
export const readAttempt = ({ backend, subject, effect_key }: Attempt): Statement => ({
  sql: 'SELECT applied, code, answer FROM attempts WHERE backend = ?1 AND subject = ?2 AND effect_key = ?3',
  params: [backend, subject, effect_key],
});

export const COLUMNS =
  'backend, subject, effect_key, call_key, attempt, uid, tool, amount_cents, currency, details, at, applied, code, answer';

export const columnsOf = (attempt: Attempt, details: JsonObject, at: number): SqlValue[] => [
  attempt.backend,
  attempt.subject,
  attempt.effect_key,
  attempt.call_key,
  attempt.attempt,
  attempt.uid,
  attempt.tool,
  attempt.money?.amount_cents ?? null,
  attempt.money?.currency ?? null,
  JSON.stringify(details),
  at,
];

/**
 * Why a caller's tool may apply nothing now: its caller is not live, or an operator paused it. Both are places of parameters.
 * `+scope` reads the few pauses there are; through the key each of the three scopes would cost a read where there is none.
 */
export const barredBy = (caller: string, tool: string): string => `
  CASE
    WHEN NOT EXISTS (SELECT 1 FROM callers WHERE caller_id = ${caller} AND revoked_at IS NULL) THEN 'CALLER_REVOKED'
    WHEN EXISTS (SELECT 1 FROM pauses WHERE +scope IN ('all', 'caller:' || ${caller}, 'tool:' || ${tool})) THEN 'PAUSED'
  END`;

/**
 * Inserts the attempt: applied where the judgement has no code, else void with its code. A revocation and a pause are
 * judged first and here, so that nothing is applied after the operator was answered. A judgement without a row
 * breaks the NOT NULL of `answer`, and nothing is written. The totals of the subject move by a trigger on this insert.
 */
function insertJudged(attempt: Attempt, details: JsonObject, judgement: Judgement, at: number): Statement {
  const own = [attempt.caller_id, ...columnsOf(attempt, details, at)];
  const place = (index: number): string => `?${judgement.params.length + index + 1}`;
  return {
    sql: `
      WITH judged AS (${judgement.sql}),
      guarded AS (
        SELECT
          coalesce(barred, judged.code) AS code,
          judged.answer,
          CASE WHEN barred IS NULL THEN judged.facts ELSE '{}' END AS facts
        FROM (SELECT ${barredBy(place(0), place(7))} AS barred) LEFT JOIN judged
        LIMIT 1
      )
      INSERT INTO attempts (${COLUMNS})
      SELECT ${own
        .slice(1)
        .map((_, index) => place(index + 1))
        .join(', ')},
        code IS NULL, code, CASE WHEN code IS NULL THEN answer ELSE facts END
      FROM guarded WHERE NOT (${place(own.length)} AND code IS 'PAUSED')
      ON CONFLICT DO NOTHING`,
    params: [...judgement.params, ...own, Number(attempt.waits)],
  };
}

/**
 * Sends one attempt as one transaction. Safe to repeat: one attempt has one row, and the row read last is the answer. Null: it
 * was approved and waits until a pause is lifted.
 */
export async function sendAttempt(
  { ledger, now }: LedgerKit,
  attempt: Attempt,
  details: JsonObject,
  judgement: Judgement,
): Promise<LedgerRow | null> {
  const results = await ledger.batch([insertJudged(attempt, details, judgement, now()), readAttempt(attempt)]);
  const row = results.at(-1)?.[0];
  return attempt.waits && row === undefined ? null : rowToLedger(row);
}

const VOID = `
  INSERT INTO attempts (${COLUMNS})
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, '{}')
  ON CONFLICT DO NOTHING`;

/**
 * Voids without a guard. "Not applied" is written, because a send may still be on its way: a read that finds no row
 * settles nothing. Where the send was first, its row comes back applied.
 */
export function attemptsFrom({ ledger, now }: LedgerKit): Attempts {
  return {
    async void(attempt, code) {
      const params = [...columnsOf(attempt, {}, now()), code];
      const results = await ledger.batch([{ sql: VOID, params }, readAttempt(attempt)]);
      return rowToLedger(results.at(-1)?.[0]);
    },
  };
}

/** An attempt as the operator's list shows it. `answer` null: void, or the answer could not be read. */
export type ListedAttempt = {
  backend: string;
  subject: string;
  call_key: string;
  attempt: number;
  uid: string;
  applied: boolean;
  amount_cents: number | null;
  currency: string | null;
  answer: JsonObject | null;
  external_id: string | null;
  at: string;
};

const listedRow = z.object({
  backend: z.string(),
  subject: z.string(),
  effect_key: z.string(),
  call_key: z.string(),
  attempt: integer,
  uid: z.string(),
  applied: flag,
  amount_cents: integer.nullable().catch(null),
  currency: z.string().nullable(),
  // What somebody else wrote there must not hide all other rows.
  answer: jsonText(jsonObject.nullable()).catch(null),
  external_id: z.string().nullable(),
  at: integer,
});
const LISTED = Object.keys(listedRow.shape).join(', ');

/** What was applied to a subject in sum. */
export type SubjectTotal = { backend: string; subject: string; currency: string; applied_cents: number };

const totalRow: z.ZodType<SubjectTotal> = z.object({
  backend: z.string(),
  subject: z.string(),
  currency: z.string(),
  // No sum is ever that.
  applied_cents: integer.catch(-1),
});

/** What narrows the list; null does not. */
export type AttemptFilters = { backend: string | null; subject: string | null };
const NO_FILTERS: AttemptFilters = { backend: null, subject: null };

const keyPlace = z.tuple([z.string(), z.string(), z.string()]);

/**
 * All attempts in the order of their keys, which is that of their storage: complete for every row that was there when the
 * first page was read. Throws `InvalidCursor`.
 */
export async function listAttempts(
  sql: LedgerSql,
  cursor: string | null,
  limit: number,
  { backend, subject }: AttemptFilters = NO_FILTERS,
): Promise<Page<ListedAttempt>> {
  const after = placeIn(cursor, keyPlace);
  const chosen = where(
    filter('backend = ?', backend),
    filter('subject = ?', subject),
    after && ['(backend, subject, effect_key) > (?, ?, ?)', ...after],
  );
  const list = `SELECT ${LISTED} FROM attempts ${chosen.sql} ORDER BY backend, subject, effect_key LIMIT ?`;
  const rows = (await sql.all(list, ...chosen.params, limit + 1)).map((row) => listedRow.parse(row));
  const { rows: kept, next_cursor } = pageOf(rows, limit, (row) => [row.backend, row.subject, row.effect_key]);
  return { rows: kept.map(toListed), next_cursor };
}

const toListed = ({ effect_key: _key, ...row }: z.output<typeof listedRow>): ListedAttempt => ({
  ...row,
  // A void's answer holds the facts of its refusal.
  answer: row.applied ? row.answer : null,
  at: timestamp(row.at),
});

/**
 * A page of attempts with the totals of the subjects between its ends, those without an attempt, too: a total that somebody
 * added would let more be applied, or less. Throws `InvalidCursor`.
 */
export async function listLedger(
  sql: LedgerSql,
  cursor: string | null,
  limit: number,
  filters: AttemptFilters,
): Promise<Page<ListedAttempt> & { totals: SubjectTotal[] }> {
  const page = await listAttempts(sql, cursor, limit, filters);
  const after = placeIn(cursor, keyPlace);
  const last = page.next_cursor === null ? undefined : page.rows.at(-1);
  const chosen = where(
    filter('backend = ?', filters.backend),
    filter('subject = ?', filters.subject),
    after && ['(backend, subject) >= (?, ?)', after[0], after[1]],
    last === undefined ? null : ['(backend, subject) <= (?, ?)', last.backend, last.subject],
  );
  const list = `SELECT backend, subject, currency, applied_cents FROM subject_totals ${chosen.sql} ORDER BY backend, subject`;
  const totals = (await sql.all(list, ...chosen.params)).map((row) => totalRow.parse(row));
  return { ...page, totals };
}
