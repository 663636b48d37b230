/**
 * What D1 holds of effects in other systems: an open row while an attempt may be under way, then the attempt's row like that
 * of any effect. Both batches are safe to repeat in any order, because each is decided by what stands there.
 */
import * as z from 'zod';
import type { AttemptToOpen, FinalAnswer, Journal, Opened, SqlRow, SqlValue, Statement } from '../ports.ts';
import { flag } from './columns.ts';
import { barredBy, COLUMNS, columnsOf, readAttempt, rowToLedger, type LedgerKit } from './attempts.ts';

/** The open row of this attempt, by the parameters of {@link parametersOf}. */
const OWN = 'FROM open_sends WHERE backend = ?1 AND subject = ?2 AND effect_key = ?3';
const SETTLED = 'FROM attempts WHERE backend = ?1 AND subject = ?2 AND effect_key = ?3';

/**
 * Why a first send is refused; null where it may leave. A total in another currency is refused like one that is used up:
 * the sum of two currencies is no amount.
 */
const REFUSAL = `
  SELECT coalesce(${barredBy('?7', '?9')}, CASE
    WHEN EXISTS (SELECT 1 FROM open_sends WHERE backend = ?1 AND subject = ?2 AND effect_key <> ?3) THEN 'SUBJECT_BUSY'
    WHEN EXISTS (
      SELECT 1 FROM subject_totals WHERE backend = ?1 AND subject = ?2
        AND (currency <> ?13 OR (?18 IS NOT NULL AND applied_cents + ?12 > ?18)))
      OR (?18 IS NOT NULL AND ?12 > ?18) THEN coalesce(?19, 'UPSTREAM_UNAVAILABLE')
  END) AS code`;

/** Ends the attempt; an approved action waits while its subject is busy or an operator paused it. */
const VOID = `
  WITH judged AS (${REFUSAL})
  INSERT INTO attempts (${COLUMNS}, digest, sends)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?9, ?12, ?13, '{}', ?14, 0, code, '{}', ?11, 0 FROM judged
  WHERE code IS NOT NULL AND NOT EXISTS (SELECT 1 ${OWN}) AND NOT (?16 AND code IN ('SUBJECT_BUSY', 'PAUSED'))
  ON CONFLICT DO NOTHING`;

/** A resend must have the same bytes and go to the same account. Nothing opens beside another attempt's row. */
const OPEN = `
  INSERT INTO open_sends (backend, subject, effect_key, call_key, attempt, uid, caller_id, session_id, tool, place, digest,
    amount_cents, currency, opened_at, sends, last_send_at, customer)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 1, ?14, ?15 FROM (${REFUSAL})
  WHERE NOT EXISTS (SELECT 1 ${SETTLED}) AND (code IS NULL OR (?17 AND EXISTS (SELECT 1 ${OWN})))
  ON CONFLICT (backend, subject) DO UPDATE SET sends = sends + 1, last_send_at = excluded.last_send_at
    WHERE effect_key = excluded.effect_key AND place = excluded.place AND digest = excluded.digest
  RETURNING 1 AS opened`;

const READ = `
  SELECT applied, code, answer, EXISTS (SELECT 1 ${OWN}) AS open, (${REFUSAL}) AS refusal
  FROM (SELECT 1) LEFT JOIN (SELECT applied, code, answer ${SETTLED})`;

function parametersOf(attempt: AttemptToOpen, at: number): SqlValue[] {
  const { backend, subject, effect_key, call_key, uid, caller_id, session_id, tool, place, digest, money } = attempt;
  const { ceiling, customer_id, waits, ordered } = attempt;
  return [
    ...[backend, subject, effect_key, call_key, attempt.attempt, uid, caller_id, session_id, tool, place, digest],
    ...[money?.amount_cents ?? null, money?.currency ?? null, at, customer_id, Number(waits), Number(ordered)],
    ...[ceiling?.cents ?? null, ceiling?.code ?? null],
  ];
}

const openedRow = z.object({ open: flag, applied: z.int().nullable(), refusal: z.string().nullable() });

/** SQLite counts the parameters of each statement by the highest it names, so each gets the list up to that one. */
function statement(sql: string, params: SqlValue[]): Statement {
  const highest = Math.max(...[...sql.matchAll(/\?(\d+)/g)].map(([, place]) => Number(place)));
  return { sql, params: params.slice(0, highest) };
}

const CLOSE = `
  INSERT INTO attempts (${COLUMNS}, external_id, digest, sends)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
  ON CONFLICT DO NOTHING`;
const DELETE = `DELETE ${OWN} AND EXISTS (SELECT 1 ${SETTLED})`;

export function journalFrom({ ledger, now }: LedgerKit): Journal {
  return {
    async open(attempt) {
      const params = parametersOf(attempt, now());
      const results = await ledger.batch([VOID, OPEN, READ].map((sql) => statement(sql, params)));
      return openedOf(results[1] ?? [], results[2]?.[0]);
    },
    async close(attempt, final, details) {
      const { backend, subject, effect_key, digest, sends } = attempt;
      const written = [...columnsOf(attempt, details, now()), ...endOf(final), digest, sends];
      const results = await ledger.batch([
        { sql: CLOSE, params: written },
        { sql: DELETE, params: [backend, subject, effect_key] },
        readAttempt(attempt),
      ]);
      return rowToLedger(results.at(-1)?.[0]);
    },
  };
}

function openedOf(opened: SqlRow[], read: SqlRow | undefined): Opened {
  const { open, applied, refusal } = openedRow.parse(read);
  if (applied !== null) return rowToLedger(read);
  if (!open) return 'waits';
  return opened.length > 0 ? 'open' : { held: refusal };
}

/** `applied`, `code`, `answer`, `external_id`. */
const endOf = (final: FinalAnswer): SqlValue[] =>
  final.applied
    ? [1, null, JSON.stringify(final.answer), final.external_id]
    : [0, final.code, JSON.stringify(final.facts), null];
