/** Approvals as the session objects last reported them: what operators query, and what pages say of the same subject. */
import * as z from 'zod';
import type { LedgerSql, Money, OtherApproval, Statement } from '../ports.ts';
import { filter, insertFromJson, integer, jsonText, pageOf, placeIn, where, type Page } from './columns.ts';

/** One approver's mail: when it left (ms since the epoch), or that it never will. */
const deliveryEntry = z.object({
  approver: z.int(),
  email: z.string(),
  sent_at: z.int().nullable(),
  undeliverable: z.boolean(),
});

/** One row of `approvals`. The higher `version` wins. Times in ms since the epoch. */
export type ApprovalRow = z.output<typeof approvalRow>;

const approvalRow = z.object({
  approval_id: z.string(),
  version: integer,
  uid: z.string(),
  caller_id: z.string(),
  session_id: z.string(),
  tool: z.string(),
  subject: z.string().nullable(),
  amount_cents: integer.nullable(),
  currency: z.string().nullable(),
  status: z.string(),
  code: z.string().nullable(),
  opened_at: integer,
  expires_at: integer,
  decided_at: integer.nullable(),
  actor: z.string().nullable(),
  note: z.string().nullable(),
  shown: z.string().nullable(),
  // What somebody else wrote there must not hide all other approvals.
  delivery: jsonText(z.array(deliveryEntry)).catch([]),
});
const columns = Object.keys(approvalRow.shape);

/** Reports may arrive twice or late: the higher version wins. What an approval is about never changes. */
const UPSERT = `${insertFromJson('approvals', columns)}
  ON CONFLICT DO UPDATE SET version = excluded.version, status = excluded.status, code = excluded.code,
    decided_at = excluded.decided_at, actor = excluded.actor, note = excluded.note,
    shown = excluded.shown, delivery = excluded.delivery
  WHERE excluded.version > approvals.version`;

/** Takes approvals as their session reports them. Safe to repeat, in any order. */
export const upsertApprovals = (rows: readonly ApprovalRow[]): Statement => ({
  sql: UPSERT,
  params: [JSON.stringify(rows)],
});

/** What narrows the list; null does not. */
export type ApprovalFilters = { status: string | null; caller_id: string | null; session_id?: string | null };

/** Approvals, newest first. Throws `InvalidCursor`. */
export async function listApprovals(
  sql: LedgerSql,
  { status, caller_id, session_id = null }: ApprovalFilters,
  cursor: string | null,
  limit: number,
): Promise<Page<ApprovalRow>> {
  const after = placeIn(cursor, z.tuple([integer, z.string()]));
  const chosen = where(
    filter('status = ?', status),
    filter('caller_id = ?', caller_id),
    filter('session_id = ?', session_id),
    after && ['(opened_at, approval_id) < (?, ?)', ...after],
  );
  const list = `SELECT ${columns.join(', ')} FROM approvals ${chosen.sql} ORDER BY opened_at DESC, approval_id DESC LIMIT ?`;
  const rows = await sql.all(list, ...chosen.params, limit + 1);
  return pageOf(
    rows.map((row) => approvalRow.parse(row)),
    limit,
    ({ opened_at, approval_id }) => [opened_at, approval_id],
  );
}

/** One approval, or null where none of this id has been reported. */
export async function findApproval(sql: LedgerSql, approvalId: string): Promise<ApprovalRow | null> {
  const [row] = await sql.all(`SELECT ${columns.join(', ')} FROM approvals WHERE approval_id = ?1`, approvalId);
  return row === undefined ? null : approvalRow.parse(row);
}

const otherRow: z.ZodType<OtherApproval> = z.object({
  id: z.string(),
  status: z.string(),
  amount_cents: integer.nullable(),
  currency: z.string().nullable(),
  opened_at: integer,
  note: z.string().nullable(),
});
/** Of all of them, shown or not. */
const countRow = z.object({ count: integer });

/** Enough for a page that a person reads; an order with more is a case for the operator's list. */
const OTHERS_SHOWN = 20;

/** Those that may be the same again come first: else an agent could push them off the page with twenty small requests. */
const OTHERS = `
  SELECT approval_id AS id, status, amount_cents, currency, opened_at, note, count(*) OVER () AS count FROM approvals
  WHERE subject = ?1 AND opened_at >= ?3 AND approval_id <> ?2
  ORDER BY (amount_cents IS ?4 AND currency IS ?5 AND status IN ('executed', 'rejected', 'approved', 'pending')) DESC,
    opened_at DESC, approval_id DESC LIMIT ${OTHERS_SHOWN}`;

/**
 * The other approvals of a subject from any session since `since` (ms since the epoch): those of the same money that were
 * done or may still be, then the newest. `left` is how many more there are than the twenty that are shown.
 */
export async function otherApprovals(
  sql: LedgerSql,
  { subject, exceptId, since, money }: { subject: string; exceptId: string; since: number; money: Money | null },
): Promise<{ others: OtherApproval[]; left: number }> {
  const rows = await sql.all(OTHERS, subject, exceptId, since, money?.amount_cents ?? null, money?.currency ?? null);
  const others = rows.map((row) => otherRow.parse(row));
  const [first] = rows;
  return { others, left: first === undefined ? 0 : countRow.parse(first).count - others.length };
}
