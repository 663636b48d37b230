/**
 * The session's log: one row a call, decision or event, each chained to the one before. Hashing is synchronous, because an
 * awaited digest would let two rows take the same predecessor (measured: 50 rows, one predecessor).
 */
import type { Refusal, Verdict } from '../outcome.ts';
import { codeOf, shownCallId, shownToolName } from '../outcome.ts';
import type { Ending, Origin, Settled } from '../pipeline/gate.ts';
import { verdictOf } from '../pipeline/record-verdict.ts';
import type { EffectRecord, SqlRow } from '../ports.ts';
import { timestamp } from '../time.ts';
import type { AuditRow } from '../ledger/audit-row.ts';
import { approverHash, argumentsHash, chainHash, firstPrevious, resultHash, shownHash } from '../ledger/audit-row.ts';
import { effectKeyOf } from '../pipeline/effect-key.ts';
import { auditText, hasRoom } from './audit-text.ts';
import { indexOf } from './log-index.ts';
import type { SessionRow } from './session-row.ts';
import type { SessionTables } from './session-tables.ts';
import { approversOf, highestRecordStep, recordAt } from './records.ts';
import type { Head } from './rpc.ts';
import { insertInto } from './schema.ts';

/** The last row's place and hash; before the first row, what the chain starts from. */
export function headOf(sql: SessionTables, { uid, caller_id, session_id }: SessionRow): Head {
  const { seq, hash } = indexOf(sql).last ?? { seq: 0, hash: firstPrevious(caller_id, session_id, uid) };
  return { uid, seq, hash };
}

/** What a row says besides its ending. `at` in ms since the epoch; `notice`: the approvers are to be told of the refusal. */
type Circumstances = { record: EffectRecord | null; session: SessionRow; at: number; salt: string; notice: boolean };

type ArgumentFacts = Pick<
  AuditRow,
  'arguments' | 'args_hash' | 'arguments_cut' | 'kept_hash' | 'arguments_omitted' | 'salt'
>;
const NO_ARGUMENTS: ArgumentFacts = {
  arguments: null,
  salt: null,
  args_hash: null,
  arguments_cut: false,
  kept_hash: null,
  arguments_omitted: false,
};

/** What a row says of its arguments, and how many bytes of them it keeps. */
function argumentsOf(origin: Origin, salt: string, stored: number): { facts: ArgumentFacts; bytes: number } {
  const text = origin.kind === 'call' ? auditText(origin.arguments, origin.reading) : null;
  if (text === null) return { facts: NO_ARGUMENTS, bytes: 0 };
  const hashed = { ...NO_ARGUMENTS, salt, args_hash: argumentsHash(salt, text.whole) };
  if (!hasRoom(stored, text)) return { facts: { ...hashed, arguments_omitted: true }, bytes: 0 };
  const { kept, bytes } = text;
  const cut = kept === text.whole ? {} : { arguments_cut: true, kept_hash: argumentsHash(salt, kept) };
  return { facts: { ...hashed, arguments: kept, ...cut }, bytes };
}

/** Who had decided the action that ended here, and what the page had shown them. Such a row has no arguments: the salt is theirs. */
function decidedBy(sql: SessionTables, { change }: Ending, { record, salt }: Circumstances): Partial<AuditRow> {
  if (change === undefined || record?.approval?.decided_by == null) return {};
  const { decided_by, shown } = record.approval;
  const approver = approversOf(sql, record)[decided_by];
  return {
    salt,
    approver_hash: approver === undefined ? null : approverHash(salt, approver.email),
    shown_hash: shownHash(salt, shown ?? ''),
  };
}

/** What the ledger applied, on the row that made the record executed. */
function resultOf({ change }: Ending): Pick<AuditRow, 'attempt' | 'result_hash'> {
  if (change?.to !== 'executed') return { attempt: null, result_hash: null };
  const { record, answer } = change;
  const { attempt, money } = record;
  const subject = record.subject ?? effectKeyOf(record);
  const [amount, currency] = [money?.amount_cents ?? null, money?.currency ?? null];
  return { attempt, result_hash: resultHash({ subject, amount, currency, answer }) };
}

