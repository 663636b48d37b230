/** What operators have paused. A change, its row in `operator_log` and the new version of the callers are one transaction. */
import * as z from 'zod';
import type { LedgerSql, Statement } from '../ports.ts';
import { integer } from './columns.ts';

/** `scope`: `all`, `caller:<id>` or `tool:<name>`; `at` in ms since the epoch. */
export type Pause = z.output<typeof pauseRow>;

const pauseRow = z.object({ id: z.string(), scope: z.string(), reason: z.string(), at: integer, actor: z.string() });

const COLUMNS = 'id, scope, reason, at, actor';

/** Oldest first. */
export async function listPauses(sql: LedgerSql): Promise<Pause[]> {
  const rows = await sql.all(`SELECT ${COLUMNS} FROM pauses ORDER BY at, id`);
  return rows.map((row) => pauseRow.parse(row));
}

/** The caller that a scope names; null where it concerns all of them. */
export const callerIn = (scope: string): string | null =>
  scope.startsWith('caller:') ? scope.slice('caller:'.length) : null;

/**
 * Runs a change of one pause with its log row, and raises the version of the callers concerned, because sessions take only what
 * is newer. Of two requests that lift one pause the second changes nothing, and leaves no row. False: nothing was changed.
 */
async function changed(sql: LedgerSql, change: Statement, action: string, pause: Pause, made: Made): Promise<boolean> {
  const { scope, reason } = pause;
  const caller = callerIn(scope);
  const target = caller === null ? scope : null;
  const [, logged] = await sql.batch([
    change,
    {
      sql: `
        INSERT INTO operator_log (at, action, caller_id, target, detail, request_id)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE changes() > 0
        RETURNING id`,
      params: [made.at, action, caller, target, JSON.stringify({ reason }), made.request_id],
    },
    {
      sql: `
        UPDATE callers SET version = version + 1
        WHERE changes() > 0 AND revoked_at IS NULL AND (?1 IS NULL OR caller_id = ?1)`,
      params: [caller],
    },
  ]);
  return logged?.length === 1;
}

/** When (ms since the epoch), and by which request. */
type Made = { at: number; request_id: string };

export async function setPause(sql: LedgerSql, pause: Pause, request_id: string): Promise<void> {
  const { id, scope, reason, at, actor } = pause;
  const params = [id, scope, reason, at, actor];
  const insert = { sql: `INSERT INTO pauses (${COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5)`, params };
  await changed(sql, insert, 'pause.set', pause, { at, request_id });
}

/** The pause that was lifted; null where none has this id. */
export async function liftPause(sql: LedgerSql, id: string, made: Made): Promise<Pause | null> {
  const [row] = await sql.all(`SELECT ${COLUMNS} FROM pauses WHERE id = ?1`, id);
  if (row === undefined) return null;
  const pause = pauseRow.parse(row);
  const remove = { sql: 'DELETE FROM pauses WHERE scope = ?1 AND id = ?2', params: [pause.scope, id] };
  return (await changed(sql, remove, 'pause.lift', pause, made)) ? pause : null;
}
