/** What operators have paused. Each change and its row in `operator_log` are one transaction with the new version of the callers. */
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

/** Sessions take only what has a higher version than what they know. */
const renewCallers = (scope: string): Statement => {
  const [kind, id = ''] = scope.split(':');
  return kind === 'caller'
    ? { sql: 'UPDATE callers SET version = version + 1 WHERE caller_id = ?1', params: [id] }
    : { sql: 'UPDATE callers SET version = version + 1 WHERE revoked_at IS NULL', params: [] };
};

const logPause = (action: string, { scope, reason }: Pause, at: number, request_id: string): Statement => ({
  sql: 'INSERT INTO operator_log (at, action, target, detail, request_id) VALUES (?1, ?2, ?3, ?4, ?5)',
  params: [at, action, scope, JSON.stringify({ reason }), request_id],
});

export async function setPause(sql: LedgerSql, pause: Pause, requestId: string): Promise<void> {
  const { id, scope, reason, at, actor } = pause;
  await sql.batch([
    { sql: `INSERT INTO pauses (${COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5)`, params: [id, scope, reason, at, actor] },
    renewCallers(scope),
    logPause('pause.set', pause, at, requestId),
  ]);
}

/** The pause that was lifted; null where none has this id. */
export async function liftPause(sql: LedgerSql, id: string, at: number, requestId: string): Promise<Pause | null> {
  const [row] = await sql.all(`SELECT ${COLUMNS} FROM pauses WHERE id = ?1`, id);
  if (row === undefined) return null;
  const pause = pauseRow.parse(row);
  await sql.batch([
    { sql: 'DELETE FROM pauses WHERE scope = ?1 AND id = ?2', params: [pause.scope, id] },
    renewCallers(pause.scope),
    logPause('pause.lift', pause, at, requestId),
  ]);
  return pause;
}
