/** What a verifier is handed, good unless a test changes it, and the verdict. */
import type { BookedApproval, BookedAttempt, SubjectTotal } from '../../scripts/books.ts';
import type { Break } from '../../scripts/breaks.ts';
import type { Piece } from '../../scripts/evidence.ts';
import { Verification, type Head } from '../../scripts/verify-chain.ts';
import { resultHash, type AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { chainOf } from './audit-rows.ts';

export const session = { caller_id: 'caller-1', session_id: 'chat-1', uid: 'uid-1' };
export const answer = { order_id: 'ORD-1001', refunded_cents: 2_590 };
const result_hash = resultHash({ subject: 'ORD-1001', amount: 2_590, currency: 'BRL', answer });

export const EFFECT: Partial<AuditRow> = { key: 'k1', attempt: 1, tool: 'refund_order', result_hash };
export const attempt1: BookedAttempt = {
  ...{ call_key: 'k1', attempt: 1, uid: 'uid-1', applied: true },
  ...{ backend: 'ledger:orders', subject: 'ORD-1001', amount_cents: 2_590, currency: 'BRL', answer },
};

export type Seen = {
  evidence: Piece[];
  rows: AuditRow[];
  attempts: BookedAttempt[];
  totals: SubjectTotal[];
  approvals: BookedApproval[];
  heads: Head[];
  late: Partial<Pick<Seen, 'rows' | 'attempts' | 'totals' | 'approvals'>>;
};

/** A session of three rows, the second of which tells of an effect, all of it as it should be. */
export function seen(changes: (good: Seen) => Partial<Seen> = () => ({})): Seen {
  const rows = chainOf(session, [{}, EFFECT, {}]);
  const good: Seen = {
    rows,
    evidence: [],
    attempts: [attempt1, { ...attempt1, call_key: 'k2', applied: false }],
    totals: [{ backend: 'ledger:orders', subject: 'ORD-1001', currency: 'BRL', applied_cents: 2_590 }],
    approvals: [],
    heads: [headOf(rows)],
    late: {},
  };
  return { ...good, ...changes(good) };
}

export const headOf = (rows: AuditRow[]): Head => ({ ...session, seq: rows.length, hash: rows.at(-1)?.hash ?? '' });

export const changed = (rows: AuditRow[], seq: number, changes: Partial<AuditRow>): AuditRow[] =>
  rows.map((row) => (row.seq === seq ? { ...row, ...changes } : row));

export const without = (rows: AuditRow[], ...seqs: number[]): AuditRow[] =>
  rows.filter((row) => !seqs.includes(row.seq));

/** The verdict, as the script reaches it: whatever is late is read again, and stands as in `late`, else as before. */
export function judge(all: Seen): Break[] {
  const { evidence, rows, attempts, totals, approvals, heads, late } = all;
  const verification = new Verification();
  for (const piece of evidence) verification.takeEvidence(piece);
  for (const row of rows) verification.takeRow(row);
  for (const attempt of attempts) verification.takeAttempt(attempt);
  for (const total of totals) verification.takeTotal(total);
  for (const approval of approvals) verification.takeApproval(approval);
  for (const head of heads) verification.takeHead(head);
  const again = verification.late();
  for (const subject of again.subjects) {
    verification.forgetSubject(subject);
    for (const attempt of late.attempts ?? attempts) verification.takeAttempt(attempt);
    for (const total of late.totals ?? totals) verification.takeTotal(total);
  }
  for (const place of again.approvals) {
    verification.forgetApprovals(place);
    for (const approval of late.approvals ?? approvals) verification.takeApproval(approval);
  }
  for (const place of again.rows) {
    for (const row of late.rows ?? rows) if (row.uid === place.uid) verification.takeLateRow(row);
  }
  return verification.breaks();
}

export const row2 = (kind: Break['kind'], problem: string): Break => ({ kind, ...session, seq: 2, problem });
