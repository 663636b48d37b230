/** The session's records: every read and write of the table `record`. All synchronous; see docs/specification.md#life-of-an-effect for what each state means. */
import type { JsonObject } from '../json.ts';
import type { Refusal } from '../outcome.ts';
import type { Change, Decision, Intent, Records } from '../pipeline/gate.ts';
import { RECORD_STATES } from '../ports.ts';
import type {
  Approval,
  EffectRecord,
  ExternalEffect,
  FinalAnswer,
  Outgoing,
  RecordState,
  SessionSql,
  SqlRow,
  SqlValue,
} from '../ports.ts';
import type { Sent } from './rpc.ts';
import { insertInto } from './schema.ts';
import { TRANSITIONS } from './transitions.ts';

/** One person asked: the address as it was then, 128 bits only their link holds, and what became of the mail. */
export type Approver = {
  email: string;
  bits: string;
  /** In the queue since, ms since the epoch. */
  queued_at: number | null;
  sent_at: number | null;
  undeliverable: boolean;
  /** In the queue since with the news that another approver decided. */
  told_at: number | null;
};

const OPEN = `state IN ('pending', 'approved', 'claimed')`;

/** `now`: a pending action whose time is over counts no more, whoever may yet expire it. */
export function recordsOf(sql: SessionSql, now: number): Records {
  return {
    current(key) {
      const rounds = sql.all('SELECT * FROM record WHERE key = ? ORDER BY round DESC', key).map(toRecord);
      const last = rounds[0];
      if (last === undefined || (last.state !== 'expired' && last.state !== 'failed')) return last ?? null;
      // Under "ask" a further approval that came to nothing leaves the record executed, as it was.
      return rounds.find(({ state }) => state === 'executed') ?? last;
    },
    executedRound(key) {
      const [row] = sql.all("SELECT max(round) AS round FROM record WHERE key = ? AND state = 'executed'", key);
      return Number(row?.['round'] ?? 0);
    },
    reread: ({ key, round }) => recordAt(sql, key, round),
    nextAttempt(key) {
      const [row] = sql.all('SELECT max(attempt) AS last FROM record WHERE key = ? AND ledger IS NOT NULL', key);
      return Number(row?.['last'] ?? 0) + 1;
    },
    reservedCents(currency, except) {
      const [row] = sql.all(
        `SELECT coalesce(sum(amount_cents), 0) AS cents FROM record
         WHERE currency = ?1 AND NOT (key IS ?2 AND round IS ?3)
           AND (ledger = 'applied' OR state IN ('approved', 'claimed') OR (state = 'pending' AND expires_at > ?4))`,
        currency,
        except?.key ?? null,
        except?.round ?? null,
        now,
      );
      return Number(row?.['cents'] ?? 0);
    },
    approvals() {
      const [row] = sql.all(
        `SELECT count(*) AS opened, coalesce(sum(state = 'pending' AND expires_at > ?), 0) AS pending
         FROM record WHERE approval_id IS NOT NULL`,
        now,
      );
      return { opened: Number(row?.['opened'] ?? 0), pending: Number(row?.['pending'] ?? 0) };
    },
  };
}

export function recordAt(sql: SessionSql, key: string, round: number): EffectRecord {
  const [row] = sql.all('SELECT * FROM record WHERE key = ? AND round = ?', key, round);
  if (row === undefined) throw new Error('a record was read that does not exist');
  return toRecord(row);
}

export const recordOfApproval = (sql: SessionSql, id: string): EffectRecord | null =>
  first(sql.all('SELECT * FROM record WHERE approval_id = ?', id));

export const openRecords = (sql: SessionSql): EffectRecord[] =>
  sql.all(`SELECT * FROM record WHERE ${OPEN} ORDER BY step`).map(toRecord);

/** Records that an approver decided. */
export const decidedRecords = (sql: SessionSql): EffectRecord[] =>
  sql.all('SELECT * FROM record WHERE decided_by IS NOT NULL').map(toRecord);

/** The highest step that claimed or opened a record; 0 before the first. */
export const highestRecordStep = (sql: SessionSql): number =>
  Number(sql.all('SELECT coalesce(max(step), 0) AS step FROM record')[0]?.['step'] ?? 0);

/** When the last approval's time is over, in ms since the epoch; 0 where none was opened. */
export const latestExpiry = (sql: SessionSql): number =>
  Number(sql.all('SELECT coalesce(max(expires_at), 0) AS at FROM record')[0]?.['at'] ?? 0);

/** How many changes all records together have seen. */
export const countChanges = (sql: SessionSql): number =>
  Number(sql.all('SELECT coalesce(sum(changed), 0) AS changes FROM record')[0]?.['changes'] ?? 0);

