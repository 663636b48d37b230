/** What must be so when an answer leaves a session object. */
import type {
  ApprovalAnswer,
  CallAnswer,
  CallRequest,
  DecisionAnswer,
  DecisionRequest,
  OpenAnswer,
  OpenRequest,
} from '../../src/gate/session/rpc.ts';
import { isElsewhere } from './elsewhere.ts';
import { argumentsOf, intentOf, type SessionFacts, type Watched } from './facts.ts';
import type { Model } from './model.ts';

/** A call that reached its object. */
export function proposes(model: Model, { uid, call_id, tool, arguments: raw }: CallRequest): void {
  const session = model.sessions.get(uid);
  if (session === undefined) return;
  const intent = intentOf(uid, argumentsOf(raw));
  session.proposed.set(intent, (session.proposed.get(intent) ?? 0) + 1);
  const known = session.ids.get(call_id) ?? { since: model.elapsed, calls: new Set<string>() };
  known.calls.add(`${tool} ${JSON.stringify(argumentsOf(raw))}`);
  session.ids.set(call_id, known);
}

/** An opening that was granted: what it narrows stays narrowed. */
export function narrows(model: Model, request: unknown, answer: unknown): void {
  const { max_steps, max_refund_cents, max_session_refund_cents } = request as OpenRequest;
  const told = answer as OpenAnswer;
  const session = 'opened' in told ? model.sessions.get(told.uid) : undefined;
  if (session === undefined) return;
  if (max_steps !== undefined) session.narrowed.push({ since: model.elapsed, max_steps });
  if (max_refund_cents !== undefined) session.own.max_refund_cents = max_refund_cents;
  if (max_session_refund_cents !== undefined) session.own.max_session_refund_cents = max_session_refund_cents;
}

export function checkAnswer(model: Model, object: Watched, request: unknown, answer: unknown): void {
  const { uid, tool, arguments: raw, call_id } = request as CallRequest;
  const told = answer as CallAnswer;
  if ('refused' in told) return;
  const { outcome, audit } = told;
  if (audit === null) return model.fail('answered-without-a-row', `${call_id} ${outcome.code}`);
  const [row] = object.database.all('SELECT hash FROM log WHERE seq = ?', [audit.seq]);
  if (row?.['hash'] !== audit.hash) model.fail('answered-before-its-row', `${call_id} ${outcome.code}`);
  const session = model.sessions.get(uid);
  if (session === undefined) return model.fail('answer-without-session', call_id);
  if (!outcome.replayed) checkTold(model, session, told);
  if (tool !== 'refund_order' && !isElsewhere(tool)) return;
  const intent = intentOf(uid, argumentsOf(raw));
  if (outcome.ok) checkDone(model, intent, outcome.data);
  checkRetry(model, session, call_id, `${intent} ${outcome.code}`, outcome.replayed);
}

/** An answer of its own says what its row says; one that is told again may tell more than the row it names. */
function checkTold(model: Model, { log }: SessionFacts, { outcome, audit }: Extract<CallAnswer, { outcome: unknown }>) {
  const row = log.find(({ seq }) => seq === audit?.seq);
  if (row === undefined) return;
  for (const part of ['code', 'ok', 'step', 'call_id'] as const)
    if (row[part] !== outcome[part])
      model.fail('told-other-than-its-row', `${part} ${String(outcome[part])}, row ${row.seq} ${String(row[part])}`);
}

/** What is told as done stands in the ledger, with the same figures. */
function checkDone(model: Model, intent: string, data: Record<string, unknown> | undefined): void {
  const applied = model.appliedOf(intent);
  if (applied.length === 0) return model.fail('told-done-but-not', intent);
  const { refunded_cents, remaining_refundable_cents } = data ?? {};
  if (
    !applied.some(
      ({ amount_cents, remaining }) =>
        amount_cents === refunded_cents && remaining === (remaining_refundable_cents ?? remaining),
    )
  )
    model.fail('told-other-figures', `${intent}: ${JSON.stringify(data)}`);
}

const OPEN = new Set(['CONFIRMATION_REQUIRED', 'UPSTREAM_UNAVAILABLE']);

/** The same id with the same call is told the same, unless the first answer left something open. */
function checkRetry(model: Model, session: SessionFacts, callId: string, told: string, replayed: boolean): void {
  const before = session.told.get(`${callId} ${told.slice(0, told.lastIndexOf(' '))}`);
  const code = told.slice(told.lastIndexOf(' ') + 1);
  if (before === undefined || OPEN.has(before))
    session.told.set(`${callId} ${told.slice(0, told.lastIndexOf(' '))}`, code);
  else if (replayed && before !== code) model.fail('retry-told-otherwise', `${callId}: ${before}, then ${code}`);
}

export function checkDecision(model: Model, request: unknown, answer: unknown): void {
  const { approval_id } = request as DecisionRequest;
  const told = answer as DecisionAnswer;
  if (!('decided' in told)) return;
  const approval = model.approval(approval_id);
  approval.decided += 1;
  if (approval.decided > 1) model.fail('two-deciders', approval_id);
}

/** A poll is answered with what holds then, however long it waited; the answer leaves once all before it is durable. */
const ANSWERS_WITHIN_MS = 1_000;

export function checkPoll(model: Model, args: unknown[], answer: unknown): void {
  const [uid, id] = args as [string, string];
  const told = answer as ApprovalAnswer;
  if ('refused' in told) {
    const known = [...(model.sessions.get(uid)?.records.values() ?? [])].some(({ approval_id }) => approval_id === id);
    if (told.refused === 'not_found' && known) model.fail('approval-vanished', id);
    return;
  }
  const held = [...(model.sessions.get(uid)?.records.values() ?? [])].find(({ approval_id }) => approval_id === id);
  if (held === undefined) return model.fail('approval-unknown', id);
  const lately = held.was.filter((_, i) => (held.was[i + 1]?.since ?? Infinity) >= model.elapsed - ANSWERS_WITHIN_MS);
  if (!model.isRecounted && !lately.some(({ state }) => state === told.status))
    model.fail('told-other-status', `${id}: ${told.status}, is ${held.state}`);
  const applied = model.attempts.get(`${held.key} ${held.attempt}`)?.applied === true;
  if (told.status === 'executed' && !applied) model.fail('told-done-but-not', id);
  // An approval that came to nothing left its attempt to the next one; only what was sent under it counts here.
  if (told.status === 'failed' && held.state === 'failed' && applied && held.wasSent)
    model.fail('called-failed-but-applied', id);
}
