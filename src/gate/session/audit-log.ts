/**
 * The session's log: one row a call, decision or event, each chained to the one before. Hashing is synchronous, because an
 * awaited digest would let two rows take the same predecessor (measured: 50 rows, one predecessor).
 */
import * as z from 'zod';
import type { Refusal, Verdict } from '../outcome.ts';
import { codeOf, shownCallId, shownToolName } from '../outcome.ts';
import type { Ending, Origin, Settled } from '../pipeline/gate.ts';
import { verdictOf } from '../pipeline/record-verdict.ts';
import type { EffectRecord, SessionSql, SqlRow } from '../ports.ts';
import { timestamp } from '../time.ts';
import type { AuditRow } from '../ledger/audit-row.ts';
import { argumentsHash, chainHash, firstPrevious } from '../ledger/audit-row.ts';
import { auditText } from './audit-text.ts';
import type { SessionRow } from './session-row.ts';
import { highestRecordStep, recordAt } from './records.ts';
import type { Head } from './rpc.ts';
import { insertInto } from './schema.ts';

const headSchema = z.object({ seq: z.int(), hash: z.string() });

/** The last row's place and hash; before the first row, what the chain starts from. */
export function headOf(sql: SessionSql, { uid, caller_id, session_id }: SessionRow): Head {
  const [last] = sql.all('SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1');
  return {
    uid,
    ...(last === undefined ? { seq: 0, hash: firstPrevious(caller_id, session_id, uid) } : headSchema.parse(last)),
  };
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
export function append(sql: SessionSql, ending: Ending, circumstances: Circumstances): AuditRow {
  const { record, session, notice } = circumstances;
  const head = headOf(sql, session);
  const placed = { ...rowOf(ending, circumstances), seq: head.seq + 1 };
  const row: AuditRow = { ...placed, hash: chainHash(head.hash, placed) };
  const { origin, verdict } = ending;
  insertInto(sql, 'log', {
    seq: row.seq,
    kind: row.kind,
    step: row.step,
    // Retries are looked up by the id itself, which the row shows without its name space.
    call_id: origin.kind === 'call' ? origin.call_id : row.call_id,
    tool: row.tool,
    key: row.key,
    attempt: row.attempt,
    code: row.code,
    hash: row.hash,
    row: JSON.stringify(row),
    fingerprint: origin.kind === 'call' ? origin.fingerprint : null,
    verdict: verdict.ok ? null : JSON.stringify(verdict.refusal),
    round: record?.round ?? null,
    restarts: restartsCount(ending) ? 1 : 0,
    notice: notice ? 1 : 0,
  });
  return row;
}

/** A decision, an expiry, or an unknown that gets its result; a first execution is none of these. */
function restartsCount({ origin, change }: Ending): boolean {
  if (change === undefined || change.to === 'pending') return false;
  if (origin.kind === 'decision') return true;
  const settled = change.to === 'executed' || (change.to === 'failed' && change.voided);
  return origin.kind === 'event' ? settled || change.to === 'expired' : settled && change.record.step !== origin.step;
}

/** Logged calls of a key since its count began anew; every newly applied effect begins those of reads anew. */
export function countLogged(sql: SessionSql, key: string, effect: 'none' | 'keyed'): number {
  const [row] = sql.all(
    `SELECT count(*) AS calls FROM log WHERE kind = 'call' AND key = ?1 AND seq >
       (SELECT coalesce(max(seq), 0) FROM log WHERE (key = ?1 AND restarts = 1) OR (?2 = 'none' AND attempt IS NOT NULL))`,
    key,
    effect,
  );
  return Number(row?.['calls'] ?? 0);
}

export const highestStep = (sql: SessionSql): number =>
  Math.max(Number(sql.all('SELECT coalesce(max(step), 0) AS step FROM log')[0]?.['step'] ?? 0), highestRecordStep(sql));

export const countCode = (sql: SessionSql, code: string): number =>
  Number(sql.all('SELECT count(*) AS rows FROM log WHERE code = ?', code)[0]?.['rows'] ?? 0);

/** The settled call that owns an id: the first by arrival, and of its repetitions the latest. Being told that an id is taken gives it to nobody. */
export function settledCall(
  sql: SessionSql,
  callId: string,
): { fingerprint: string; settled: Settled; record: EffectRecord | null } | null {
  const [row] = sql.all(
    `WITH answered AS (SELECT * FROM log WHERE kind = 'call' AND call_id = ?1 AND code <> 'CALL_ID_REUSED')
     SELECT * FROM answered WHERE fingerprint = (SELECT fingerprint FROM answered ORDER BY step LIMIT 1)
     ORDER BY seq DESC LIMIT 1`,
    callId,
  );
  return row === undefined ? null : toSettled(sql, row);
}

const settledSchema = z.object({
  seq: z.int(),
  step: z.int(),
  call_id: z.string(),
  tool: z.string(),
  key: z.string().nullable(),
  hash: z.string(),
  fingerprint: z.string(),
  verdict: z.string().nullable(),
  round: z.int().nullable(),
});

function toSettled(
  sql: SessionSql,
  row: SqlRow,
): { fingerprint: string; settled: Settled; record: EffectRecord | null } {
  const { seq, step, call_id, tool, key, hash, fingerprint, verdict, round } = settledSchema.parse(row);
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
