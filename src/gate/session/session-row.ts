/** The session's one row: every read and write of the table `session`. Read once a life and kept by {@link SessionTables}; made and forgotten in schema.ts. */
import * as z from 'zod';
import type { CallerChange, Policy, Scope, SqlValue } from '../ports.ts';
import { flatLimits, namedLimits } from '../policy/limits.ts';
import { policySchema } from '../policy/policy.ts';
import type { SessionPolicy } from './rpc.ts';
import { hasTables, insertInto } from './schema.ts';
import type { SessionTables } from './session-tables.ts';

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
  pauses: z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text))),
  expires_at: z.int(),
  ended_at: z.int().nullable(),
  touched_at: z.int(),
  sent_seq: z.int(),
  noticed_seq: z.int(),
  told: z.string(),
});
export type SessionRow = z.output<typeof rowSchema>;

/** Null where no session was opened, or the last one is forgotten. */
export function readSession(sql: SessionTables): SessionRow | null {
  if (sql.session === undefined) {
    const [row] = hasTables(sql) ? sql.all('SELECT * FROM session') : [];
    sql.session = row === undefined ? null : rowSchema.parse(row);
  }
  return sql.session;
}

/** What the session row is at a moment when one must exist. */
export function theSession(sql: SessionTables): SessionRow {
  const row = readSession(sql);
  if (row === null) throw new Error('no session is open here');
  return row;
}

const toColumn = (value: SessionRow[keyof SessionRow]): SqlValue =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'object' ? value && JSON.stringify(value) : value;

const toColumns = (row: Partial<SessionRow>): Record<string, SqlValue> =>
  Object.fromEntries(Object.entries(row).map(([name, value]): [string, SqlValue] => [name, toColumn(value)]));

export function insertSession(
  sql: SessionTables,
  row: Pick<
    SessionRow,
    'uid' | 'caller_id' | 'session_id' | 'customer_id' | 'requested_by' | 'own' | 'expires_at' | 'touched_at'
  >,
  { name, policy, version, revoked, pauses }: CallerChange,
): void {
  const caller = { caller_name: name, policy, policy_version: version, revoked, pauses };
  const session: SessionRow = { ...row, ...caller, ended_at: null, sent_seq: 0, noticed_seq: 0, told: '' };
  insertInto(sql, 'session', { id: 1, ...toColumns(session) });
  sql.session = session;
}

function update(sql: SessionTables, changes: Partial<SessionRow>): void {
  const session = { ...theSession(sql), ...changes };
  const columns = toColumns(changes);
  const places = Object.keys(columns).map((name) => `${name} = ?`);
  sql.all(`UPDATE session SET ${places.join(', ')}`, ...Object.values(columns));
  sql.session = session;
}

/** Takes a change of the caller where it is newer than what is known. Told twice, or out of order, it changes nothing. */
export function takeChange(sql: SessionTables, { version, name, policy, revoked, pauses }: CallerChange): void {
  if (version <= theSession(sql).policy_version) return;
  update(sql, { caller_name: name, policy, revoked, pauses, policy_version: version });
}

/** The fields a rejoin narrowed, and the expiry of the token it gave where that is later. */
export function narrow(sql: SessionTables, own: Own, expiresAt: number, touchedAt: number): void {
  update(sql, { own, expires_at: Math.max(theSession(sql).expires_at, expiresAt), touched_at: touchedAt });
}

export function markEnded(sql: SessionTables, at: number): void {
  update(sql, { ended_at: at });
}

/** Clears `told` before sending: if the send fails and the state later changes back, the old value would suppress the resend. */
export function markTelling(sql: SessionTables): void {
  update(sql, { told: '' });
}

/** The watermark is written once for so many rows; after a restart the object sends up to as many again, which changes nothing. */
const WATERMARK_ROWS = 16;
const written = (seq: number): number => Math.floor(seq / WATERMARK_ROWS);

/** Rows of the log up to `seq` stand in D1. */
export function markSent(sql: SessionTables, seq: number): void {
  const session = theSession(sql);
  const sent_seq = Math.max(session.sent_seq, seq);
  if (written(sent_seq) === written(session.sent_seq)) sql.session = { ...session, sent_seq };
  else update(sql, { sent_seq });
}

/**
 * D1 was told `told` of the session, unless something else was told meanwhile: the order of two reports that overlap is
 * unknown, so the state is told again.
 */
export function markTold(sql: SessionTables, told: string): void {
  update(sql, { told: theSession(sql).told === '' ? told : '' });
}

/** Notices of the log up to `seq` are in the queue. */
export function markNoticed(sql: SessionTables, seq: number): void {
  update(sql, { noticed_seq: Math.max(theSession(sql).noticed_seq, seq) });
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
    pauses: row.pauses,
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
