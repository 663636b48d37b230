/**
 * Asking people: queue messages with ids only, and what the mail consumer fetches with them. Sent by the alarm, never by
 * the call: a queue that is down must not lose a request, and a call must not wait for it.
 */
import { sessionObjectName, signApprovalToken } from '../auth/tokens.ts';
import type { Refusal } from '../outcome.ts';
import type { EffectRecord, SessionSql } from '../ports.ts';
import type { AuditRow } from '../ledger/audit-row.ts';
import { indexOf } from './log-index.ts';
import type { SessionRow } from './session-row.ts';
import { markNoticed, readSession, scopeOf, theSession } from './session-row.ts';
import type { OwnPorts, SessionTables } from './session-tables.ts';
import {
  type Approver,
  approversOf,
  decidedRecords,
  openRecords,
  recordAt,
  recordOfApproval,
  writeApprovers,
} from './records.ts';
import type { ApprovalView, MailTask, QueueMessage } from './rpc.ts';

/** A link can be viewed this long after its approval expired; a session is remembered this long after its last activity. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Pending records of which somebody was not asked yet. */
export const unsentRequests = (sql: SessionSql): EffectRecord[] =>
  openRecords(sql).filter(
    (record) => record.state === 'pending' && approversOf(sql, record).some(({ queued_at }) => queued_at === null),
  );

export async function sendRequests(ports: OwnPorts): Promise<void> {
  const { sql, queue } = ports;
  for (const record of unsentRequests(sql)) {
    const { approval } = record;
    if (approval === null) continue;
    const numbers = approversOf(sql, record).flatMap(({ queued_at }, number) => (queued_at === null ? [number] : []));
    const object = objectName(theSession(sql));
    await queue.send(numbers.map((approver) => ({ type: 'approval', object, approval_id: approval.id, approver })));
    const asked = approversOf(sql, record);
    const at = ports.now();
    writeApprovers(
      sql,
      record,
      asked.map((each, number) => (numbers.includes(number) ? { ...each, queued_at: at } : each)),
    );
  }
}

/** Who was mailed about a record that another approver decided, and was not told of it yet. */
const untold = (sql: SessionSql, record: EffectRecord): number[] =>
  approversOf(sql, record).flatMap(({ sent_at, told_at }, number) =>
    sent_at !== null && told_at === null && number !== record.approval?.decided_by ? [number] : [],
  );

/** Decided records of which somebody else who was mailed must be told. */
export const unsentDecisions = (sql: SessionSql): EffectRecord[] =>
  decidedRecords(sql).filter((record) => untold(sql, record).length > 0);

export async function sendDecisions({ sql, queue, now }: OwnPorts): Promise<void> {
  for (const record of unsentDecisions(sql)) {
    const numbers = untold(sql, record);
    const [object, approval_id] = [objectName(theSession(sql)), record.approval?.id ?? ''];
    await queue.send(numbers.map((approver) => ({ type: 'decided', object, approval_id, approver })));
    const at = now();
    writeApprovers(
      sql,
      record,
      approversOf(sql, record).map((each, number) => (numbers.includes(number) ? { ...each, told_at: at } : each)),
    );
  }
}

/** Refusals by policy of which the approvers are to be told. */
export const unsentNotices = (sql: SessionTables): number[] =>
  indexOf(sql).notices.flatMap(({ seq }) => (seq > theSession(sql).noticed_seq ? [seq] : []));

export async function sendNotices(ports: OwnPorts): Promise<void> {
  const { sql, queue } = ports;
  for (const seq of unsentNotices(sql)) {
    const session = theSession(sql);
    const object = objectName(session);
    const { approvers } = scopeOf(session);
    // A queue refuses an empty batch, and would for ever: who left meanwhile is not told.
    if (approvers.length > 0)
      await queue.send(approvers.map((_, approver) => ({ type: 'notice', object, seq, approver })));
    markNoticed(sql, seq);
  }
}

const objectName = ({ caller_id, session_id }: SessionRow): string => sessionObjectName(caller_id, session_id);

