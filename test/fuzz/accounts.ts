/** The books after an episode: what was answered, audited and moved must be one and the same. */
import type { AuditRow } from '../../src/gate/ledger/audit-row.ts';
import type { BookedApproval, BookedAttempt, SubjectTotal } from '../../scripts/books.ts';
import { bookFaults, type Head } from '../../scripts/verify-chain.ts';
import { isTrouble, type Told } from './answer.ts';
import { ADMIN_TOKEN, ORIGIN, type Target } from './target.ts';

/** What the clients of an episode were told. */
export type Heard = {
  /** Outcomes with a step, by the request that was answered. */
  told: (Told & { request_id: string })[];
  /** Requests to routes that take calls and were answered 200. */
  answered: Set<string>;
  /** Those of them whose outcomes are not in a form that is read here. */
  unread: Set<string>;
  /** Decisions that were taken: answered 303. */
  decisions: number;
};

const placeOf = (uid: string, step: number | null): string => `${uid} step ${step}`;

export async function faultsOf(target: Target, heard: Heard): Promise<string[]> {
  const rows = await auditOf(target);
  return [
    ...(await bookFaultsIn(target, rows)),
    ...callFaults(rows, heard),
    ...rows
      .filter(({ code, tool }) => isTrouble(code, tool ?? ''))
      .map((row) => `audited as trouble: ${JSON.stringify(row)}`),
    ...(await moneyFaults(target)),
    ...(await refundFaults(target, rows, heard)),
    ...(await storageFaults(target)),
  ];
}

function callFaults(rows: AuditRow[], { told, answered, unread, decisions }: Heard): string[] {
  const faults: string[] = [];
  const calls = new Map(rows.filter(({ kind }) => kind === 'call').map((row) => [placeOf(row.uid, row.step), row]));
  for (const { uid, step, code, call_id, request_id } of told) {
    const row = calls.get(placeOf(uid, step));
    if (row === undefined) faults.push(`${placeOf(uid, step)} was answered ${code} and has no row`);
    else if (row.call_id !== call_id) faults.push(`${placeOf(uid, step)} is another call in the audit`);
    else if (row.request_id === request_id && row.code !== code)
      faults.push(`${placeOf(uid, step)} was answered ${code}, audited ${row.code}`);
  }
  const heardOf = new Set(told.map(({ uid, step }) => placeOf(uid, step)));
  for (const [place, { request_id }] of calls) {
    if (request_id === null || !answered.has(request_id)) faults.push(`${place} has a row and was never answered`);
    else if (!heardOf.has(place) && !unread.has(request_id)) faults.push(`${place} has a row and no answer`);
  }
  const decided = rows.filter(({ kind }) => kind === 'decision').length;
  if (decided !== decisions) faults.push(`${decisions} decisions were answered, ${decided} audited`);
  return faults;
}

async function bookFaultsIn(target: Target, rows: AuditRow[]): Promise<string[]> {
  const attempts = (await target.all('SELECT * FROM attempts')) as BookedAttempt[];
  const totals = (await target.all('SELECT * FROM subject_totals')) as SubjectTotal[];
  const approvals = await listOf<BookedApproval>(target, '/admin/approvals', 'approvals');
  const decided = { approvals, rows: rows.filter(({ approver_hash }) => approver_hash !== null) };
  return [
    ...bookFaults({ rows, attempts, totals, decided }).map((fault) => JSON.stringify(fault)),
    ...(await headFaults(target, rows)),
  ];
}

/** Each object knows its chain to the last row that left it. */
async function headFaults(target: Target, rows: AuditRow[]): Promise<string[]> {
  const ends = new Map(rows.map(({ uid, seq, hash }) => [uid, `${seq} ${hash}`]));
  const heads = await listOf<Head>(target, '/admin/audit/heads', 'heads');
  const told = new Map(heads.map(({ uid, seq, hash }) => [uid, `${seq} ${hash}`]));
  const off = [...ends].filter(([uid, end]) => told.get(uid) !== end);
  const empty = heads.filter(({ uid, seq }) => seq !== 0 && !ends.has(uid));
  return [...off.map(([uid]) => uid), ...empty.map(({ uid }) => uid)].map(
    (uid) => `${uid} ends elsewhere in its object`,
  );
}

/** Never more is refunded than was paid. */
const OVERPAID = `
  SELECT order_id, total_cents, applied_cents FROM orders
  JOIN subject_totals ON backend = 'ledger:orders' AND subject = order_id WHERE applied_cents > total_cents`;

/** Where nobody may ask for an effect twice, equal rows are doubles, whatever keys the product gave them. */
const TWICE = `
  SELECT uid, subject, amount_cents, currency, details, count(*) AS times
  FROM attempts JOIN sessions USING (uid) JOIN callers USING (caller_id)
  WHERE applied = 1 AND json_extract(policy, '$.identical_effects') = 'replay'
  GROUP BY uid, subject, amount_cents, currency, details HAVING count(*) > 1`;

async function moneyFaults(target: Target): Promise<string[]> {
  const twice = await target.all(TWICE);
  const overpaid = await target.all(OVERPAID);
  return [
    ...twice.map((intent) => `applied twice: ${JSON.stringify(intent)}`),
    ...overpaid.map((order) => `refunded more than was paid: ${JSON.stringify(order)}`),
  ];
}

/** Whoever was told of a refund was told what the ledger has applied for that call. */
async function refundFaults(target: Target, rows: AuditRow[], { told }: Heard): Promise<string[]> {
  const applied = await target.all('SELECT call_key, amount_cents FROM attempts WHERE applied = 1');
  const moved = new Set(applied.map(({ call_key, amount_cents }) => `${call_key} ${amount_cents}`));
  const keys = new Map(rows.filter(({ kind }) => kind === 'call').map((row) => [placeOf(row.uid, row.step), row.key]));
  return told
    .filter(({ tool, code }) => tool === 'refund_order' && code === 'OK')
    .filter(({ uid, step, data }) => !moved.has(`${keys.get(placeOf(uid, step))} ${String(data?.refunded_cents)}`))
    .map(({ uid, step, data }) => `${placeOf(uid, step)} was told ${JSON.stringify(data)}, which was not applied`);
}

async function storageFaults(target: Target): Promise<string[]> {
  const [row] = await target.all(
    'SELECT count(*) AS sessions FROM (SELECT DISTINCT caller_id, session_id FROM sessions)',
  );
  const objects = await target.objectsWithStorage();
  return row?.['sessions'] === objects
    ? []
    : [`${objects} objects keep something, of ${String(row?.['sessions'])} sessions`];
}

async function ask(target: Target, path: string, accept: string): Promise<string> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, accept };
  const answer = await target.fetch(new Request(`${ORIGIN}${path}`, { headers }));
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`);
  return new TextDecoder().decode(await answer.arrayBuffer());
}

async function auditOf(target: Target): Promise<AuditRow[]> {
  const text = await ask(target, '/admin/audit', 'application/x-ndjson');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditRow);
}

async function listOf<Item>(target: Target, path: string, member: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page = JSON.parse(
      await ask(target, `${path}${cursor === null ? '' : `?cursor=${cursor}`}`, 'application/json'),
    ) as Record<string, unknown>;
    items.push(...(page[member] as Item[]));
    cursor = page['next_cursor'] as string | null;
  } while (cursor !== null);
  return items;
}