/** Everything but the arguments and the place in the chain that the row of an ending says. */
function rowOf(
  sql: SessionTables,
  ending: Ending,
  circumstances: Circumstances,
): Omit<AuditRow, 'seq' | 'hash' | keyof ArgumentFacts> {
  const { record, session, at } = circumstances;
  const { origin, verdict } = ending;
  const call = origin.kind === 'call' ? origin : null;
  const callId = call?.call_id ?? record?.call_id ?? null;
  const started =
    origin.kind === 'call' ? origin.started_at : origin.kind === 'decision' ? origin.decision.started_at : at;
  return {
    uid: session.uid,
    kind: origin.kind,
    stage: origin.kind === 'event' ? null : (ending.stage ?? null),
    at: timestamp(at),
    caller_id: session.caller_id,
    session_id: session.session_id,
    policy_version: session.policy_version,
    step: call?.step ?? null,
    call_id: callId === null ? null : shownCallId(callId),
    tool: call === null ? (record?.tool ?? null) : shownToolName(call.tool),
    key: ending.key ?? null,
    ...resultOf(ending),
    ok: verdict.ok,
    code: ending.event ?? (verdict.ok ? 'OK' : codeOf(verdict.refusal)),
    candidate: null,
    reason: null,
    fields:
      !verdict.ok && verdict.refusal.code === 'INVALID_ARGUMENTS'
        ? verdict.refusal.problems.map(({ field }) => field)
        : null,
    replayed: verdict.replayed ?? false,
    approval_id: record?.approval?.id ?? null,
    actor: actorOf(origin),
    approver_hash: null,
    shown_hash: null,
    ...decidedBy(sql, ending, circumstances),
    duration_ms: Math.max(0, at - started),
    request_id: requestOf(origin),
    trace_id: call?.trace_id ?? null,
    contract: ending.contract ?? record?.contract ?? null,
  };
}

/** An approver by number: the row is also a log line, and logs hold no address. */
const actorOf = (origin: Origin): string =>
  origin.kind === 'call' ? 'agent' : origin.kind === 'decision' ? `approver:${origin.decision.approver}` : origin.actor;

const requestOf = (origin: Origin): string | null =>
  origin.kind === 'decision' ? origin.decision.request_id : origin.request_id;

/** Appends to the chain. Runs within the transaction that makes the change the row tells of. */
export function append(sql: SessionTables, ending: Ending, circumstances: Circumstances): AuditRow {
  const { record, session, notice } = circumstances;
  const head = headOf(sql, session);
  // Built by `headOf` above, before this row.
  const index = indexOf(sql);
  const { facts, bytes } = argumentsOf(ending.origin, circumstances.salt, index.storedBytes);
  const placed = { ...facts, ...rowOf(sql, ending, circumstances), seq: head.seq + 1 };
  const row: AuditRow = { ...placed, hash: chainHash(head.hash, placed) };
  const { origin, verdict } = ending;
  const { seq, kind, step, tool, key, attempt, code, hash } = row;
  // Retries are looked up by the id itself, which the row shows without its name space.
  const call_id = origin.kind === 'call' ? origin.call_id : row.call_id;
  const fingerprint = origin.kind === 'call' ? origin.fingerprint : null;
  const restarts = restartsCount(ending);
  insertInto(sql, 'log', {
    ...{ seq, kind, step, call_id, tool, key, attempt, code, hash, fingerprint },
    row: JSON.stringify(row),
    verdict: verdict.ok ? null : JSON.stringify(verdict.refusal),
    round: record?.round ?? null,
    restarts: Number(restarts),
    notice: Number(notice),
    stored: bytes,
  });
  index.add({ seq, kind, step, call_id, key, attempt, code, fingerprint, restarts, notice, stored: bytes });
  index.last = { seq, hash, at: circumstances.at };
  return row;
}

/** A decision, an expiry, or an unknown that gets its result; a first execution is none of these. */
function restartsCount({ origin, change }: Ending): boolean {
  if (change === undefined || change.to === 'pending') return false;
  if (origin.kind === 'decision') return true;
  const settled = change.to === 'executed' || (change.to === 'failed' && change.voided);
  return origin.kind === 'event' ? settled || change.to === 'expired' : settled && change.record.step !== origin.step;
}

export const highestStep = (sql: SessionTables): number => Math.max(indexOf(sql).highestStep, highestRecordStep(sql));

type SettledCall = { fingerprint: string; settled: Settled; record: EffectRecord | null };

/** The settled call that owns an id. */
export function settledCall(sql: SessionTables, callId: string): SettledCall | null {
  const place = indexOf(sql).placeOf(callId);
  const [row] = place === null ? [] : sql.all('SELECT * FROM log WHERE seq = ?', place);
  return row === undefined ? null : toSettled(sql, row);
}

/** The columns of a call's row that its repetition needs. */
type SettledRow = {
  seq: number;
  step: number;
  call_id: string;
  tool: string;
  key: string | null;
  hash: string;
  fingerprint: string;
  verdict: string | null;
  round: number | null;
};

function toSettled(sql: SessionTables, row: SqlRow): SettledCall {
  const { seq, step, call_id, tool, key, hash, fingerprint, verdict, round } = row as SettledRow;
  const record = key !== null && round !== null ? recordAt(sql, key, round) : null;
  const told: Verdict =
    verdict !== null
      ? { ok: false, refusal: JSON.parse(verdict) as Refusal }
      : record !== null
        ? verdictOf(record)
        : // A read: its answer is not kept, and a repetition of it is a new call, so that this is never told.
          { ok: true, data: {}, replayed: true };
  return { fingerprint, record, settled: { verdict: told, call_id, tool, step, audit: { seq, hash } } };
}
