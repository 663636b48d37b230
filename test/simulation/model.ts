/**
 * A small model of the gate's promises, written from the specification and not from the product. It watches every write of
 * the ledger and of the objects and every answer, and says which promise each of them breaks.
 */
import type { Policy, RecordState, SqlValue } from '../../src/gate/ports.ts';
import type { CallRequest, OpenRequest } from '../../src/gate/session/rpc.ts';
import { intentOf, type Approval, type Attempt, type CallerFacts, type Held, type OrderFacts } from './facts.ts';
import type { SessionFacts, Watched } from './facts.ts';
import type { LedgerWitness } from './ledger.ts';
import { checkAnswer, checkDecision, checkPoll, narrows, proposes } from './rules-answers.ts';
import { checkEffect } from './rules-effects.ts';
import { ExternalRules } from './rules-external.ts';
import { checkNothingPending, readLogged } from './rules-log.ts';
import { checkArmed, checkRecord } from './rules-records.ts';
import type { ObjectWitness } from './session-object.ts';
import type { Stage } from './stage.ts';

export type Violation = { rule: string; at: number; text: string };

/** Enough to understand a story; the first one names it. */
const MAX_VIOLATIONS = 20;

export class Model {
  readonly violations: Violation[] = [];
  readonly callers = new Map<string, CallerFacts>();
  readonly orders = new Map<string, OrderFacts>();
  readonly sessions = new Map<string, SessionFacts>();
  readonly attempts = new Map<string, Attempt>();
  readonly approvals = new Map<string, Approval>();
  /** From when on nothing fails any more. */
  quietSince = Infinity;
  /** Told after the fact: which policies and states there were meanwhile, and when, is not known. */
  isRecounted = false;
  readonly external = new ExternalRules(this);
  #stage: Pick<Stage, 'time' | 'note'> | null = null;
  readonly #openings = new Map<string, OpenRequest[]>();
  readonly #open = new Map<number, { what: string; since: number }>();
  #asked = 0;

  begin(stage: Pick<Stage, 'time' | 'note'>): void {
    this.#stage = stage;
  }

  get elapsed(): number {
    return this.#stage?.time.elapsed ?? 0;
  }
  get wall(): number {
    return this.#stage?.time.wall() ?? 0;
  }

  /** From here on nothing fails any more. */
  quiet(): void {
    this.quietSince = Math.min(this.quietSince, this.elapsed);
  }
  /** Nothing ever failed. */
  get isCalm(): boolean {
    return this.quietSince === 0;
  }

  fail(rule: string, text: string): void {
    if (this.violations.length >= MAX_VIOLATIONS) return;
    this.violations.push({ rule, at: this.elapsed, text });
    this.#stage?.note(`VIOLATION ${rule}: ${text}`);
  }

  // --- What the deployment began with ---------------------------------------------------------------------------

  addOrder(order: Omit<OrderFacts, 'was' | 'paid_back'>): void {
    this.orders.set(order.order_id, { ...order, paid_back: 0, was: [{ since: 0, left: order.total, paid_back: 0 }] });
  }

  addCaller(callerId: string, policy: Policy): void {
    this.callers.set(callerId, { versions: [{ version: 1, policy }], settled: [], revokedSince: null });
  }

  // --- What the ledger and the objects write --------------------------------------------------------------------

  readonly ledger: LedgerWitness = {
    attempt: (...values) => {
      const left = this.orders.get(String(values[6]))?.was.at(-1)?.left ?? 0;
      const row = this.addAttempt(values, left - Number(values[7]));
      if (row.applied) checkEffect(this, row);
      else this.external.voided(row);
    },
    order: (...[id, total, paid_back]) => {
      const order = this.orders.get(String(id));
      if (order === undefined) return;
      [order.total, order.paid_back] = [Number(total ?? order.total), Number(paid_back ?? order.paid_back)];
      if (order.paid_back > order.total)
        this.fail('paid-back-too-much', `${order.order_id}: ${order.paid_back} of ${order.total}`);
      // What a backend shows is what it did, whenever the ledger hears of it.
      if (order.tool !== undefined) return;
      order.was.push({ since: this.elapsed, left: order.total - order.paid_back, paid_back: order.paid_back });
    },
    caller: (...[id, version, policy, revoked_at]) => {
      const caller = this.callers.get(String(id));
      if (caller === undefined) return;
      caller.versions.push({ version: Number(version), policy: JSON.parse(String(policy)) as Policy });
      if (revoked_at !== null) caller.revokedSince ??= this.elapsed;
    },
    /** A batch failed as a whole: what was seen of it did not happen. */
    undone: (...left) => {
      for (const [name, { effect_key }] of this.attempts) if (!left.includes(effect_key)) this.attempts.delete(name);
    },
  };

  readonly objects: ObjectWitness = {
    record: (object, ...values) => checkRecord(this, this.sessionOf(object), values),
    log: (object, seq, row) => readLogged(this, object, Number(seq), String(row)),
    session: (object, uid, caller_id, session_id) =>
      this.#addSession(object, String(uid), String(caller_id), String(session_id)),
    answered: (object, method, args, answer) => {
      if (method === 'open') narrows(this, args[0], answer);
      if (method === 'call') checkAnswer(this, object, args[0], answer);
      if (method === 'decide') checkDecision(this, args[0], answer);
      if (method === 'approval') checkPoll(this, args, answer);
    },
    lost: (object) => this.#reread(object),
    kept: (object, alarmAt) => checkArmed(this, this.sessionOf(object), alarmAt),
    arrives: (method, args) => {
      if (method === 'call') proposes(this, args[0] as CallRequest);
      if (method !== 'open') return;
      const request = args[0] as OpenRequest;
      this.#openingsOf(request.caller_id, request.session_id).push(request);
    },
  };

