/**
 * What the object does by itself. Alarms are at-least-once and given up after six failures, so the first act is to arm the
 * next one and the last to disarm it when nothing is due; nothing in between may throw past it.
 */
import { expire, resumeApproved, settleClaimed } from '../pipeline/stored-actions.ts';
import type { Alarms } from './alarm-clock.ts';
import { readSession, theSession } from './session-row.ts';
import { headOf } from './audit-log.ts';
import { indexOf } from './log-index.ts';
import { KEPT_MS, sendNotices, sendRequests, unsentNotices, unsentRequests } from './notifications.ts';
import { hasOutbox, sendOutbox } from './outbox.ts';
import type { OwnPorts, SessionTables } from './session-tables.ts';
import { latestExpiry, openRecords } from './records.ts';
import { forgetTables } from './schema.ts';
import type { SessionGate } from './session-gate.ts';
import { TRAVEL_MS } from './session-gate.ts';

/** Should the object die while its alarm runs, it is looked at again after this: a mail leaves within ten seconds even so. */
const BACKSTOP_MS = 10_000;
const MAX_BACKOFF_MS = 5 * 60_000;

export class AlarmWork {
  readonly #ports: OwnPorts;
  readonly #gate: SessionGate;
  readonly #alarms: Alarms;
  /** Failures in a row, to back off by; a restart begins anew. The ledger's must not keep a person from being asked. */
  readonly #failures = { queue: 0, ledger: 0 };

  constructor(ports: OwnPorts, gate: SessionGate, alarms: Alarms) {
    this.#ports = ports;
    this.#gate = gate;
    this.#alarms = alarms;
  }

  async run(): Promise<void> {
    const { sql } = this.#ports;
    this.#alarms.fired();
    this.#alarms.arm(this.#ports.now() + BACKSTOP_MS);
    if (readSession(sql) === null) return this.#alarms.rearm(null);
    // First, so that the one report of an approval says that its approvers were asked.
    const asked = await Promise.all([sendRequests, sendNotices].map((send) => this.#attempt(() => send(this.#ports))));
    const sendRows = () => this.#attempt(() => sendOutbox(this.#ports));
    const [looked, sent] = await Promise.all([
      Promise.all(openRecords(sql).map((record) => this.#attempt(() => this.#lookAfter(record)))),
      sendRows(),
    ]);
    // Rows wait for no ledger that hangs, and rows that the work above wrote travel with it.
    const sentAll = sent && (await sendRows());
    this.#note('queue', asked.every(Boolean));
    this.#note('ledger', sentAll && looked.every(Boolean) && !this.#isUnsettled());
    this.#forget();
    this.#alarms.rearm(this.nextDue());
  }

  /** For the cron: the platform may have given the alarm up, whatever this object remembers of it. */
  wake(): void {
    const due = this.nextDue();
    if (due === null || due > this.#ports.now() + MAX_BACKOFF_MS) return;
    this.#alarms.renew(due);
  }

  /** When there is something to do next, in ms since the epoch; null where the object may sleep for good. */
  nextDue(): number | null {
    const { sql } = this.#ports;
    const session = readSession(sql);
    if (session === null) return null;
    const now = this.#ports.now();
    const backoff = backoffAfter(this.#failures.ledger);
    const due = openRecords(sql).map(({ state, approval }) =>
      state === 'pending' && approval !== null ? Math.max(approval.expires_at, now) : now + backoff,
    );
    if (unsentRequests(sql).length > 0 || unsentNotices(sql).length > 0)
      due.push(this.#failures.queue === 0 ? now : now + backoffAfter(this.#failures.queue));
    if (hasOutbox(sql)) due.push(now + backoff);
    due.push(Math.max(forgetAt(sql), now + backoff));
    return Math.min(...due);
  }

  /** Whoever runs a key now is left alone: it ends by itself, or dies and is found the next time. */
  async #lookAfter(record: ReturnType<typeof openRecords>[number]): Promise<void> {
    if (expire(record, 'alarm', this.#gate) || record.state === 'pending' || this.#gate.isRunning(record.key)) return;
    if (record.state === 'approved') await resumeApproved(record, this.#gate);
    else await settleClaimed(record, this.#gate);
  }

  #isUnsettled = (): boolean =>
    openRecords(this.#ports.sql).some(({ state, key }) => state !== 'pending' && !this.#gate.isRunning(key));

  #note(what: 'queue' | 'ledger', isWell: boolean): void {
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
    if (this.#ports.now() < forgetAt(sql) || openRecords(sql).length > 0 || hasOutbox(sql)) return;
    forgetTables(sql, headOf(sql, session));
    this.#gate.forget();
  }
}

const backoffAfter = (failures: number): number => Math.min(TRAVEL_MS * 2 ** failures, MAX_BACKOFF_MS);

function forgetAt(sql: SessionTables): number {
  const { touched_at, expires_at } = theSession(sql);
  const active = Math.max(touched_at, expires_at, indexOf(sql).last?.at ?? 0);
  return Math.max(active, latestExpiry(sql)) + KEPT_MS;
}
