/** What must be so when everything has come to rest: money, records, chain, rows in D1, answers. */
import type { Logged, SessionFacts } from './facts.ts';
import type { Model } from './model.ts';
import { checkDelivery } from './rules-letters.ts';
import type { SqlRow, SqlValue } from '../../src/gate/ports.ts';
import { disagreements, type BookedApproval, type BookedAttempt, type BookedDecision } from '../../scripts/books.ts';

const BOOKS = 'ledger:orders';

/** What the ledger holds in the end. */
export type LedgerEnd = Record<'orders' | 'attempts' | 'audit' | 'approvals' | 'sessions', SqlRow[]>;

/** What must reach D1 of a row as it was logged; its arguments may have been withheld or erased. */
const LOGGED = [
  ...(['seq', 'hash', 'kind', 'code', 'ok', 'key', 'attempt', 'approval_id', 'call_id', 'step'] as const),
] satisfies (keyof Logged)[];

export const END_QUERIES: Record<keyof LedgerEnd, string> = {
  orders: `SELECT order_id, coalesce(applied_cents, 0) AS refunded_cents
    FROM orders LEFT JOIN subject_totals ON backend = 'ledger:orders' AND subject = order_id
    UNION ALL SELECT subject, applied_cents FROM subject_totals WHERE backend <> 'ledger:orders'`,
  attempts: 'SELECT call_key, attempt, uid, applied, backend, subject, amount_cents, currency, answer FROM attempts',
  audit: `SELECT uid, ${LOGGED.join(', ')}, salt, result_hash, approver_hash, shown_hash FROM audit ORDER BY uid, seq`,
  approvals: 'SELECT *, approval_id AS id FROM approvals',
  sessions: 'SELECT uid, open_records FROM sessions',
};

export function checkEnd(ledger: LedgerEnd, model: Model): void {
  checkBooks(ledger, model);
  checkProofs(ledger, model);
  for (const session of model.sessions.values()) checkSession(ledger, model, session);
  for (const asked of model.unanswered) model.fail('unanswered', asked);
}

function checkBooks({ orders }: LedgerEnd, model: Model): void {
  const rows = [...model.sessions.values()].flatMap(({ uid, log }) => log.map((row) => ({ ...row, uid })));
  const attempts = [...model.attempts.values()].map((row) => ({ ...row, backend: BOOKS, subject: row.order_id }));
  const totals = orders
    .map(({ order_id, refunded_cents }) => ({ subject: String(order_id), applied_cents: Number(refunded_cents) }))
    .filter(({ subject }) => model.orders.has(subject))
    .map((total) => ({ ...total, backend: BOOKS }));
  for (const { uid, problem } of disagreements({ rows, attempts, totals }))
    model.fail('books-disagree', `${uid ?? ''} ${problem}`);
}

/** What D1 holds in the end proves what was applied, and who decided it. */
function checkProofs({ attempts, audit, approvals }: LedgerEnd, model: Model): void {
  const own = (rows: SqlRow[]): SqlRow[] => rows.filter(({ uid }) => model.sessions.has(String(uid)));
  const rows = own(audit) as unknown as BookedDecision[];
  const list = own(approvals).map((row) => ({ ...row, delivery: JSON.parse(String(row['delivery'])) as unknown }));
  const decided = {
    approvals: list as unknown as BookedApproval[],
    rows: rows.filter(({ approver_hash }) => approver_hash !== null),
  };
  for (const { uid, problem } of disagreements({ rows, attempts: own(attempts) as BookedAttempt[], decided }))
    model.fail('proofs-disagree', `${uid ?? ''} ${problem}`);
}

const inSql = (value: Logged[keyof Logged]): SqlValue => (typeof value === 'boolean' ? Number(value) : value);

function checkSession({ audit, approvals, sessions }: LedgerEnd, model: Model, session: SessionFacts): void {
  const { uid, log, records } = session;
  for (const held of records.values()) {
    if (held.state !== 'pending' && model.external.mayWait(held)) continue;
    if (held.state === 'claimed' || held.state === 'approved' || held.state === 'pending')
      model.fail('stuck', `${held.intent} is ${held.state} since ${(held.openedAt / 1000).toFixed(1)} s`);
  }
  for (const row of model.attempts.values()) {
    if (!row.applied || row.uid !== uid) continue;
    const isHeld = [...records.values()].some(
      (held) => held.key === row.call_key && held.attempt === row.attempt && held.state === 'executed',
    );
    if (!isHeld) model.fail('effect-without-record', row.intent);
  }
  const stored = audit.filter((row) => row['uid'] === uid);
  const differs = log.findIndex((row, i) => LOGGED.some((column) => stored[i]?.[column] !== inSql(row[column])));
  if (differs !== -1 || stored.length !== log.length)
    model.fail(
      'audit-not-in-d1',
      `${uid.slice(0, 18)}: ${stored.length} of ${log.length} rows, first off ${differs + 1}`,
    );
  for (const row of approvals.filter((row) => row['uid'] === uid)) {
    checkDelivery(model, row);
    const held = [...records.values()].find(({ approval_id }) => approval_id === row['approval_id']);
    if (held?.state !== row['status'])
      model.fail('approval-off-in-d1', `${String(row['status'])}, is ${held?.state ?? 'nothing'}`);
  }
  const told = sessions.find((row) => row['uid'] === uid);
  if (told?.['open_records'] !== 0) model.fail('open-in-d1', `${uid.slice(0, 18)}: ${String(told?.['open_records'])}`);
}
