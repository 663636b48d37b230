/** What a session object reports to D1 of itself, in the shape of `takeReport`. */
import type { ApprovalRow } from '../../src/gate/ledger/approval-rows.ts';
import type { Session } from './audit-rows.ts';
import { fresh } from './ledger.ts';

export const newSession = (): Session => ({
  caller_id: `caller-${fresh()}`,
  session_id: 'chat-1',
  uid: `uid-${fresh()}`,
});

export const report = (session: Session, approvals: ApprovalRow[] = []) => ({
  uid: session.uid,
  approvals,
  session: null,
});

/** A pending refund of 25.90 BRL but for `changes`. */
export const approvalOf = (session: Session, changes: Partial<ApprovalRow> = {}): ApprovalRow => ({
  ...session,
  approval_id: `apr_${fresh()}`,
  version: 1,
  tool: 'refund_order',
  subject: `ORD-${fresh()}`,
  amount_cents: 2_590,
  currency: 'BRL',
  status: 'pending',
  code: null,
  opened_at: 10_000,
  expires_at: 90_000,
  decided_at: null,
  actor: null,
  note: null,
  shown: null,
  delivery: [{ approver: 0, email: 'ana@example.com', sent_at: null, undeliverable: false }],
  ...changes,
});
