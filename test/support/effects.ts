/** Effects as their tests see them: what was asked and decided, what the ledger holds, and whether the audit tells all of it once. */
import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { phraseOf } from '../../src/gate/money/money.ts';
import type { Outcome } from '../../src/gate/outcome.ts';
import type { CallAnswer, DecisionAnswer, DecisionRequest } from '../../src/gate/session/rpc.ts';
import type { AuditRow } from '../../src/gate/ledger/audit-row.ts';
import type { BookedAttempt } from '../../scripts/books.ts';
import { bookFaults } from '../../scripts/verify-chain.ts';
import { auditIn, rowsIn, runAlarm } from './inside.ts';
import { outcomeOf, type Agent } from './session.ts';
import { shownOf } from './shown.ts';

/**
 * Nothing happens by itself: no mail leaves, and the clock stands so far ahead that no alarm fires before a test runs it.
 * Only `Date` is faked; what waits for milliseconds still does.
 */
export function standStill(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2035-01-01T00:00:00Z') });
  watchQueue();
}
export function moveOn(): void {
  vi.restoreAllMocks();
  vi.useRealTimers();
}
export const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
export const HOUR_MS = 60 * 60 * 1000;

/** A text that has `text` in it. */
export const containing = (text: string): unknown => expect.stringContaining(text);
export const times = (count: number, code: string): string[] => Array.from({ length: count }, () => code);

/** What became of a call: its code, or that it was never answered. */
export const codeOf = (call: Promise<CallAnswer>): Promise<string> =>
  call.then(
    (answer) => ('refused' in answer ? answer.refused : answer.outcome.code),
    () => 'never answered',
  );

/** The approval a call was told to wait for. */
export function approvalIn({ approval }: Outcome): string {
  if (approval === undefined) throw new Error('the outcome names no approval');
  return approval.id;
}

/** Makes the call and answers with the approval it parked under. */
export const parks = async (agent: Agent, args: unknown, tool = 'refund_order'): Promise<string> =>
  approvalIn(outcomeOf(await agent.call(tool, args)));

/** `refunded_cents`: what the page showed as refunded of the order. */
export type DecisionChanges = Partial<DecisionRequest> & { refunded_cents?: number };

/** What the page of an approval's first approver would send, all of it right but for `changes`. */
export async function decisionOn(
  { object }: Agent,
  id: string,
  { refunded_cents = 0, ...changes }: DecisionChanges = {},
): Promise<DecisionRequest> {
  const [row] = await rowsIn(object, 'SELECT approvers, amount_cents, subject FROM record WHERE approval_id = ?', id);
  const approver = changes.approver ?? 0;
  const bits = (JSON.parse(String(row?.['approvers'] ?? '[]')) as { bits: string }[])[approver]?.bits ?? '';
  const phrase = row === undefined ? '' : phraseOf({ amount_cents: Number(row['amount_cents']), currency: 'BRL' }, id);
  const shared = { approval_id: id, approver, bits, phrase, note: null, request_id: 'req-decide' };
  const shown = row === undefined || changes.shown !== undefined ? '' : shownOf(String(row['subject']), refunded_cents);
  return { ...shared, decision: 'approve', shown, ...changes };
}

export const approves = async (agent: Agent, id: string, changes: DecisionChanges = {}): Promise<DecisionAnswer> =>
  agent.stub().decide(await decisionOn(agent, id, changes));

export const rejects = (agent: Agent, id: string, note: string | null = null): Promise<DecisionAnswer> =>
  approves(agent, id, { decision: 'reject', note });

/** What a decision came to in one word. */
export const wordOf = (answer: DecisionAnswer): string => ('decided' in answer ? answer.decided : answer.refused);

export type KnownAttempt = { attempt: number; applied: number; code: string | null };

/** The ledger's rows of a session, by attempt. */
export async function attemptsOf({ uid }: Agent): Promise<KnownAttempt[]> {
  const { results } = await env.DB.prepare(
    'SELECT attempt, applied, code FROM attempts WHERE uid = ? ORDER BY call_key, attempt',
  )
    .bind(uid)
    .all<KnownAttempt>();
  return results;
}
export const APPLIED: KnownAttempt = { attempt: 1, applied: 1, code: null };

/** The states of the session's records in the order in which they were opened. */
export const statesIn = async ({ object }: Agent): Promise<string[]> =>
  (await rowsIn(object, 'SELECT state FROM record ORDER BY step, round')).map(({ state }) => String(state));

/** The session's audit rows, once its books agree. */
export async function provenLog(agent: Agent): Promise<AuditRow[]> {
  const rows = await auditIn(agent.object);
  const { results } = await env.DB.prepare('SELECT * FROM attempts WHERE uid = ?').bind(agent.uid).all<BookedAttempt>();
  expect(bookFaults({ rows, attempts: results })).toEqual([]);
  return rows;
}

/** `kind code` of each audit row, proved as above. */
export const provenCodes = async (agent: Agent): Promise<string[]> =>
  (await provenLog(agent)).map(({ kind, code }) => `${kind} ${code}`);

/** Lets everything settle and travel, then proves that D1 holds the log as the object does, each row once. */
export async function provenInD1(agent: Agent): Promise<AuditRow[]> {
  await runAlarm(agent.object);
  const rows = await provenLog(agent);
  const { results } = await env.AUDIT.prepare('SELECT seq, hash FROM audit WHERE uid = ? ORDER BY seq')
    .bind(agent.uid)
    .all<{ seq: number; hash: string }>();
  expect(results).toEqual(rows.map(({ seq, hash }) => ({ seq, hash })));
  return rows;
}

/** Mails the approvers were asked by: `approval approver` of each message, none of which is delivered. */
export function watchQueue(): string[] {
  const asked: string[] = [];
  vi.spyOn(env.QUEUE, 'sendBatch').mockImplementation((messages) => {
    for (const { body } of messages) {
      const message = body as { approval_id?: string; seq?: number; approver: number };
      asked.push(`${message.approval_id ?? message.seq} ${message.approver}`);
    }
    return Promise.resolve({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });
  });
  return asked;
}
