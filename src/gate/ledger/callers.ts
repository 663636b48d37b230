/**
 * Callers: reading them, their policy and their keys. What an operator does to them is in caller-changes.ts. Keys are here
 * only as hashes.
 */
import * as z from 'zod';
import { policySchema } from '../policy/policy.ts';
import type { CallerChange, LedgerSql, Policy, SqlRow } from '../ports.ts';
import { integer, jsonText } from './columns.ts';

/** A caller as operators see it. Times in ms since the epoch; `version` rises with every change. */
export type Caller = {
  caller_id: string;
  name: string;
  policy: Policy;
  version: number;
  created_at: number;
  revoked_at: number | null;
};

const callerRow: z.ZodType<Caller> = z.object({
  caller_id: z.string(),
  name: z.string(),
  policy: jsonText(policySchema),
  version: integer,
  created_at: integer,
  revoked_at: integer.nullable(),
});

const COLUMNS = 'caller_id, name, policy, version, created_at, revoked_at';

/** All callers, revoked ones included, oldest first. */
export async function listCallers(sql: LedgerSql): Promise<Caller[]> {
  const rows = await sql.all(`SELECT ${COLUMNS} FROM callers ORDER BY created_at, caller_id`);
  return rows.map((row) => callerRow.parse(row));
}

/** A caller, revoked or not. */
export async function findCaller(sql: LedgerSql, callerId: string): Promise<Caller | null> {
  const [row] = await sql.all(`SELECT ${COLUMNS} FROM callers WHERE caller_id = ?1`, callerId);
  return row === undefined ? null : callerRow.parse(row);
}

const KEY_HASHES = `
  SELECT caller_keys.key_hash FROM caller_keys JOIN callers USING (caller_id)
  WHERE caller_id = ?1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)`;

/**
 * The hashes (SHA-256 of the whole key, hex) that open a caller's door now, at most two, in one read. None where the caller
 * is unknown or revoked: which of the two must not show. `now` in ms since the epoch.
 */
export async function findKeyHashes(sql: LedgerSql, callerId: string, now: number): Promise<string[]> {
  const rows = await sql.all(KEY_HASHES, callerId, now);
  return rows.map((row) => z.object({ key_hash: z.string() }).parse(row).key_hash);
}

const changeRow = z
  .object({
    version: integer,
    name: z.string(),
    policy: jsonText(policySchema),
    revoked_at: integer.nullable(),
    pauses: jsonText(z.array(z.string())),
  })
  .transform(({ revoked_at, ...told }): CallerChange => ({ ...told, revoked: revoked_at !== null }));

/** The columns that {@link toCallerChange} reads. */
export const CHANGE_COLUMNS = `callers.version, callers.name, callers.policy, callers.revoked_at, (
    SELECT json_group_array(DISTINCT scope) FROM pauses
    WHERE scope IN ('all', 'caller:' || callers.caller_id) OR scope GLOB 'tool:*'
  ) AS pauses`;

/** A row of {@link CHANGE_COLUMNS} as sessions are told it; null where there was no row. */
export const toCallerChange = (row: SqlRow | undefined): CallerChange | null =>
  row === undefined ? null : changeRow.parse(row);

/** The caller's present state as its sessions are told it. */
export async function readCallerChange(sql: LedgerSql, callerId: string): Promise<CallerChange | null> {
  const [row] = await sql.all(`SELECT ${CHANGE_COLUMNS} FROM callers WHERE caller_id = ?1`, callerId);
  return toCallerChange(row);
}

const idRow = z.object({ caller_id: z.string() });

/** The same of every caller, by its id. */
export async function readCallerChanges(sql: LedgerSql): Promise<Map<string, CallerChange>> {
  const rows = await sql.all(`SELECT callers.caller_id, ${CHANGE_COLUMNS} FROM callers`);
  return new Map(rows.map((row) => [idRow.parse(row).caller_id, changeRow.parse(row)]));
}
