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
import { argumentsHash, chainHash, firstPrevious } from '../ledger/audit-row.ts';
import { auditText } from './audit-text.ts';
import { indexOf } from './log-index.ts';
import type { SessionRow } from './session-row.ts';
import type { SessionTables } from './session-tables.ts';
import { highestRecordStep, recordAt } from './records.ts';
import type { Head } from './rpc.ts';
import { insertInto } from './schema.ts';

/** The last row's place and hash; before the first row, what the chain starts from. */
export function headOf(sql: SessionTables, { uid, caller_id, session_id }: SessionRow): Head {
  const { seq, hash } = indexOf(sql).last ?? { seq: 0, hash: firstPrevious(caller_id, session_id, uid) };
  return { uid, seq, hash };
}

/** What a row says besides its ending. `at` in ms since the epoch; `notice`: the approvers are to be told of the refusal. */
type Circumstances = { record: EffectRecord | null; session: SessionRow; at: number; salt: string; notice: boolean };

/** Everything but the place in the chain that the row of an ending says. */
function rowOf(ending: Ending, { record, session, at, salt }: Circumstances): Omit<AuditRow, 'seq' | 'hash'> {
  const { origin, verdict, change } = ending;
  const call = origin.kind === 'call' ? origin : null;
  const callId = call?.call_id ?? record?.call_id ?? null;
  const text = call === null ? null : auditText(call.arguments);
  const started =
    origin.kind === 'call' ? origin.started_at : origin.kind === 'decision' ? origin.decision.started_at : at;
  return {
    uid: session.uid,
    kind: origin.kind,
    at: timestamp(at),
    caller_id: session.caller_id,
    session_id: session.session_id,
    step: call?.step ?? null,
    call_id: callId === null ? null : shownCallId(callId),
    tool: call === null ? (record?.tool ?? null) : shownToolName(call.tool),
    arguments: text,
    salt: text === null ? null : salt,
    args_hash: text === null ? null : argumentsHash(salt, text),
    key: ending.key ?? null,
    attempt: change?.to === 'executed' ? change.record.attempt : null,
    ok: verdict.ok,
    code: ending.event ?? (verdict.ok ? 'OK' : codeOf(verdict.refusal)),
    fields:
      !verdict.ok && verdict.refusal.code === 'INVALID_ARGUMENTS'
        ? verdict.refusal.problems.map(({ field }) => field)
        : null,
    replayed: verdict.replayed ?? false,
    approval_id: record?.approval?.id ?? null,
    actor: actorOf(origin),
    duration_ms: Math.max(0, at - started),
    request_id: requestOf(origin),
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
  const placed = { ...rowOf(ending, circumstances), seq: head.seq + 1 };
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
  });
  // Built by `headOf` above, before this row.
  const index = indexOf(sql);
  index.add({ seq, kind, step, call_id, key, attempt, code, fingerprint, restarts, notice });
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
