/** Opening, rejoining, narrowing, ending a session, and hearing of its caller's changes (docs/specification.md#changes-to-a-caller and docs/specification.md#sessions). */
import type { Refusal } from '../outcome.ts';
import { isCustomerId } from '../policy/customer-pattern.ts';
import { flatLimits } from '../policy/limits.ts';
import type { CallerChange, Policy, Scope } from '../ports.ts';
import { extendSession, openSession, uidAt, withdrawSession } from '../ledger/sessions.ts';
import type { Alarms } from './alarm-clock.ts';
import type { Own, SessionRow } from './session-row.ts';
import {
  insertSession,
  lacksCustomer,
  markEnded,
  narrow,
  readSession,
  scopeOf,
  shownPolicy,
  takeChange,
  theSession,
} from './session-row.ts';
import type { OwnPorts } from './session-tables.ts';
import { openRecords } from './records.ts';
import type { OpenAnswer, OpenRequest } from './rpc.ts';
import { createTables } from './schema.ts';
import type { SessionGate } from './session-gate.ts';
import { TRAVEL_MS } from './session-gate.ts';

const TRIP_LIMIT_MS = 5_000;

export class Opening {
  readonly #ports: OwnPorts;
  readonly #gate: SessionGate;
  readonly #alarms: Alarms;
  /** One opening at a time: a second request waits and rejoins what the first opened. */
  #queue: Promise<unknown> = Promise.resolve();
  /** An opening that awaits D1, and what was said to it meanwhile, when there is no row yet to keep it in. */
  #opening: { uid: string; told: CallerChange | null; isEnded: boolean } | null = null;

  constructor(ports: OwnPorts, gate: SessionGate, alarms: Alarms) {
    this.#ports = ports;
    this.#gate = gate;
    this.#alarms = alarms;
  }

  open(request: OpenRequest): Promise<OpenAnswer> {
    const turn = this.#queue.then(() =>
      readSession(this.#ports.sql) === null ? this.#openNew(request) : this.#rejoin(request),
    );
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** Keeps a change of the caller; the higher version wins. A revocation fails what is pending. */
  tell(change: CallerChange): void {
    const { sql, now } = this.#ports;
    const opening = this.#opening;
    if (opening !== null && change.version > (opening.told?.version ?? 0)) opening.told = change;
    if (readSession(sql) === null) return;
    takeChange(sql, change);
    if (theSession(sql).revoked) this.#failPending({ code: 'CALLER_REVOKED' });
    // The alarm tries an action that waits under a pause at ever longer intervals. Try it now: its pause may have been lifted.
    if (openRecords(sql).some(({ state }) => state === 'approved')) this.#alarms.arm(now());
  }

  /** Ends the session `uid`, or whichever is open where it is null. What a person approved is still carried out. */
  end(uid: string | null): { ended_at: number } | { refused: 'not_found' } {
    const { sql, now } = this.#ports;
    const session = readSession(sql);
    if (session === null && this.#opening !== null && (uid ?? this.#opening.uid) === this.#opening.uid) {
      this.#opening.isEnded = true;
      return { ended_at: now() };
    }
    if (session === null || (uid !== null && uid !== session.uid)) return { refused: 'not_found' };
    if (session.ended_at !== null) return { ended_at: session.ended_at };
    const ended_at = now();
    markEnded(sql, ended_at);
    this.#failPending({ code: 'SESSION_ENDED' });
    this.#gate.settle({
      origin: { kind: 'event', actor: 'session', record: null, request_id: null },
      verdict: { ok: true, data: {}, replayed: false },
      event: 'SESSION_ENDED',
    });
    return { ended_at };
  }

  async #openNew(request: OpenRequest): Promise<OpenAnswer> {
    const { sql, ledger, now, random } = this.#ports;
    const { caller_id, session_id, key_hash, ttl_seconds, customer_id = null, requested_by = null } = request;
    const touched_at = now();
    const expires_at = expiry(touched_at, ttl_seconds);
    // Begins with the time, so that in D1 the newest session comes first without an index.
    const uid = `${uidAt(touched_at)}${random(16)}`;
    const opening = { uid, told: null, isEnded: false };
    this.#opening = opening;
    try {
      const entry = { uid, caller_id, session_id, key_hash, opened_at: touched_at, expires_at };
      const entered = await this.#limited(() => openSession(ledger, entry));
      if (entered === null) return { refused: 'revoked' };
      const caller = newer(entered, opening.told);
      const row = { uid, caller_id, session_id, customer_id, requested_by: requested_by?.toLowerCase() ?? null };
      const refusal = opening.isEnded ? ({ refused: 'ended' } as const) : refusedOpening(request, caller);
      if (refusal !== null) {
        await this.#limited(() => withdrawSession(ledger, uid));
        return refusal;
      }
      sql.transaction(() => {
        createTables(sql);
        insertSession(sql, { ...row, own: ownOf(request), expires_at, touched_at }, caller);
      });
      this.#alarms.arm(touched_at + TRAVEL_MS);
      return answer('new', theSession(sql), expires_at);
    } finally {
      this.#opening = null;
    }
  }

  async #rejoin(request: OpenRequest): Promise<OpenAnswer> {
    const { sql, ledger, now } = this.#ports;
    const before = theSession(sql);
    const expires_at = expiry(now(), request.ttl_seconds);
    const { caller_id, key_hash } = request;
    const renewed = { uid: before.uid, caller_id, key_hash, now: now(), expires_at };
    const entered = await this.#limited(() => extendSession(ledger, renewed));
    if (entered === null) return { refused: 'revoked' };
    // Forgotten while D1 answered: there is nothing left to rejoin.
    if (readSession(sql) === null) return this.#openNew(request);
    takeChange(sql, entered);
    const session = theSession(sql);
    const refusal = refusedRejoin(request, session);
    if (refusal !== null) return refusal;
    const own = { ...session.own, ...ownOf(request) };
    narrow(sql, own, expires_at, now());
    this.#alarms.arm(now() + TRAVEL_MS);
    return answer('rejoined', theSession(sql), expires_at);
  }

  /** Openings of one name wait for one another: a trip that hangs must not shut the name for good. */
  #limited<T>(trip: () => Promise<T>): Promise<T> {
    const { upstream, now } = this.#ports;
    return upstream.run(trip, { tryMs: TRIP_LIMIT_MS, deadline: now() + 2 * TRIP_LIMIT_MS });
  }

  #failPending(refusal: Extract<Refusal, { code: 'CALLER_REVOKED' | 'SESSION_ENDED' }>): void {
    for (const record of openRecords(this.#ports.sql)) {
      if (record.state !== 'pending') continue;
      const { key, contract } = record;
      this.#gate.settle({
        origin: { kind: 'event', actor: 'session', record, request_id: null },
        verdict: { ok: false, refusal },
        key,
        contract,
        change: { to: 'failed', record, refusal, voided: false },
      });
    }
  }
}

