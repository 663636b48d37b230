/** What a session object reports of itself and its approvals to the shared database. Its log goes to the audit's own. */
import type { LedgerSql, Statement } from '../ports.ts';
import { upsertApprovals, type ApprovalRow } from './approval-rows.ts';
import { updateSession, type SessionState } from './sessions.ts';

export type Report = { uid: string; approvals: readonly ApprovalRow[]; session: SessionState | null };

/** Takes a report in one transaction. Safe to repeat, in any order. */
export async function takeReport(sql: LedgerSql, { uid, approvals, session }: Report): Promise<void> {
  const statements: Statement[] = [];
  if (approvals.length > 0) statements.push(upsertApprovals(approvals));
  if (session !== null) statements.push(updateSession(uid, session));
  if (statements.length > 0) await sql.batch(statements);
}
