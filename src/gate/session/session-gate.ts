/**
 * The gate's view of one session: its SQL, its running calls, its clock. Every write the pipeline causes goes through
 * `claim`, `approve` or `settle` here, and each arms the alarm in the same step, so that no death leaves work behind that
 * nobody would look for.
 */
import { errorFacts } from '../log-line.ts';
import type { Decision, Earlier, Ending, Gate, Intent, Settled } from '../pipeline/gate.ts';
import { attemptsFrom } from '../ledger/attempts.ts';
import { journalFrom } from '../ledger/journal.ts';
import type { EffectRecord, FinalAnswer, Scope } from '../ports.ts';
import type { Alarms } from './alarm-clock.ts';
import { scopeOf, theSession } from './session-row.ts';
import { append, highestStep, settledCall } from './audit-log.ts';
import { indexOf } from './log-index.ts';
import type { Polls } from './polls.ts';
import type { Approver } from './records.ts';
import { applyChange, markApproved, markSent, noteFinal, openRecord, recordAt, recordsOf } from './records.ts';
import { Running } from './running.ts';
import type { OwnPorts } from './session-tables.ts';

const NOTICES_PER_SESSION = 3;
/** Rows travel to D1 within 5 seconds. */
export const TRAVEL_MS = 4_000;

export class SessionGate implements Gate {
  readonly running = new Running();
  readonly #ports: OwnPorts;
  readonly #alarms: Alarms;
  readonly #polls: Polls;
  readonly #retries = new Map<string, number>();
  #step: number | null = null;

  constructor(ports: OwnPorts, alarms: Alarms, polls: Polls) {
    this.#ports = ports;
    this.#alarms = alarms;
    this.#polls = polls;
  }

  get tools() {
    return this.#ports.tools;
  }
  /** The ports serve as the kit: both have the ledger and the clock. */
  get kit() {
    return this.#ports;
  }
  get attempts() {
    return attemptsFrom(this.#ports);
  }
  get journal() {
    return journalFrom(this.#ports);
  }
  get upstream() {
    return this.#ports.upstream;
  }
  get records() {
    return recordsOf(this.#ports.sql, this.now());
  }

  now = (): number => this.#ports.now();
  newId = (prefix: string): string => `${prefix}_${this.#ports.random(16)}`;
  scope = (): Scope => scopeOf(theSession(this.#ports.sql));
  isRunning = (key: string): boolean => this.running.has(key);
  whenFree = (key: string): Promise<void> => this.running.whenFree(key);
  occupy = (key: string): (() => void) => this.running.occupy(key);

  /** The highest step taken; after a death it goes on from the highest durable one. */
  stepsTaken = (): number => (this.#step ??= highestStep(this.#ports.sql));

  /** The session is forgotten: the next of its name begins without the steps and retries that are remembered here. */
  forget(): void {
    this.#step = null;
    this.#retries.clear();
  }

  takeStep(): number {
    this.#step = this.stepsTaken() + 1;
    return this.#step;
  }

  countCall = (key: string, effect: 'none' | 'keyed'): number =>
    indexOf(this.#ports.sql).countCalls(key, effect) + this.running.count(key);

  earlier(callId: string): Earlier | null {
    const running = this.running.call(callId);
    if (running !== undefined) return { kind: 'running', ...running };
    // The unanswered call keeps its id, even if other calls used it before or after.
    const claim = indexOf(this.#ports.sql).unansweredClaim(callId);
    if (claim !== null) {
      const record = recordAt(this.#ports.sql, claim.key, claim.round);
      return { kind: 'unanswered', fingerprint: record.fingerprint, record };
    }
    const settled = settledCall(this.#ports.sql, callId);
    return settled === null ? null : { kind: 'settled', ...settled };
  }

  countRetry(callId: string): number {
    const count = (this.#retries.get(callId) ?? 0) + 1;
    this.#retries.set(callId, count);
    return count;
  }

  claim(intent: Intent): EffectRecord {
    this.#alarms.arm(this.now() + TRAVEL_MS);
    const record = openRecord(this.#ports.sql, intent, null);
    indexOf(this.#ports.sql).claimed(record);
    return record;
  }

  approve(record: EffectRecord, decision: Decision, judged: Pick<Intent, 'seen' | 'external'>): EffectRecord | null {
    const { sql } = this.#ports;
    const { state, approval } = recordAt(sql, record.key, record.round);
    if (state !== 'pending' || approval === null || this.now() >= approval.expires_at) return null;
    this.#alarms.arm(this.now() + TRAVEL_MS);
    markApproved(sql, record, decision, judged, this.now());
    this.#polls.wake(approval.id);
    return recordAt(sql, record.key, record.round);
  }

  markSent(record: EffectRecord): EffectRecord {
    this.#alarms.arm(this.now() + TRAVEL_MS);
    return markSent(this.#ports.sql, record, this.now());
  }

  noteFinal(record: EffectRecord, final: FinalAnswer): EffectRecord {
    this.#alarms.arm(this.now() + TRAVEL_MS);
    return noteFinal(this.#ports.sql, record, final);
  }

  mayNotify(key: string): boolean {
    const { notices } = indexOf(this.#ports.sql);
    return notices.length < NOTICES_PER_SESSION || notices.some((notice) => notice.key === key);
  }

  settle(ending: Ending): Settled {
    const { sql } = this.#ports;
    const at = this.now();
    const session = theSession(sql);
    const notice = this.#firstNotice(ending);
    const row = sql.transaction(() => {
      const record = this.#change(ending, at);
      return append(sql, ending, { record, session, at, salt: this.#ports.random(16), notice });
    });
    const asks = ending.change?.to === 'pending' || notice;
    this.#alarms.arm(asks ? at : at + TRAVEL_MS);
    if (ending.origin.kind === 'call' && ending.key !== undefined) this.running.logged(ending.key);
    if (row.approval_id !== null && ending.change !== undefined) this.#polls.wake(row.approval_id);
    const { arguments: _arguments, salt: _salt, ...logged } = row;
    this.#ports.log({ event: 'audit', ...logged });
    const { call_id, step, seq, hash } = row;
    const tool = ending.origin.kind === 'call' ? ending.origin.tool : (row.tool ?? '');
    return { verdict: ending.verdict, call_id: call_id ?? '', tool, step, audit: { seq, hash } };
  }

  report(errorId: string, error: unknown): void {
    this.#ports.log({ event: 'error', error_id: errorId, ...errorFacts(error) });
  }

  /** Writes the ending's change; answers the record the row speaks of. */
  #change({ change, record, origin }: Ending, at: number): EffectRecord | null {
    const { sql } = this.#ports;
    if (change === undefined) return record ?? (origin.kind === 'call' ? null : origin.record);
    if (change.to === 'pending')
      return openRecord(sql, change.intent, { ...change.approval, approvers: this.#newApprovers() });
    applyChange(sql, change, at);
    return recordAt(sql, change.record.key, change.record.round);
  }

  /** Each approver's link has bits of its own, so that a decision names who made it. */
  #newApprovers = (): Approver[] =>
    this.scope().approvers.map((email) => ({
      email,
      bits: this.#ports.random(16),
      queued_at: null,
      sent_at: null,
      undeliverable: false,
      told_at: null,
    }));

  #firstNotice({ verdict, key }: Ending): boolean {
    if (verdict.ok || verdict.refusal.code !== 'POLICY_LIMIT' || !verdict.refusal.passed_on) return false;
    return !indexOf(this.#ports.sql).notices.some((notice) => notice.key === key);
  }
}
