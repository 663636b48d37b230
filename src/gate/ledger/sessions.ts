/** The list of sessions: which exist, and which must hear of their caller's changes. The objects are the authority. */
import * as z from 'zod';
import type { CallerChange, LedgerSql, Statement } from '../ports.ts';
import { CHANGE_COLUMNS, toCallerChange } from './callers.ts';
import { filter, pageOf, placeIn, where, type Page } from './columns.ts';

/** What it takes to find a session's object, and the session within it. */
export type SessionPlace = { uid: string; caller_id: string; session_id: string };

/** Times in ms since the epoch; `key_hash` of the API key that opens it. */
export type NewSession = SessionPlace & { opened_at: number; expires_at: number; key_hash: string };

const placeRow: z.ZodType<SessionPlace> = z.object({
  uid: z.string(),
  caller_id: z.string(),
  session_id: z.string(),
});

/** A caller that is live, asked for by a key that is good. */
const liveCaller = (callerId: string, keyHash: string, now: string): string => `
  FROM callers JOIN caller_keys USING (caller_id)
  WHERE caller_id = ${callerId} AND revoked_at IS NULL
    AND key_hash = ${keyHash} AND (caller_keys.expires_at IS NULL OR caller_keys.expires_at > ${now})`;

const OPENED_BY = liveCaller('?2', '?6', '?4');

/**
 * Enters a session, only while its caller is live and the key good, and takes the caller's policy in the same transaction: a
 * change comes either before this read or after the row that names this session among those to be told. The key is asked
 * again here because a body may be sent so slowly that it was rotated meanwhile, and its sessions ended. Null: one of them is not.
 */
export async function openSession(sql: LedgerSql, session: NewSession): Promise<CallerChange | null> {
  const { uid, caller_id, session_id, opened_at, expires_at, key_hash } = session;
  const params = [uid, caller_id, session_id, opened_at, expires_at, key_hash];
  const insert = `
    INSERT INTO sessions (uid, caller_id, session_id, opened_at, expires_at)
    SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 ${OPENED_BY}) ON CONFLICT DO NOTHING`;
  const results = await sql.batch([
    { sql: insert, params },
    { sql: `SELECT ${CHANGE_COLUMNS} ${OPENED_BY}`, params },
  ]);
  return toCallerChange(results.at(-1)?.[0]);
}

const REJOINED_BY = liveCaller('?2', '?3', '?4');

/**
 * Notes that a session's newest token is good until `expires_at` (ms since the epoch; an earlier one changes nothing) and
 * takes the caller's policy again. Null: the caller is not live or the key not good, and no token may be given.
 */
export async function extendSession(
  sql: LedgerSql,
  { uid, caller_id, key_hash, now, expires_at }: Omit<NewSession, 'session_id' | 'opened_at'> & { now: number },
): Promise<CallerChange | null> {
  const extend = `
    UPDATE sessions SET expires_at = ?5 WHERE uid = ?1 AND expires_at < ?5 AND EXISTS (SELECT 1 ${REJOINED_BY})`;
  const results = await sql.batch([
    { sql: extend, params: [uid, caller_id, key_hash, now, expires_at] },
    { sql: `SELECT ${CHANGE_COLUMNS} ${REJOINED_BY}`, params: [uid, caller_id, key_hash, now] },
  ]);
  return toCallerChange(results.at(-1)?.[0]);
}

/** What a session object reports of itself. `version` rises with every change; times in ms since the epoch. */
export type SessionState = { version: number; open_records: number; ended_at: number | null };

/** A report that lands late must not hide what a later one told: the higher version wins. */
const UPDATE_SESSION = `
  UPDATE sessions SET open_records = ?2, ended_at = ?3, version = ?4 WHERE uid = ?1 AND version < ?4`;

/** Takes a session's state as its object reports it. Safe to repeat, in any order. */
export const updateSession = (uid: string, { version, open_records, ended_at }: SessionState): Statement => ({
  sql: UPDATE_SESSION,
  params: [uid, open_records, ended_at, version],
});

/**
 * What a session did with its last token shows here only once its alarm has told, and an alarm may be dropped. Until an hour
 * after, a session counts as open: the cron then comes by a dozen times.
 */
const WATCHED_MS = 60 * 60_000;

const OPEN = '((ended_at IS NULL AND expires_at > ?1) OR open_records > 0)';

/**
 * The sessions of a caller, of all callers where it is null, that could still act: a token is good, or a record is open. In
 * the order of their uid, from behind `after` on.
 */
export async function openSessionsOf(
  sql: LedgerSql,
  callerId: string | null,
  now: number,
  after: string | null,
  limit: number,
): Promise<SessionPlace[]> {
  const chosen = where(
    ['(ended_at IS NULL AND expires_at > ?) OR open_records > 0', now - WATCHED_MS],
    filter('caller_id = ?', callerId),
    filter('uid > ?', after),
  );
  const list = `SELECT uid, caller_id, session_id FROM sessions ${chosen.sql} ORDER BY uid LIMIT ?`;
  const rows = await sql.all(list, ...chosen.params, limit);
  return rows.map((row) => placeRow.parse(row));
}

/** Also those that were ended within the hour: a call that was running then may have written the last row since. */
const TO_WAKE = `
  SELECT uid, caller_id, session_id FROM sessions
  WHERE ${OPEN} OR ended_at > ?1 ORDER BY open_records > 0 DESC, random() LIMIT ?2`;

/** Sessions whose alarm may have been dropped while work was due: those with open records first. */
export async function sessionsToWake(sql: LedgerSql, now: number, limit: number): Promise<SessionPlace[]> {
  const rows = await sql.all(TO_WAKE, now - WATCHED_MS, limit);
  return rows.map((row) => placeRow.parse(row));
}

/** How the uid of a session begins that is opened then (ms since the epoch): the order of uids is that of opening. */
export const uidAt = (opened: number): string => opened.toString(16).padStart(12, '0');

/** When sessions were opened, in ms since the epoch: `from` is inclusive, `to` is not; null does not narrow. */
export type Opened = { from: number | null; to: number | null };

/** All sessions ever opened, or those opened within a time; newest first. Throws `InvalidCursor`. */
export async function sessionPage(
  sql: LedgerSql,
  cursor: string | null,
  limit: number,
  { from, to }: Opened = { from: null, to: null },
): Promise<Page<SessionPlace>> {
  const [before = null] = placeIn(cursor, z.tuple([z.string()])) ?? [];
  const chosen = where(
    filter('uid < ?', before),
    filter('uid >= ?', from === null ? null : uidAt(from)),
    filter('uid < ?', to === null ? null : uidAt(to)),
  );
  const list = `SELECT uid, caller_id, session_id FROM sessions ${chosen.sql} ORDER BY uid DESC LIMIT ?`;
  const rows = await sql.all(list, ...chosen.params, limit + 1);
  return pageOf(
    rows.map((row) => placeRow.parse(row)),
    limit,
    ({ uid }) => [uid],
  );
}

/** Takes back a session that was entered and then refused: nothing was opened, so nothing may be listed. */
export async function withdrawSession(sql: LedgerSql, uid: string): Promise<void> {
  await sql.batch([{ sql: 'DELETE FROM sessions WHERE uid = ?1', params: [uid] }]);
}
