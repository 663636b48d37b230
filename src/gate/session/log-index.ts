/**
 * Where things stand in the session's log: the end of the chain, ids, counts and notices. The log has no index in SQL,
 * because one more row would be written a call; this one is built by a single scan when a life of the object first needs it.
 */
import type { SqlRow } from '../ports.ts';
import type { SessionTables } from './session-tables.ts';

/** What the index takes of a row of the log. `at` in ms since the epoch. */
export type Indexed = {
  seq: number;
  kind: string;
  step: number | null;
  call_id: string | null;
  key: string | null;
  attempt: number | null;
  code: string;
  fingerprint: string | null;
  restarts: boolean;
  notice: boolean;
  stored: number;
};

type Answered = { seq: number; step: number; fingerprint: string };
/** A record that a call claimed. */
export type Claim = { key: string; round: number; step: number; call_id: string };

export class LogIndex {
  /** The last row; null before the first. `at` in ms since the epoch. */
  last: { seq: number; hash: string; at: number } | null = null;
  highestStep = 0;
  /** Bytes of arguments that the rows keep. */
  storedBytes = 0;
  /** Refusals of which the approvers are to be told, oldest first. */
  readonly notices: { seq: number; key: string | null }[] = [];
  readonly #answered = new Map<string, Answered[]>();
  readonly #codes = new Map<string, number>();
  /** The calls of a key since its count last began anew, by place in the log. */
  readonly #calls = new Map<string, number[]>();
  readonly #claims = new Map<number, Claim>();
  #lastApplied = 0;

  add(row: Indexed): void {
    const { seq, kind, step, call_id, key, attempt, code, fingerprint, restarts, notice } = row;
    this.storedBytes += row.stored;
    this.#codes.set(code, this.countCode(code) + 1);
    if (attempt !== null) this.#lastApplied = seq;
    if (notice) this.notices.push({ seq, key });
    if (key !== null && restarts) this.#calls.set(key, []);
    if (kind !== 'call' || step === null) return;
    this.highestStep = Math.max(this.highestStep, step);
    this.#claims.delete(step);
    if (key !== null && !restarts) append(this.#calls, key, seq);
    // A `CALL_ID_REUSED` answer does not make that call the owner.
    if (call_id !== null && fingerprint !== null && code !== 'CALL_ID_REUSED')
      append(this.#answered, call_id, { seq, step, fingerprint });
  }

  /** A call claimed this record, and has no row yet. */
  claimed({ key, round, step, call_id }: Claim): void {
    this.#claims.set(step, { key, round, step, call_id });
  }

  countCode = (code: string): number => this.#codes.get(code) ?? 0;

  /** Logged calls of a key since its count began anew; every newly applied effect begins those of reads anew. */
  countCalls(key: string, effect: 'none' | 'keyed'): number {
    const calls = this.#calls.get(key) ?? [];
    return effect === 'keyed' ? calls.length : calls.filter((seq) => seq > this.#lastApplied).length;
  }

  /** The place of the call that owns an id: the first by arrival, and of its repetitions the latest. */
  placeOf(callId: string): number | null {
    const answered = this.#answered.get(callId) ?? [];
    const first = answered.reduce<Answered | null>((low, each) => (low && low.step < each.step ? low : each), null);
    return answered.findLast(({ fingerprint }) => fingerprint === first?.fingerprint)?.seq ?? null;
  }

  /** The record that a call claimed which then died: no row has its step, whatever became of the claim since. */
  unansweredClaim(callId: string): Claim | null {
    const claims = [...this.#claims.values()].filter(({ call_id }) => call_id === callId);
    return claims.toSorted((a, b) => a.step - b.step)[0] ?? null;
  }
}

function append<Value>(lists: Map<string, Value[]>, name: string, value: Value): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [value]);
  else list.push(value);
}

const CLAIMS = 'SELECT key, round, step, call_id FROM record WHERE approval_id IS NULL';
const ROWS =
  'SELECT seq, kind, step, call_id, key, attempt, code, fingerprint, restarts, notice, stored FROM log ORDER BY seq';
const LAST = "SELECT seq, hash, json_extract(row, '$.at') AS at FROM log ORDER BY seq DESC LIMIT 1";

/** The index of this log. The object wrote all that it holds, so it is not validated again. */
export const indexOf = (sql: SessionTables): LogIndex => (sql.index ??= build(sql));

function build(sql: SessionTables): LogIndex {
  const index = new LogIndex();
  for (const claim of sql.all(CLAIMS)) index.claimed(claim as Claim);
  for (const row of sql.all(ROWS)) index.add(toIndexed(row));
  const [last] = sql.all(LAST);
  if (last !== undefined)
    index.last = { seq: Number(last['seq']), hash: String(last['hash']), at: Date.parse(String(last['at'])) };
  return index;
}

const toIndexed = (row: SqlRow): Indexed =>
  ({ ...row, restarts: row['restarts'] === 1, notice: row['notice'] === 1 }) as Indexed;
