/**
 * What an operator does to callers. Each change and its row in `operator_log` are one transaction: no change without its
 * trace, no trace without a change.
 */
import type { LedgerSql, Policy, Statement } from '../ports.ts';

/** Who changed what and when (ms since the epoch), for `operator_log`. */
export type Change = { caller_id: string; at: number; request_id: string };

/** The row of a change, written only where the statement before it changed something. */
const logChange = (action: string, { caller_id, at, request_id }: Change): Statement => ({
  sql: `
    INSERT INTO operator_log (at, action, caller_id, request_id)
    SELECT ?1, ?2, ?3, ?4 WHERE changes() > 0
    RETURNING id`,
  params: [at, action, caller_id, request_id],
});

/** Runs a change with its log row; tells whether it changed anything. */
async function logged(sql: LedgerSql, statements: Statement[], action: string, change: Change): Promise<boolean> {
  const results = await sql.batch([...statements, logChange(action, change)]);
  return results.at(-1)?.length === 1;
}

const insertKey = (keyHash: string, { caller_id, at }: Change): Statement => ({
  sql: `
    INSERT INTO caller_keys (caller_id, key_hash, created_at)
    SELECT caller_id, ?2, ?3 FROM callers WHERE caller_id = ?1 AND revoked_at IS NULL`,
  params: [caller_id, keyHash, at],
});

/** A new caller with its first key. */
export async function createCaller(
  sql: LedgerSql,
  caller: { name: string; policy: Policy; key_hash: string },
  change: Change,
): Promise<void> {
  const insert: Statement = {
    sql: 'INSERT INTO callers (caller_id, name, policy, created_at) VALUES (?1, ?2, ?3, ?4)',
    params: [change.caller_id, caller.name, JSON.stringify(caller.policy), change.at],
  };
  await logged(sql, [insert, insertKey(caller.key_hash, change)], 'create', change);
}

/**
 * Puts a merged and validated policy in the place of the one it was merged with. False where another change came between
 * (the caller is no longer at `version`) or the caller is not live: then merge again.
 */
export async function changeCaller(
  sql: LedgerSql,
  next: { name: string; policy: Policy; version: number },
  change: Change,
): Promise<boolean> {
  const update: Statement = {
    sql: `
      UPDATE callers SET name = ?2, policy = ?3, version = version + 1
      WHERE caller_id = ?1 AND version = ?4 AND revoked_at IS NULL`,
    params: [change.caller_id, next.name, JSON.stringify(next.policy), next.version],
  };
  return logged(sql, [update], 'change', change);
}

/**
 * Gives a live caller a new key. The one it replaces stays good until `oldExpiresAt` (ms since the epoch); one that was
 * replaced before goes now, so that at most two are ever good. False where the caller is unknown or revoked.
 */
export async function rotateKeys(
  sql: LedgerSql,
  keys: { key_hash: string; old_expires_at: number },
  change: Change,
): Promise<boolean> {
  const live = 'EXISTS (SELECT 1 FROM callers WHERE caller_id = ?1 AND revoked_at IS NULL)';
  const statements: Statement[] = [
    {
      sql: `DELETE FROM caller_keys WHERE caller_id = ?1 AND expires_at IS NOT NULL AND ${live}`,
      params: [change.caller_id],
    },
    {
      sql: `UPDATE caller_keys SET expires_at = ?2 WHERE caller_id = ?1 AND ${live}`,
      params: [change.caller_id, keys.old_expires_at],
    },
    insertKey(keys.key_hash, change),
  ];
  return logged(sql, statements, 'rotate', change);
}

/** Revokes a caller for good. False where it is unknown or was revoked before. */
export async function revokeCaller(sql: LedgerSql, change: Change): Promise<boolean> {
  const revoke: Statement = {
    sql: 'UPDATE callers SET revoked_at = ?2, version = version + 1 WHERE caller_id = ?1 AND revoked_at IS NULL',
    params: [change.caller_id, change.at],
  };
  return logged(sql, [revoke], 'revoke', change);
}

/** Notes an export of the audit, which changes nothing but shows data to whoever holds the operator's token. */
export async function logExport(sql: LedgerSql, at: number, requestId: string): Promise<void> {
  await sql.all("INSERT INTO operator_log (at, action, request_id) VALUES (?1, 'export', ?2)", at, requestId);
}
