/**
 * What the object does by itself. The platform runs an alarm at least once and again after a death, so a run arms the next
 * one as its last act; nothing before that may throw past it. Alarms that failed six times are left to the cron.
 */
import { HOUR_MS, mayHaveLeft, settlesItself } from '../pipeline/external.ts';
import { expire, resumeApproved, settleClaimed } from '../pipeline/stored-actions.ts';
import type { EffectRecord } from '../ports.ts';
import type { Alarms } from './alarm-clock.ts';
import { readSession, theSession } from './session-row.ts';
import { headOf } from './audit-log.ts';
import { indexOf } from './log-index.ts';
import {
  KEPT_MS,
  sendNotices,
  sendRequests,
  unsentNotices,
  unsentRequests,
  sendDecisions,
  unsentDecisions,
} from './notifications.ts';
import { hasReport, hasRows, sendReport, sendRows } from './outbox.ts';
import type { OwnPorts, SessionTables } from './session-tables.ts';
import { latestExpiry, markWaiting, openRecords, recordAt } from './records.ts';
import { forgetTables } from './schema.ts';
import type { SessionGate } from './session-gate.ts';
import { TRAVEL_MS } from './session-gate.ts';

const MAX_BACKOFF_MS = 5 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** An alarm settles so many effects in other systems; the next goes on. */
const MAX_SETTLED = 3;

export class AlarmWork {
  readonly #ports: OwnPorts;
  readonly #gate: SessionGate;
  readonly #alarms: Alarms;
  /**
   * Failures in a row, to back off by; a restart begins anew. Ledger failures must not slow down approval mails, nor failures
   * of the audit's database what the ledger is told.
   */
  readonly #failures = { queue: 0, ledger: 0, audit: 0 };
  /** The last row that was sent when the alarm last ran, and when that was; null: that run sent none. */
  #sent: { seq: number; at: number | null } = { seq: 0, at: null };
  /** When each effect in another system is settled next, by its key: a backend that is down must not delay the outbox. */
  readonly #settleAt = new Map<string, number>();

  constructor(ports: OwnPorts, gate: SessionGate, alarms: Alarms) {
    this.#ports = ports;
    this.#gate = gate;
    this.#alarms = alarms;
  }

  async run(): Promise<void> {
    this.#alarms.fired();
    const isDone = await this.#attempt(() => this.#work());
    const next = this.#nextRun();
    if (next !== null) this.#alarms.arm(isDone ? next : this.#ports.now() + MAX_BACKOFF_MS);
  }