/** What there is to send for a message; null where nobody needs it any more. */
export async function mailTask(
  message: QueueMessage,
  view: (record: EffectRecord) => Promise<ApprovalView>,
  ports: OwnPorts,
): Promise<MailTask | null> {
  if (readSession(ports.sql) === null) return null;
  if (message.type === 'approval') return approvalTask(message, view, ports);
  if (message.type === 'decided') return decidedTask(message, ports);
  return message.type === 'notice' ? noticeTask(message, ports) : null;
}

async function approvalTask(
  { approval_id, approver: number }: Extract<QueueMessage, { type: 'approval' }>,
  view: (record: EffectRecord) => Promise<ApprovalView>,
  { sql, config, now }: OwnPorts,
): Promise<MailTask | null> {
  const session = theSession(sql);
  const record = recordOfApproval(sql, approval_id);
  const approver = record === null ? undefined : approversOf(sql, record)[number];
  if (record?.approval == null || record.state !== 'pending' || now() >= record.approval.expires_at) return null;
  if (approver === undefined || approver.sent_at !== null || !scopeOf(session).approvers.includes(approver.email))
    return null;
  const token = await signApprovalToken(config, {
    object: objectName(session),
    approver: number,
    bits: approver.bits,
    expiresAt: record.approval.expires_at + KEPT_MS,
  });
  const link = `${config.publicUrl}/approvals/${approval_id}?t=${token}`;
  return { kind: 'approval', to: approver.email, link, view: await view(record) };
}

function decidedTask(
  { approval_id, approver }: Extract<QueueMessage, { type: 'decided' }>,
  { sql }: OwnPorts,
): MailTask | null {
  const record = recordOfApproval(sql, approval_id);
  const to = record === null ? undefined : approversOf(sql, record)[approver]?.email;
  const at = record?.approval?.decided_at ?? null;
  if (record === null || to === undefined || at === null) return null;
  const { caller_name } = theSession(sql);
  return { kind: 'decided', to, approval_id, caller_name, at, isRejected: record.state === 'rejected' };
}

function noticeTask({ seq, approver }: Extract<QueueMessage, { type: 'notice' }>, { sql }: OwnPorts): MailTask | null {
  const session = theSession(sql);
  const to = scopeOf(session).approvers[approver];
  const [logged] = sql.all('SELECT row, verdict FROM log WHERE seq = ? AND notice = 1', seq);
  if (to === undefined || logged === undefined) return null;
  const { at, tool } = JSON.parse(String(logged['row'])) as AuditRow;
  const { limit, money } = JSON.parse(String(logged['verdict'])) as Extract<Refusal, { code: 'POLICY_LIMIT' }>;
  return { kind: 'notice', to, caller_name: session.caller_name, tool: tool ?? '', limit, money, at: Date.parse(at) };
}

/** Records that a mail left, or that it never will. Repeats change nothing. */
export function delivered(message: QueueMessage, result: 'sent' | 'undeliverable', { sql, now }: OwnPorts): void {
  if (message.type !== 'approval' || readSession(sql) === null) return;
  const record = recordOfApproval(sql, message.approval_id);
  if (record === null) return;
  const approvers = approversOf(sql, record);
  const approver = approvers[message.approver];
  if (approver === undefined || approver.sent_at !== null || (result === 'undeliverable' && approver.undeliverable))
    return;
  approvers[message.approver] =
    result === 'sent' ? { ...approver, sent_at: now(), undeliverable: false } : { ...approver, undeliverable: true };
  writeApprovers(sql, record, approvers);
}

/** Asks everybody again who is still on the caller's list, with the links they have. False where that is nobody. */
export function askAgain(record: EffectRecord, { sql }: OwnPorts): boolean {
  const current = scopeOf(theSession(sql)).approvers;
  const approvers = approversOf(sql, record);
  const isAsked = ({ email }: Approver): boolean => current.includes(email);
  if (!approvers.some(isAsked)) return false;
  const fresh = approvers.map((each) =>
    isAsked(each) ? { ...each, queued_at: null, sent_at: null, undeliverable: false } : each,
  );
  writeApprovers(sql, recordAt(sql, record.key, record.round), fresh);
  return true;
}