  /** A row of `attempts`, and what the order had left after it. */
  addAttempt(values: SqlValue[], remaining: number): Attempt {
    const [effect_key, call_key, attempt, uid, applied, code, order_id, amount_cents, currency, details] = values;
    const { reason } = JSON.parse(String(details)) as { reason?: string };
    const row: Attempt = {
      effect_key: String(effect_key),
      call_key: String(call_key),
      attempt: Number(attempt),
      uid: String(uid),
      order_id: String(order_id),
      applied: applied === 1,
      code: code as string | null,
      amount_cents: Number(amount_cents),
      currency: String(currency),
      remaining,
      intent: intentOf(String(uid), { order_id, amount_cents, currency, reason }),
    };
    this.attempts.set(`${row.call_key} ${row.attempt}`, row);
    return row;
  }

  #addSession(object: Watched, uid: string, caller_id: string, session_id: string): void {
    this.sessions.set(uid, {
      uid,
      caller_id,
      object,
      log: [],
      records: new Map<string, Held>(),
      own: {},
      asked: this.#openingsOf(caller_id, session_id),
      narrowed: [],
      endAsked: false,
      proposed: new Map<string, number>(),
      ids: new Map<string, { since: number; calls: Set<string> }>(),
      told: new Map<string, string>(),
    });
  }

  #openingsOf(callerId: string, sessionId: string): OpenRequest[] {
    const name = `${callerId} ${sessionId}`;
    const openings = this.#openings.get(name) ?? [];
    this.#openings.set(name, openings);
    return openings;
  }

  /** The object's present session; the last one opened there. */
  sessionOf(object: Watched): SessionFacts | null {
    let found: SessionFacts | null = null;
    for (const session of this.sessions.values()) if (session.object === object) found = session;
    return found;
  }

  /** A death took what was not durable: the model forgets it too. */
  #reread(object: Watched): void {
    const session = this.sessionOf(object);
    if (session === null) return;
    const { database } = object;
    if (database.all('SELECT 1 FROM session WHERE uid = ?', [session.uid]).length === 0)
      return void this.sessions.delete(session.uid);
    const last = Number(database.all('SELECT coalesce(max(seq), 0) AS seq FROM log')[0]?.['seq'] ?? 0);
    while ((session.log.at(-1)?.seq ?? 0) > last) session.log.pop();
    const states = new Map(
      database
        .all('SELECT key, round, state FROM record')
        .map((row) => [`${String(row['key'])} ${Number(row['round'])}`, row['state'] as RecordState]),
    );
    for (const [name, held] of session.records) {
      const state = states.get(name);
      if (state === undefined) session.records.delete(name);
      else if (held.state !== state) {
        held.state = state;
        held.was.push({ since: this.elapsed, state });
      }
    }
  }

  // --- What people ask and are told -----------------------------------------------------------------------------

  /** Notes a request; the returned function that it was answered, or that its asker knows it is lost. */
  asks(what: string): () => void {
    const number = (this.#asked += 1);
    this.#open.set(number, { what, since: this.elapsed });
    return () => void this.#open.delete(number);
  }

  get unanswered(): string[] {
    return [...this.#open.values()].map(({ what, since }) => `${what}, asked at ${(since / 1000).toFixed(1)} s`);
  }

  /** The version a caller has now. */
  versionOf = (callerId: string): number => this.callers.get(callerId)?.versions.at(-1)?.version ?? 0;

  /** A change made after `version` was answered as told to all its sessions; others may have come between. */
  settled(callerId: string, version: number, revokes: boolean): void {
    this.callers.get(callerId)?.settled.push({ version: version + 1, since: this.elapsed });
    if (!revokes) return;
    const caller = this.callers.get(callerId);
    if (caller !== undefined) caller.revocationTold = true;
    for (const session of this.sessions.values())
      if (session.caller_id === callerId) checkNothingPending(this, session);
  }

  /** The policies that may have held somewhere at that moment or later; by default at this one. */
  policiesOf(callerId: string, from = this.elapsed): Policy[] {
    const caller = this.callers.get(callerId);
    if (caller === undefined) return [];
    const least = Math.max(0, ...caller.settled.filter(({ since }) => since <= from).map(({ version }) => version));
    return caller.versions.filter(({ version }) => version >= least).map(({ policy }) => policy);
  }

  approval(id: string): Approval {
    const known = this.approvals.get(id) ?? {
      approves: [],
      rejects: 0,
      decided: 0,
      letters: new Map<string, number>(),
      unasked: [],
    };
    this.approvals.set(id, known);
    return known;
  }

  mailed(id: string, to: string): void {
    const { letters } = this.approval(id);
    letters.set(to, letters.get(to) ?? this.elapsed);
  }

  appliedOf = (intent: string): Attempt[] =>
    [...this.attempts.values()].filter((row) => row.applied && row.intent === intent);
}