export const appliedBefore = (sql: SessionSql, { key, round }: EffectRecord): EffectRecord[] =>
  sql
    .all(`SELECT * FROM record WHERE key = ? AND round < ? AND ledger = 'applied' ORDER BY round`, key, round)
    .map(toRecord);

/** How often an effect in another system was sent; null where nothing of it has left. */
export const sentOf = ({ external }: EffectRecord): Sent | null =>
  external?.last_send_at == null ? null : { sends: external.sends, last_send_at: external.last_send_at };

const first = (rows: SqlRow[]): EffectRecord | null => (rows[0] === undefined ? null : toRecord(rows[0]));

/** Opens a record: `claimed` without an approval, `pending` with one. */
export function openRecord(
  sql: SessionSql,
  intent: Intent,
  approval: { id: string; opened_at: number; expires_at: number; approvers: Approver[] } | null,
): EffectRecord {
  const [last] = sql.all('SELECT coalesce(max(round), 0) AS round FROM record WHERE key = ?', intent.key);
  const round = Number(last?.['round'] ?? 0) + 1;
  insertInto(sql, 'record', {
    key: intent.key,
    round,
    state: approval === null ? 'claimed' : 'pending',
    attempt: intent.attempt,
    tool: intent.tool,
    contract: intent.contract,
    input: JSON.stringify(intent.input),
    call_id: intent.call_id,
    step: intent.step,
    fingerprint: intent.fingerprint,
    amount_cents: intent.money?.amount_cents ?? null,
    currency: intent.money?.currency ?? null,
    backend: intent.backend,
    subject: intent.subject,
    seen: JSON.stringify(intent.seen),
    approval_id: approval?.id ?? null,
    opened_at: approval?.opened_at ?? null,
    expires_at: approval?.expires_at ?? null,
    approvers: approval === null ? null : JSON.stringify(approval.approvers),
    // What waits for a person is made anew of what their approval sees.
    ...(approval === null ? externalColumns(intent) : {}),
    changed: 1,
    reported: 0,
  });
  return recordAt(sql, intent.key, round);
}

/** Writes one change of a record; the row written is the only one. */
function update(sql: SessionSql, { key, round }: EffectRecord, values: Record<string, SqlValue>): void {
  const names = Object.keys(values);
  sql.all(
    `UPDATE record SET ${names.map((name) => `${name} = ?`).join(', ')}, changed = changed + 1 WHERE key = ? AND round = ?`,
    ...Object.values(values),
    key,
    round,
  );
}

const decided = (decision: Decision, at: number): Record<string, SqlValue> => ({
  decided_at: at,
  decided_by: decision.approver,
  note: decision.note,
  request_id: decision.request_id,
  shown: decision.shown,
});

const externalColumns = ({ external }: Pick<Intent, 'external'>): Record<string, SqlValue> =>
  external === null ? {} : { outgoing: JSON.stringify(external.outgoing), place: external.place };

export function markApproved(
  sql: SessionSql,
  record: EffectRecord,
  decision: Decision,
  judged: Pick<Intent, 'seen' | 'external'>,
  at: number,
): void {
  const stored = { seen: JSON.stringify(judged.seen), ...externalColumns(judged) };
  change(sql, record, 'approved', { ...decided(decision, at), ...stored });
}

/** One send more, at `at` (ms since the epoch). */
export function markSent(sql: SessionSql, { key, round }: EffectRecord, at: number): EffectRecord {
  sql.all(
    `UPDATE record SET sends = sends + 1, first_send_at = coalesce(first_send_at, ?1), last_send_at = ?1, changed = changed + 1
     WHERE key = ?2 AND round = ?3`,
    at,
    key,
    round,
  );
  return recordAt(sql, key, round);
}

/** Throws where an end is noted already: an attempt ends once. */
export function noteFinal(sql: SessionSql, record: EffectRecord, final: FinalAnswer): EffectRecord {
  const { key, round } = record;
  if (recordAt(sql, key, round).external?.final !== null) throw new Error('an attempt ends once');
  update(sql, record, { final: JSON.stringify(final) });
  return recordAt(sql, key, round);
}

/** Throws, and so undoes its transaction, where the table of transitions does not hold this one. */
function change(sql: SessionSql, record: EffectRecord, to: RecordState, values: Record<string, SqlValue> = {}): void {
  const { state } = recordAt(sql, record.key, record.round);
  if (!TRANSITIONS[state].includes(to)) throw new Error(`a record cannot change from ${state} to ${to}`);
  update(sql, record, { state: to, ...values });
}

