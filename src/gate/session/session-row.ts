/** The session's one row: every read and write of the table `session`. Read afresh each time; made and forgotten in schema.ts. */
import * as z from 'zod';
import type { CallerChange, Policy, Scope, SessionSql } from '../ports.ts';
import { flatLimits, namedLimits } from '../policy/limits.ts';
import { policySchema } from '../policy/policy.ts';
import type { SessionPolicy } from './rpc.ts';
import { hasTables, insertInto } from './schema.ts';

/** The fields a session may narrow. */
const ownSchema = z.object({
  tools: z.array(z.string()).optional(),
  max_steps: z.int().optional(),
  max_refund_cents: z.int().optional(),
  max_session_refund_cents: z.int().optional(),
});
export type Own = z.output<typeof ownSchema>;

const rowSchema = z.object({
  uid: z.string(),
  caller_id: z.string(),
  session_id: z.string(),
  caller_name: z.string(),
  customer_id: z.string().nullable(),
  requested_by: z.string().nullable(),
  own: z.string().transform((text) => ownSchema.parse(JSON.parse(text))),
  policy: z.string().transform((text): Policy => policySchema.parse(JSON.parse(text))),
  policy_version: z.int(),
  revoked: z.int().transform((value) => value === 1),
  expires_at: z.int(),
  ended_at: z.int().nullable(),
  touched_at: z.int(),
  sent_seq: z.int(),
  noticed_seq: z.int(),
  told: z.string(),
});
export type SessionRow = z.output<typeof rowSchema>;

/** Null where no session was opened, or the last one is forgotten. */
export function readSession(sql: SessionSql): SessionRow | null {
  if (!hasTables(sql)) return null;
  const [row] = sql.all('SELECT * FROM session');
  return row === undefined ? null : rowSchema.parse(row);
}

/** What the session row is at a moment when one must exist. */
export function theSession(sql: SessionSql): SessionRow {
  const row = readSession(sql);
  if (row === null) throw new Error('no session is open here');
  return row;
}

export function insertSession(
  sql: SessionSql,
  row: Pick<
    SessionRow,
    'uid' | 'caller_id' | 'session_id' | 'customer_id' | 'requested_by' | 'own' | 'expires_at' | 'touched_at'
  >,
  caller: CallerChange,
): void {
  insertInto(sql, 'session', {
    id: 1,
    uid: row.uid,
    caller_id: row.caller_id,
    session_id: row.session_id,
    caller_name: caller.name,
    customer_id: row.customer_id,
    requested_by: row.requested_by,
    own: JSON.stringify(row.own),
    policy: JSON.stringify(caller.policy),
    policy_version: caller.version,
    revoked: caller.revoked ? 1 : 0,
    expires_at: row.expires_at,
    touched_at: row.touched_at,
  });
}

/** Takes a change of the caller where it is newer than what is known. Told twice, or out of order, it changes nothing. */
export function takeChange(sql: SessionSql, change: CallerChange): void {
  sql.all(
    'UPDATE session SET caller_name = ?2, policy = ?3, revoked = ?4, policy_version = ?1 WHERE policy_version < ?1',
    change.version,
    change.name,
    JSON.stringify(change.policy),
    change.revoked ? 1 : 0,
  );
}

/** The fields a rejoin narrowed, and the expiry of the token it gave where that is later. */
export function narrow(sql: SessionSql, own: Own, expiresAt: number, touchedAt: number): void {
  sql.all(
    'UPDATE session SET own = ?, expires_at = max(expires_at, ?), touched_at = ?',
    JSON.stringify(own),
    expiresAt,
    touchedAt,
  );
}

export function markEnded(sql: SessionSql, at: number): void {
  sql.all('UPDATE session SET ended_at = ?', at);
}

/** Until it is read back, D1 may hold either: were the old word kept and the state to return to it, nobody would tell again. */
export function markTelling(sql: SessionSql): void {
  sql.all("UPDATE session SET told = ''");
}

/**
 * Rows of the log up to `seq` stand in D1, and it was told `told` of the session, unless something else than `before` was
 * told meanwhile: which of two reports that overlap came last is not known then, and it is told again.
 */
export function markSent(sql: SessionSql, seq: number, before: string, told: string): void {
  const text = "UPDATE session SET sent_seq = max(sent_seq, ?), told = CASE told WHEN ? THEN ? ELSE '' END";
  sql.all(text, seq, before, told);
}

/** Notices of the log up to `seq` are in the queue. */
export function markNoticed(sql: SessionSql, seq: number): void {
  sql.all('UPDATE session SET noticed_seq = max(noticed_seq, ?)', seq);
}

/** Opened without a customer while that was allowed: since one is required, everybody's orders are out of its reach. */
export const lacksCustomer = ({ customer_id, policy }: SessionRow): boolean =>
  customer_id === null && policy.customer_scope === 'required';

/** The narrower of the session's own fields and its caller's policy, whatever each says by now. */
export function scopeOf(row: SessionRow): Scope {
  const { own, policy } = row;
  return {
    caller_id: row.caller_id,
    session_id: row.session_id,
    uid: row.uid,
    customer_id: row.customer_id,
    tools: lacksCustomer(row)
      ? []
      : policy.allowed_tools.filter((name) => own.tools?.includes(name) ?? true).toSorted(),
    max_steps: Math.min(policy.max_steps, own.max_steps ?? Infinity),
    max_duplicate_calls: policy.max_duplicate_calls,
    max_refund_cents: policy.max_refund_cents,
    max_session_refund_cents: policy.max_session_refund_cents,
    confirm_above_cents: policy.confirm_above_cents,
    limits: policy.limits,
    own_max_refund_cents: own.max_refund_cents ?? null,
    own_max_session_refund_cents: own.max_session_refund_cents ?? null,
    approval_ttl_seconds: policy.approval_ttl_seconds,
    identical_effects: policy.identical_effects,
    approvers: policy.approvers
      .map((address) => address.toLowerCase())
      .filter((address) => address !== row.requested_by),
    live: row.revoked ? 'revoked' : row.ended_at !== null ? 'ended' : 'live',
  };
}

/** What the caller is shown: figures and names, approvers as a number. */
export function shownPolicy(scope: Scope): SessionPolicy {
  return {
    tools: [...scope.tools],
    max_steps: scope.max_steps,
    max_duplicate_calls: scope.max_duplicate_calls,
    ...flatLimits(scope),
    limits: namedLimits(scope),
    ...(scope.customer_id === null ? {} : { customer_id: scope.customer_id }),
    approvers: scope.approvers.length,
  };
}
