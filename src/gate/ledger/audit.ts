/** The audit in its database: how rows of the session objects arrive there and how operators read them. */
import * as z from 'zod';
import type { LedgerSql, SqlRow } from '../ports.ts';
import { timestamp } from '../time.ts';
import { auditRow, type AuditRow } from './audit-row.ts';
import { filter, flag, insertFromJson, integer, jsonText, pageOf, placeIn, where, type Page } from './columns.ts';
import { uidAt } from './sessions.ts';

const columns = Object.keys(auditRow.shape);

/** A row that is there already stays as it is. */
const INSERT_ROWS = `${insertFromJson('audit', columns)} ON CONFLICT DO NOTHING`;

/**
 * Takes rows of one session in one transaction. Safe to repeat: each row has one place. Answers the hash that is stored for
 * the last row, read back, because only that proves that these rows arrived and no others stand in their places.
 */
export async function deliver(sql: LedgerSql, rows: readonly AuditRow[]): Promise<string | null> {
  const last = rows.at(-1);
  if (last === undefined) return null;
  const results = await sql.batch([
    { sql: INSERT_ROWS, params: [JSON.stringify(rows.map(toColumns))] },
    { sql: 'SELECT hash FROM audit WHERE uid = ?1 AND seq = ?2', params: [last.uid, last.seq] },
  ]);
  return z.object({ hash: z.string() }).parse(results.at(-1)?.[0]).hash;
}

const toColumns = (row: AuditRow): object => ({ ...row, at: Date.parse(row.at), withheld: row.withheld === true });

/** ECMA-262, 21.4.1.1: no Date is later. */
const MAX_TIME_MS = 8.64e15;

/** How the columns that SQL has no type for come back. */
const storedRow = auditRow.extend({
  at: integer.min(0).max(MAX_TIME_MS).transform(timestamp),
  arguments_cut: flag,
  arguments_omitted: flag,
  ok: flag,
  fields: jsonText(z.array(z.string())).nullable(),
  replayed: flag,
  withheld: flag,
});

/** What narrows the list; null does not. `from` is inclusive, `to` is not; both in ms since the epoch. */
export type AuditFilters = {
  session_id: string | null;
  caller_id: string | null;
  tool: string | null;
  code: string | null;
  from: number | null;
  to: number | null;
  uid?: string | null;
  /** Sessions opened then or later, ms since the epoch: unlike `from` it bounds what is read. */
  opened_from?: number | null;
};

/** Rows of the audit: the newest session first (a uid begins with its opening time), its rows by `seq`. Throws `InvalidCursor`. */
export async function listAudit(
  sql: LedgerSql,
  filters: AuditFilters,
  cursor: string | null,
  limit: number,
): Promise<Page<AuditRow>> {
  const after = placeIn(cursor, z.tuple([z.string(), z.union([z.number(), z.string()])]));
  const { session_id, caller_id, tool, code, from, to, uid = null, opened_from = null } = filters;
  const chosen = where(
    // `uid <= ?` bounds the range of the key that is read; a bare OR of both halves would read the table from its start.
    after && ['uid <= ? AND (uid < ? OR seq > ?)', after[0], ...after],
    filter('uid = ?', uid),
    filter('uid >= ?', opened_from === null ? null : uidAt(opened_from)),
    filter('session_id = ?', session_id),
    filter('caller_id = ?', caller_id),
    filter('tool = ?', tool),
    filter('code = ?', code),
    filter('at >= ?', from),
    filter('at < ?', to),
  );
  const list = `SELECT ${columns.join(', ')} FROM audit ${chosen.sql} ORDER BY uid DESC, seq LIMIT ?`;
  const rows = await sql.all(list, ...chosen.params, limit + 1);
  const { rows: kept, next_cursor } = pageOf(rows, limit, ({ uid, seq }) => [String(uid), seq ?? 0]);
  return { rows: kept.map(toAuditRow), next_cursor };
}

function toAuditRow(stored: SqlRow): AuditRow {
  const { data } = storedRow.safeParse(stored);
  if (data === undefined) return unreadableRow(stored);
  const { withheld, ...row } = data;
  return withheld ? { ...row, withheld } : row;
}

/**
 * No object writes such a row, so someone tampered with the table. Only its place is shown: the page stays readable, and the
 * verifier finds the hash or the place wrong and names it.
 */
const unreadableRow = ({ uid, seq, caller_id, session_id }: SqlRow): AuditRow => ({
  uid: String(uid),
  seq: Number.isSafeInteger(seq) ? Number(seq) : 0,
  kind: 'event',
  stage: null,
  at: timestamp(0),
  caller_id: String(caller_id),
  session_id: String(session_id),
  policy_version: 0,
  step: null,
  call_id: null,
  tool: null,
  arguments: null,
  salt: null,
  args_hash: null,
  arguments_cut: false,
  kept_hash: null,
  arguments_omitted: false,
  key: null,
  attempt: null,
  result_hash: null,
  ok: false,
  code: 'UNREADABLE',
  candidate: null,
  reason: null,
  fields: null,
  replayed: false,
  approval_id: null,
  actor: 'nobody',
  approver_hash: null,
  shown_hash: null,
  duration_ms: 0,
  request_id: null,
  trace_id: null,
  contract: null,
  hash: '',
});