  async #work(): Promise<void> {
    const { sql } = this.#ports;
    if (readSession(sql) === null) return;
    // First, so that the one report of an approval says that its approvers were asked.
    const asked = await Promise.all(
      [sendRequests, sendNotices, sendDecisions].map((send) => this.#attempt(() => send(this.#ports))),
    );
    const rows = () => this.#attempt(() => sendRows(this.#ports));
    const report = () => this.#attempt(() => sendReport(this.#ports));
    const [looked, sent, reported] = await Promise.all([
      Promise.all(this.#unsent().map((record) => this.#attempt(() => this.#lookAfter(record)))),
      rows(),
      report(),
      this.#settleDue(),
    ]);
    // Sent in parallel so that a hanging ledger does not delay rows; those that the work above wrote come after it.
    const [sentAll, reportedAll] = await Promise.all([sent && rows(), reported && report()]);
    this.#note('queue', asked.every(Boolean));
    this.#note('audit', sentAll);
    this.#note('ledger', reportedAll && looked.every(Boolean) && !this.#isUnsettled());
    this.#forget();
  }

  /** For the cron. */
  async wake(): Promise<void> {
    const due = this.nextDue();
    if (due !== null) await this.#alarms.revive(due);
  }

  /**
   * When the alarm is due next. An agent that just made two batches in a row is about to make a third: its alarm stays a
   * batch ahead, where its next call finds it. Armed for the forgetting date it would be set twice a batch.
   */
  #nextRun(): number | null {
    const due = this.nextDue();
    if (due === null) return null;
    const now = this.#ports.now();
    const { sent_seq } = theSession(this.#ports.sql);
    const [before, sent] = [this.#sent, sent_seq > this.#sent.seq];
    this.#sent = { seq: sent_seq, at: sent ? now : null };
    const isBusy = sent && before.at !== null && now - before.at <= 2 * TRAVEL_MS;
    return isBusy ? Math.min(due, now + TRAVEL_MS) : due;
  }

  /** When there is something to do next, in ms since the epoch; null where the object may sleep for good. */
  nextDue(): number | null {
    const { sql } = this.#ports;
    const session = readSession(sql);
    if (session === null) return null;
    const now = this.#ports.now();
    const backoff = backoffAfter(this.#failures.ledger);
    const due = openRecords(sql).map((record) => {
      const { state, approval } = record;
      if (mayHaveLeft(record)) return this.#dueAt(record);
      return state === 'pending' && approval !== null ? Math.max(approval.expires_at, now) : now + backoff;
    });
    if (unsentRequests(sql).length > 0 || unsentNotices(sql).length > 0 || unsentDecisions(sql).length > 0)
      due.push(this.#failures.queue === 0 ? now : now + backoffAfter(this.#failures.queue));
    if (hasRows(sql)) due.push(now + backoffAfter(this.#failures.audit));
    if (hasReport(sql)) due.push(now + backoff);
    // While an operator is waited for nothing can be forgotten.
    due.push(Math.max(forgetAt(sql), now + (due.includes(Infinity) ? HOUR_MS : backoff)));
    return Math.min(...due);
  }

  /** Whoever runs a key now is left alone: it ends by itself, or dies and is found the next time. */
  async #lookAfter(record: EffectRecord): Promise<void> {
    if (expire(record, 'alarm', this.#gate) || record.state === 'pending' || this.#gate.isRunning(record.key)) return;
    if (record.state === 'approved') await resumeApproved(record, this.#gate);
    else await settleClaimed(record, this.#gate);
  }

  /** Open records of which nothing has left for another system. */
  #unsent = (): EffectRecord[] => openRecords(this.#ports.sql).filter((record) => !mayHaveLeft(record));

  /** Settles the effects in other systems that are due. One that hangs goes on by itself, because no other alarm fires meanwhile. */
  async #settleDue(): Promise<void> {
    const { sql, now, sleep } = this.#ports;
    this.#markWaiting();
    const due = openRecords(sql)
      .filter((record) => mayHaveLeft(record) && this.#dueAt(record) <= now())
      .toSorted((a, b) => this.#dueAt(a) - this.#dueAt(b))
      .slice(0, MAX_SETTLED);
    if (due.length === 0) return;
    const stop = new AbortController();
    const settled = due.map((record) => this.#attempt(() => this.#settle(record)));
    await Promise.race([Promise.all(settled), sleep(TRAVEL_MS, stop.signal)]);
    stop.abort();
  }

  #markWaiting(): void {
    for (const record of openRecords(this.#ports.sql)) {
      const waits = !settlesItself(record, this.#gate);
      if (record.external !== null && record.external.waits !== waits) markWaiting(this.#ports.sql, record, waits);
    }
  }

  async #settle(record: EffectRecord): Promise<void> {
    const { sql, now } = this.#ports;
    await this.#lookAfter(record);
    const { state, external } = recordAt(sql, record.key, record.round);
    const pause = pauseAfter(now() - (external?.last_send_at ?? now()));
    if (state === 'claimed' || state === 'approved') this.#settleAt.set(record.key, now() + pause);
    else this.#settleAt.delete(record.key);
    const due = this.nextDue();
    if (due !== null) this.#alarms.arm(due);
  }

  /** When an attempt that may have left is looked after, in ms since the epoch; infinite where only an operator can. */
  #dueAt(record: EffectRecord): number {
    const now = this.#ports.now();
    if (this.#gate.isRunning(record.key)) return now + TRAVEL_MS;
    // Once more, to note that it waits and to tell D1.
    if (!settlesItself(record, this.#gate)) return record.external?.waits === true ? Infinity : now;
    return this.#settleAt.get(record.key) ?? Math.max(now, (record.external?.last_send_at ?? 0) + TRAVEL_MS);
  }

  #isUnsettled = (): boolean =>
    openRecords(this.#ports.sql).some(
      (record) => record.state !== 'pending' && !mayHaveLeft(record) && !this.#gate.isRunning(record.key),
    );

  #note(what: 'queue' | 'ledger' | 'audit', isWell: boolean): void {
    this.#failures[what] = isWell ? 0 : this.#failures[what] + 1;
  }

  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#gate.report(this.#gate.newId('err'), error);
      return false;
    }
  }

  /** Never while a record is open or a link can be viewed, and never before its rows are confirmed in D1. */
  #forget(): void {
    const { sql } = this.#ports;
    const session = theSession(sql);
    if (this.#ports.now() < forgetAt(sql) || openRecords(sql).length > 0) return;
    if (hasRows(sql) || hasReport(sql)) return;
    forgetTables(sql, headOf(sql, session));
    this.#gate.forget();
  }
}

/** Doubles from 4 s to 5 min; an effect that is unknown for a day is asked about hourly. */
const pauseAfter = (age: number): number =>
  age > DAY_MS ? HOUR_MS : Math.min(Math.max(age, TRAVEL_MS), MAX_BACKOFF_MS);

const backoffAfter = (failures: number): number => Math.min(TRAVEL_MS * 2 ** failures, MAX_BACKOFF_MS);

function forgetAt(sql: SessionTables): number {
  const { touched_at, expires_at } = theSession(sql);
  const active = Math.max(touched_at, expires_at, indexOf(sql).last?.at ?? 0);
  return Math.max(active, latestExpiry(sql)) + KEPT_MS;
}
