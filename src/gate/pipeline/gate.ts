/**
 * What the stages need of the session object they run in, and how they tell it that something ended. Everything but
 * `upstream`, the tools' ports and `whenFree` is synchronous: a check and the write that relies on it are one step.
 */
import type { JsonObject } from '../json.ts';
import type { Refusal, Verdict } from '../outcome.ts';
import type { Attempts, EffectRecord, FinalAnswer, Journal, Kit, Outgoing, Scope, Upstream } from '../ports.ts';
import type { Registry } from '../tool/registry.ts';
import type { Reading } from './stages/2-parse.ts';

/** An intent about to be parked or claimed. */
export type Intent = Pick<
  EffectRecord,
  | 'key'
  | 'attempt'
  | 'tool'
  | 'contract'
  | 'input'
  | 'call_id'
  | 'step'
  | 'fingerprint'
  | 'money'
  | 'backend'
  | 'subject'
  | 'seen'
> & { external: { outgoing: Outgoing; place: string } | null };

/** A person's word on a pending action; `note` is cleaned already. */
export type Decision = {
  approver: number;
  note: string | null;
  request_id: string;
  started_at: number;
  /** Digests of the facts that the page showed. */
  shown: string;
};

/** The stage that decided a call or a decision (docs/specification.md#stages). */
export type Stage = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** Why something was refused, and at which stage. */
export type Refused = { refusal: Refusal; stage: Stage };

type EventOrigin = {
  kind: 'event';
  actor: 'alarm' | 'session' | 'operator';
  record: EffectRecord | null;
  request_id: string | null;
};

/** Who causes a row of the audit. */
export type Origin =
  | {
      kind: 'call';
      call_id: string;
      step: number;
      tool: string;
      arguments: unknown;
      /** What the arguments parse to, or why they do not. */
      reading: Reading;
      fingerprint: string;
      request_id: string;
      trace_id: string | null;
      started_at: number;
    }
  | { kind: 'decision'; decision: Decision; record: EffectRecord }
  | EventOrigin;

/** A change of a record. Each is written in one transaction with the row that ends a call, a decision or an event. */
export type Change =
  | { to: 'pending'; intent: Intent; approval: { id: string; opened_at: number; expires_at: number } }
  | { to: 'executed'; record: EffectRecord; answer: JsonObject | null }
  | { to: 'failed'; record: EffectRecord; refusal: Refusal; voided: boolean; decision?: Decision }
  | { to: 'rejected'; record: EffectRecord; decision: Decision }
  | { to: 'expired'; record: EffectRecord };

/** What an audit row says of something that is no verdict on a call. */
export type EventCode = 'MAIL_RESENT' | 'SESSION_ENDED' | 'SESSION_EXHAUSTED';

/** What an ending says besides who caused it and which stage decided it. */
export type EndingFacts = {
  verdict: Verdict;
  /** Where the row reports no verdict on a call. */
  event?: EventCode;
  key?: string;
  contract?: string;
  /** The record the row speaks of, where nothing of it changes. */
  record?: EffectRecord;
  change?: Change;
};

/** No stage decides an event. */
export type Ending = EndingFacts & ({ origin: EventOrigin; stage?: Stage } | { origin: Origin; stage: Stage });

/** What was settled: the verdict and the place of its audit row. */
export type Settled = {
  verdict: Verdict;
  call_id: string;
  tool: string;
  step: number | null;
  audit: { seq: number; hash: string };
};

/** The call a `call_id` belongs to: the first that came with it. */
export type Earlier =
  | { kind: 'running'; fingerprint: string; settled: Promise<Settled> }
  | { kind: 'settled'; fingerprint: string; settled: Settled; record: EffectRecord | null }
  /** It claimed an attempt, and the object died before it was answered: it has a step and a record, but no row yet. */
  | { kind: 'unanswered'; fingerprint: string; record: EffectRecord };

/** Reads of the session's records. */
export interface Records {
  /** The record that decides about a key, by the table of docs/specification.md#life-of-an-effect; null where there is none. */
  current(key: string): EffectRecord | null;
  /** The last round in which this key was executed; 0 where it never was. */
  executedRound(key: string): number;
  /** The same record as it is now. */
  reread(record: EffectRecord): EffectRecord;
  /** Rises only after the attempt before is void, or applied and to be approved anew. */
  nextAttempt(key: string): number;
  /** Applied attempts and open records of a currency, in minor units, without `except`. */
  reservedCents(currency: string, except: EffectRecord | null): number;
  /** How many approvals wait, and how many this session ever opened. */
  approvals(): { pending: number; opened: number };
}

export interface Gate {
  readonly tools: Registry;
  /** What the tools' ports are opened with. */
  readonly kit: Kit;
  readonly attempts: Attempts;
  readonly journal: Journal;
  readonly upstream: Upstream;
  readonly records: Records;
  /** Milliseconds since the epoch. */
  now(): number;
  newId(prefix: string): string;
  /** Read afresh each time: a policy may change during any await. */
  scope(): Scope;
  /** The next step of this session. */
  takeStep(): number;
  /** Calls of this key so far, this one included; refused and joined ones count, across restarts. */
  countCall(key: string, effect: 'none' | 'keyed'): number;
  earlier(callId: string): Earlier | null;
  /** How often this id was sent again, this time included. */
  countRetry(callId: string): number;
  isRunning(key: string): boolean;
  /** Resolves when whoever runs this key has ended; look at the record again then. */
  whenFree(key: string): Promise<void>;
  /** Takes the key; the returned function gives it back. Throws where somebody has it: that is a bug. */
  occupy(key: string): () => void;
  /** Writes the claim of an attempt: durable before the effect, because no message leaves the object before its writes do. */
  claim(intent: Intent): EffectRecord;
  /**
   * *pending* and not expired -> *approved*; null where something else came first. Stores what the re-check saw and what
   * would be sent.
   */
  approve(record: EffectRecord, decision: Decision, judged: Pick<Intent, 'seen' | 'external'>): EffectRecord | null;
  /** Counts and dates one send of an attempt: the request leaves once this is durable. */
  markSent(record: EffectRecord): EffectRecord;
  /** Notes how an attempt ended, before the ledger is told. Written once, and from then on nothing of it is sent. */
  noteFinal(record: EffectRecord, final: FinalAnswer): EffectRecord;
  /** Whether the approvers are (or were) told of this key's refusal by policy. */
  mayNotify(key: string): boolean;
  /** Change, audit row and chain in one transaction; nobody is answered before it is durable. */
  settle(ending: Ending): Settled;
  /** A bug or an outage, for the operator's log: an id, and the error's own words. */
  report(errorId: string, error: unknown): void;
}
