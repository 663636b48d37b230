/** Valid rows of the audit, chained as a session object chains them. */
import { argumentsHash, chainHash, firstPrevious, type AuditRow } from '../../src/gate/ledger/audit-row.ts';

export type Session = { caller_id: string; session_id: string; uid: string };

export const SALT = '00112233445566778899aabbccddeeff';

/** A successful read, seq 1 of its session, in place at the start of the chain. */
export function auditRow(session: Session, changes: Partial<AuditRow> = {}, previous?: string): AuditRow {
  const text = changes.arguments ?? '{"order_id":"ORD-1001"}';
  const row: AuditRow = {
    ...session,
    seq: 1,
    kind: 'call',
    stage: 8,
    at: '2026-11-29T12:00:00.000Z',
    policy_version: 1,
    step: 1,
    call_id: 'c1',
    tool: 'get_order',
    arguments: text,
    salt: SALT,
    args_hash: argumentsHash(SALT, text),
    arguments_cut: false,
    kept_hash: null,
    arguments_omitted: false,
    key: null,
    attempt: null,
    result_hash: null,
    ok: true,
    code: 'OK',
    candidate: null,
    reason: null,
    fields: null,
    replayed: false,
    approval_id: null,
    actor: 'agent',
    approver_hash: null,
    shown_hash: null,
    duration_ms: 12,
    request_id: 'req-1',
    trace_id: null,
    contract: 'c0ffee',
    hash: '',
    ...changes,
  };
  const before = previous ?? firstPrevious(session.caller_id, session.session_id, session.uid);
  return { ...row, hash: changes.hash ?? chainHash(before, row) };
}

/** A chain of rows, one for each set of changes; `seq` and `step` count from 1. */
export function chainOf(session: Session, changes: Partial<AuditRow>[]): AuditRow[] {
  const rows: AuditRow[] = [];
  for (const [index, change] of changes.entries()) {
    rows.push(auditRow(session, { seq: index + 1, step: index + 1, ...change }, rows.at(-1)?.hash));
  }
  return rows;
}