export const applyChange = (sql: SessionSql, made: Exclude<Change, { to: 'pending' }>, at: number): void =>
  change(sql, made.record, made.to, valuesOf(made, at));

function valuesOf(made: Exclude<Change, { to: 'pending' }>, at: number): Record<string, SqlValue> {
  switch (made.to) {
    case 'executed':
      return { ledger: 'applied', answer: JSON.stringify(made.answer) };
    case 'failed':
      return {
        refusal: JSON.stringify(made.refusal),
        ...(made.voided ? { ledger: 'void' } : {}),
        ...(made.decision === undefined ? {} : decided(made.decision, at)),
      };
    case 'rejected':
      return decided(made.decision, at);
    case 'expired':
      return {};
  }
}

export const writeApprovers = (sql: SessionSql, record: EffectRecord, approvers: Approver[]): void =>
  update(sql, record, { approvers: JSON.stringify(approvers) });

/** Everybody who was asked to approve, by number; none for a record without an approval. */
export function approversOf(sql: SessionSql, { key, round }: EffectRecord): Approver[] {
  const [row] = sql.all('SELECT approvers FROM record WHERE key = ? AND round = ?', key, round);
  return typeof row?.['approvers'] === 'string' ? (JSON.parse(row['approvers']) as Approver[]) : [];
}

/** A record with an approval that changed since D1 was last told; `changed` is the change it stands at. */
export type Unreported = { record: EffectRecord; changed: number };

export const unreported = (sql: SessionSql): Unreported[] =>
  sql
    .all('SELECT * FROM record WHERE approval_id IS NOT NULL AND changed > reported')
    .map((row) => ({ record: toRecord(row), changed: whole(row['changed']) }));

/** D1 was told of this change. It is no change itself. */
export function markReported(sql: SessionSql, { record: { key, round }, changed }: Unreported): void {
  sql.all('UPDATE record SET reported = ? WHERE key = ? AND round = ?', changed, key, round);
}

/** A whole number that money hangs on. Everything else in these rows the object wrote itself, and it is not validated again. */
function whole(value: SqlValue | undefined): number {
  if (!Number.isSafeInteger(value)) throw new Error('a number of a record is not a whole number');
  return Number(value);
}

function stateOf(value: SqlValue | undefined): EffectRecord['state'] {
  const known = RECORD_STATES.find((each) => each === value);
  if (known === undefined) throw new Error('a record has an unknown state');
  return known;
}

const jsonOf = (value: SqlValue): unknown => (typeof value === 'string' ? JSON.parse(value) : null);

/** The columns of text, or of numbers that are shown only. */
type RecordRow = SqlRow &
  Pick<EffectRecord, 'key' | 'ledger' | 'tool' | 'contract' | 'call_id' | 'fingerprint' | 'backend' | 'subject'> &
  Omit<Approval, 'id'> & {
    input: string;
    currency: string;
    seen: string;
    answer: string | null;
    refusal: string | null;
    approval_id: string | null;
    outgoing: string | null;
    final: string | null;
  } & Pick<ExternalEffect, 'place' | 'first_send_at' | 'last_send_at'>;

function externalIn(row: RecordRow): ExternalEffect | null {
  if (row.outgoing === null) return null;
  const { place, first_send_at, last_send_at } = row;
  return {
    outgoing: jsonOf(row.outgoing) as Outgoing,
    ...{ place, first_send_at, last_send_at },
    sends: whole(row['sends']),
    final: jsonOf(row.final) as FinalAnswer | null,
  };
}

function toRecord(stored: SqlRow): EffectRecord {
  const row = stored as RecordRow;
  const { approval_id, opened_at, decided_at, decided_by, note, request_id, shown, currency } = row;
  return {
    key: row.key,
    round: whole(row['round']),
    state: stateOf(row['state']),
    attempt: whole(row['attempt']),
    ledger: row.ledger,
    tool: row.tool,
    contract: row.contract,
    input: (jsonOf(row.input) ?? {}) as JsonObject,
    call_id: row.call_id,
    step: whole(row['step']),
    fingerprint: row.fingerprint,
    money: row['amount_cents'] === null ? null : { amount_cents: whole(row['amount_cents']), currency },
    backend: row.backend,
    subject: row.subject,
    seen: (jsonOf(row.seen) ?? {}) as JsonObject,
    external: externalIn(row),
    answer: jsonOf(row.answer) as JsonObject | null,
    refusal: jsonOf(row.refusal) as Refusal | null,
    approval:
      approval_id === null
        ? null
        : {
            ...{ id: approval_id, opened_at, expires_at: whole(row.expires_at) },
            ...{ decided_at, decided_by, note, request_id, shown },
          },
  };
}
