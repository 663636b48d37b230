/**
 * What travels from the object to D1: rows of the log to the audit's database; approvals as operators see them, and whether
 * records are open, to the ledger's. Neither waits for the other. All of it is kept here until it was read back there, or
 * taken; sending it twice changes nothing.
 */
import { byteLength } from '../canonical.ts';
import { codeOf } from '../outcome.ts';
import type { ApprovalRow } from '../ledger/approval-rows.ts';
import { withheldRow, type AuditRow } from '../ledger/audit-row.ts';
import { deliver } from '../ledger/audit.ts';
import { isRowRefusal } from '../ledger/d1.ts';
import { takeReport } from '../ledger/reports.ts';
import type { SessionRow } from './session-row.ts';
import { markSent, markTelling, markTold, theSession } from './session-row.ts';
import type { OwnPorts, SessionTables } from './session-tables.ts';
import { headOf } from './audit-log.ts';
import type { Unreported } from './records.ts';
import { approversOf, countChanges, markReported, openRecords, unreported } from './records.ts';

const BATCH_ROWS = 100;
const BATCH_BYTES = 256 * 1024;
/** A report that hangs is left behind and sent again: the alarm has more to do, and fires no second time meanwhile. */
const REPORT_LIMIT_MS = 5_000;

/** Sends the rows that the log has now. Throws where D1 does not take them; what was read back stays marked as sent. */
export async function sendRows(ports: OwnPorts): Promise<void> {
  const { sql } = ports;
  const { seq } = headOf(sql, theSession(sql));
  while (theSession(sql).sent_seq < seq) await sendBatch(ports);
}

export function hasRows(sql: SessionTables): boolean {
  const session = theSession(sql);
  return session.sent_seq < headOf(sql, session).seq;
}

/** Whether something of the approvals or the session is to be told. */
export function hasReport(sql: SessionTables): boolean {
  const session = theSession(sql);
  return unreported(sql).length > 0 || session.told !== toTell(sql, session);
}

async function sendBatch(ports: OwnPorts): Promise<void> {
  const { sql, audit } = ports;
  const rows = withinBytes(unsentRows(sql, theSession(sql), BATCH_ROWS));
  const stored = await deliverRows(rows, (given) => limited(ports, () => deliver(audit, given)), ports);
  const last = rows.at(-1);
  // Only the hash read back proves that these rows stand there, and not somebody else's in their places.
  if (last === undefined || stored !== last.hash) throw new Error('D1 holds another row where this one belongs');
  sql.transaction(() => markSent(sql, last.seq));
}

/** Tells of them, if there is something. Throws where D1 does not take it. */
export async function sendReport(ports: OwnPorts): Promise<void> {
  const { sql, ledger } = ports;
  if (!hasReport(sql)) return;
  const session = theSession(sql);
  const approvals = unreported(sql);
  const telling = toTell(sql, session);
  const isTold = telling === session.told;
  const report = {
    uid: session.uid,
    approvals: approvals.map((each) => approvalRow(sql, each, session)),
    session: isTold ? null : { version: versionOf(sql, session), ...stateOf(sql, session) },
  };
  if (!isTold && session.told !== '') markTelling(sql);
  await limited(ports, () => takeReport(ledger, report));
  sql.transaction(() => {
    if (!isTold) markTold(sql, telling);
    for (const told of approvals) markReported(sql, told);
  });
}

const limited = <T>({ upstream, now }: OwnPorts, work: () => Promise<T>): Promise<T> =>
  upstream.run(work, { tryMs: REPORT_LIMIT_MS, deadline: now() + REPORT_LIMIT_MS });

/** A batch that D1 refuses goes row by row; a row refused alone travels without its arguments, marked. */
async function deliverRows(
  rows: AuditRow[],
  send: (rows: AuditRow[]) => Promise<string | null>,
  ports: OwnPorts,
): Promise<string | null> {
  try {
    return await send(rows);
  } catch (error) {
    if (!isRowRefusal(error)) throw error;
  }
  let stored: string | null = null;
  for (const row of rows) {
    try {
      stored = await send([row]);
    } catch (error) {
      if (!isRowRefusal(error)) throw error;
      ports.log({ event: 'audit_row_withheld', uid: row.uid, seq: row.seq });
      stored = await send([withheldRow(row)]);
    }
  }
  return stored;
}

const unsentRows = (sql: SessionTables, { sent_seq }: SessionRow, limit: number): AuditRow[] =>
  sql
    .all('SELECT row FROM log WHERE seq > ? ORDER BY seq LIMIT ?', sent_seq, limit)
    .map(({ row }) => JSON.parse(String(row)) as AuditRow);

/** As many rows as fit; the first always does. */
function withinBytes(rows: AuditRow[]): AuditRow[] {
  let bytes = 0;
  const beyond = rows.findIndex((row, place) => (bytes += byteLength(JSON.stringify(row))) > BATCH_BYTES && place > 0);
  return beyond === -1 ? rows : rows.slice(0, beyond);
}

/** Not the expiry: opening and rejoining write it to D1 themselves, and naming it here would rewrite its index each time. */
const stateOf = (sql: SessionTables, { ended_at }: SessionRow) => ({
  // Those that wait for an operator are left out: the cron would wake their sessions for nothing.
  open_records: openRecords(sql).filter(({ external }) => external?.waits !== true).length,
  ended_at,
});
/** Rises with every change of what is told: each comes with a change of a record or with a row. */
const versionOf = (sql: SessionTables, session: SessionRow): number => countChanges(sql) + headOf(sql, session).seq;

const toTell = (sql: SessionTables, session: SessionRow): string => JSON.stringify(stateOf(sql, session));

function approvalRow(sql: SessionTables, { record, changed }: Unreported, session: SessionRow): ApprovalRow {
  const { approval, money, refusal } = record;
  if (approval === null) throw new Error('a record without an approval has nothing to report');
  return {
    approval_id: approval.id,
    version: changed,
    uid: session.uid,
    caller_id: session.caller_id,
    session_id: session.session_id,
    tool: record.tool,
    subject: record.subject,
    amount_cents: money?.amount_cents ?? null,
    currency: money?.currency ?? null,
    status: record.state,
    code: refusal === null ? null : codeOf(refusal),
    opened_at: approval.opened_at,
    expires_at: approval.expires_at,
    decided_at: approval.decided_at,
    actor: approval.decided_by === null ? null : `approver:${approval.decided_by}`,
    note: record.state === 'rejected' ? approval.note : null,
    shown: approval.shown,
    delivery: approversOf(sql, record).map(({ email, sent_at, undeliverable }, approver) => ({
      approver,
      email,
      sent_at,
      undeliverable,
    })),
  };
}
