/** Effects in other systems that may be under way, as operators list and count them. */
import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import type { LedgerSql } from '../ports.ts';
import { filter, integer, pageOf, placeIn, where, type Page } from './columns.ts';

/** An open row. `opened_at` and `last_send_at` in ms since the epoch; the object knows better how often it was sent. */
export type OpenSend = z.output<typeof openRow>;

const openRow = z.object({
  effect_key: z.string(),
  caller_id: z.string(),
  session_id: z.string(),
  uid: z.string(),
  tool: z.string(),
  backend: z.string(),
  subject: z.string(),
  amount_cents: integer.nullable(),
  currency: z.string().nullable(),
  opened_at: integer,
  sends: integer,
  last_send_at: integer,
});
const columns = Object.keys(openRow.shape).join(', ');

/** In the order of their keys. Throws `InvalidCursor`. */
export async function listOpenSends(
  sql: LedgerSql,
  backend: string | null,
  cursor: string | null,
  limit: number,
): Promise<Page<OpenSend>> {
  const after = placeIn(cursor, z.tuple([z.string(), z.string()]));
  const chosen = where(filter('backend = ?', backend), after && ['(backend, subject) > (?, ?)', ...after]);
  const list = `SELECT ${columns} FROM open_sends ${chosen.sql} ORDER BY backend, subject LIMIT ?`;
  const rows = (await sql.all(list, ...chosen.params, limit + 1)).map((row) => openRow.parse(row));
  return pageOf(rows, limit, ({ backend, subject }) => [backend, subject]);
}

/** How many effects of a caller may still be applied. */
export async function countOpenSends(sql: LedgerSql, callerId: string): Promise<number> {
  const [row] = await sql.all('SELECT count(*) AS count FROM open_sends WHERE caller_id = ?1', callerId);
  return integer.parse(row?.['count']);
}

/**
 * Notes an operator's order before it is carried out: no order without its trace. Answers whose effect it is about, null where
 * none of this key is open. `at` in ms since the epoch.
 */
export async function logOrder(
  sql: LedgerSql,
  { action, effect_key, detail, at, request_id }: Order,
): Promise<{ caller_id: string; session_id: string } | null> {
  const [, opened] = await sql.batch([
    {
      sql: `
        INSERT INTO operator_log (at, action, caller_id, target, detail, request_id)
        SELECT ?1, ?2, caller_id, effect_key, ?3, ?4 FROM open_sends WHERE effect_key = ?5`,
      params: [at, action, JSON.stringify(detail), request_id, effect_key],
    },
    { sql: 'SELECT caller_id, session_id FROM open_sends WHERE effect_key = ?1', params: [effect_key] },
  ]);
  const [row] = opened ?? [];
  return row === undefined ? null : placeRow.parse(row);
}

type Order = { action: string; effect_key: string; detail: JsonObject; at: number; request_id: string };
const placeRow = z.object({ caller_id: z.string(), session_id: z.string() });