/** Whole seconds: a token lives by them, and what is shown is when it really ends. */
const expiry = (now: number, ttlSeconds: number): number => (Math.floor(now / 1000) + ttlSeconds) * 1000;

const newer = (entered: CallerChange, told: CallerChange | null): CallerChange =>
  told !== null && told.version > entered.version ? told : entered;

const answer = (opened: 'new' | 'rejoined', session: SessionRow, expires_at: number): OpenAnswer => ({
  opened,
  uid: session.uid,
  expires_at,
  policy: shownPolicy(scopeOf(session)),
});

function ownOf(request: OpenRequest): Own {
  const { tools, max_steps, max_refund_cents, max_session_refund_cents } = request;
  return {
    // A name may come a thousand times; what is kept of it is read with every call.
    ...(tools === undefined ? {} : { tools: [...new Set(tools)] }),
    ...(max_steps === undefined ? {} : { max_steps }),
    ...(max_refund_cents === undefined ? {} : { max_refund_cents }),
    ...(max_session_refund_cents === undefined ? {} : { max_session_refund_cents }),
  };
}

type Refused = Extract<OpenAnswer, { refused: string }>;
type Limits = Pick<Scope, 'tools' | 'max_steps' | 'max_refund_cents' | 'max_session_refund_cents'>;

const limitsOf = (policy: Policy): Limits => ({ ...policy, tools: policy.allowed_tools });

function refusedOpening(request: OpenRequest, caller: CallerChange): Refused | null {
  if (caller.revoked) return { refused: 'revoked' };
  if (request.customer_id === undefined && caller.policy.customer_scope === 'required')
    return { refused: 'customer_required' };
  if (request.customer_id !== undefined && !isCustomerId(request.customer_id, caller.policy.customer_pattern))
    return { refused: 'customer_pattern' };
  return unnarrowed(request, limitsOf(caller.policy));
}

function refusedRejoin(request: OpenRequest, session: SessionRow): Refused | null {
  if (session.revoked) return { refused: 'revoked' };
  if (session.ended_at !== null) return { refused: 'ended' };
  if (request.customer_id !== undefined && request.customer_id !== session.customer_id)
    return { refused: 'conflict', field: 'customer_id' };
  if (request.requested_by !== undefined && request.requested_by.toLowerCase() !== session.requested_by)
    return { refused: 'conflict', field: 'requested_by' };
  if (lacksCustomer(session)) return { refused: 'customer_required' };
  const scope = scopeOf(session);
  return unnarrowed(request, { ...scope, ...flatLimits(scope) });
}

/** A session only narrows what is in force; the field that would widen it is named. */
function unnarrowed(request: OpenRequest, limits: Limits): Refused | null {
  if (request.tools?.some((name) => !limits.tools.includes(name)) === true)
    return { refused: 'widened', field: 'tools' };
  const most = { ...limits, max_session_refund_cents: limits.max_session_refund_cents ?? Infinity };
  for (const field of ['max_steps', 'max_refund_cents', 'max_session_refund_cents'] as const)
    if ((request[field] ?? 0) > most[field]) return { refused: 'widened', field };
  return null;
}
