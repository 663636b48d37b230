/**
 * What stages and tools need from outside, as small interfaces. Stages and tools import no clock, no randomness,
 * no binding: each comes through here, so that the simulation can own every one of them.
 */
import type { JsonObject } from './json.ts';
import type { Refusal } from './outcome.ts';

/** An amount in minor units of its currency. */
export type Money = { amount_cents: number; currency: string };

// --- SQL -------------------------------------------------------------------------------------------------------

export type SqlValue = string | number | null;
export type SqlRow = Record<string, SqlValue>;
export type Statement = { sql: string; params: SqlValue[] };

/** The session object's own database: synchronous, so that a check and its write are one step. */
export interface SessionSql {
  all(sql: string, ...params: SqlValue[]): SqlRow[];
  /** All statements of `run` or none; `run` must not await. */
  transaction<T>(run: () => T): T;
}

/** The shared database. `batch` is one transaction; each result holds its statement's rows. */
export interface LedgerSql {
  all(sql: string, ...params: SqlValue[]): Promise<SqlRow[]>;
  batch(statements: Statement[]): Promise<SqlRow[][]>;
}

/** RFC 5321 section 4.5.3.1.3: a path may hold 256 octets, its angle brackets included. */
export const MAX_ADDRESS_CHARACTERS = 254;

// --- What tools are handed -------------------------------------------------------------------------------------

/** What a port of a tool is made of. `now` is in milliseconds since the epoch. */
export interface Kit {
  readonly ledger: LedgerSql;
  readonly now: () => number;
}

/** A back end as a tool declares it: `reads: { orders }`. The gate opens it for each call with the kit it runs on. */
export interface Port<Api> {
  open(kit: Kit): Api;
}

/** One attempt of a call key; `effect_key` = SHA-256 of `[call_key, attempt]`. */
export type Attempt = {
  effect_key: string;
  call_key: string;
  attempt: number;
  uid: string;
  caller_id: string;
  tool: string;
  /** Whose record of effects it is written to, such as `ledger:orders`. */
  backend: string;
  /** What it concerns; the effect key where the tool names no subject. */
  subject: string;
  money: Money | null;
};

/** What the ledger's row says, and the only result of an attempt (docs/specification.md#life-of-an-effect). */
export type LedgerRow = { applied: true; answer: JsonObject } | { applied: false; code: string; facts: JsonObject };

/** A void has no guard: it says "this attempt will never be applied", or finds that it was. */
export interface Attempts {
  void(attempt: Attempt, code: string): Promise<LedgerRow>;
}

/** A backend failed in a known way. `transient`: trying again may help (docs/specification.md#stage-8-execute). */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
  readonly transient: boolean;

  constructor(message: string, transient: boolean) {
    super(message);
    this.transient = transient;
  }
}
/** A backend did not answer within the tool's limit. */
export class UpstreamTimeout extends Error {
  override name = 'UpstreamTimeout';
}

/** Runs work under limits: `tryMs` a try, at most two retries of transient failures, nothing past `deadline` (epoch ms). */
export interface Upstream {
  run<T>(work: (signal: AbortSignal) => Promise<T>, limits: { tryMs: number; deadline: number }): Promise<T>;
}

// --- What the session knows ------------------------------------------------------------------------------------

/** Amounts in minor units; null: no limit. */
export type Limits = {
  max_refund_cents: number;
  max_session_refund_cents: number | null;
  confirm_above_cents: number;
};

/** What a policy, narrowed by its session, says of amounts. */
export type Limited = Limits & {
  limits: Readonly<Record<string, Partial<Limits>>>;
  /** The session's own members, which narrow every currency; null where it has none. */
  own_max_refund_cents: number | null;
  own_max_session_refund_cents: number | null;
};

/** What the operator set for a caller. Amounts in minor units; `max_session_refund_cents` null: no limit. */
export type Policy = {
  allowed_tools: string[];
  approvers: string[];
  customer_scope: 'required' | 'any';
  max_refund_cents: number;
  max_session_refund_cents: number | null;
  confirm_above_cents: number;
  /** By ISO 4217 code; see policy/limits.ts. */
  limits: Record<string, Partial<Limits>>;
  /** Which customer ids its sessions may have. */
  customer_pattern: string;
  max_steps: number;
  max_duplicate_calls: number;
  approval_ttl_seconds: number;
  identical_effects: 'replay' | 'ask';
};

/** A change of the caller, told to its sessions; the higher version wins, telling again is harmless. */
export type CallerChange = { version: number; name: string; policy: Policy; revoked: boolean };

/** The narrower of the session's own fields and the caller's current policy, read afresh each time. */
export type Scope = Limited & {
  caller_id: string;
  session_id: string;
  uid: string;
  customer_id: string | null;
  tools: readonly string[];
  max_steps: number;
  max_duplicate_calls: number;
  approval_ttl_seconds: number;
  identical_effects: 'replay' | 'ask';
  /** Who may be asked: the current list in lower case, without `requested_by`. */
  approvers: readonly string[];
  live: 'live' | 'ended' | 'revoked';
};

export const RECORD_STATES = ['pending', 'approved', 'claimed', 'executed', 'rejected', 'expired', 'failed'] as const;
export type RecordState = (typeof RECORD_STATES)[number];

export type Approval = {
  id: string;
  opened_at: number;
  expires_at: number;
  decided_at: number | null;
  /** The deciding approver's number in this approval. */
  decided_by: number | null;
  note: string | null;
  request_id: string | null;
  /** Digests of the facts that the approver saw; null before the decision. */
  shown: string | null;
};

/** What an approver is shown of another approval of the same subject. `opened_at` in ms since the epoch. */
export type OtherApproval = {
  id: string;
  status: string;
  amount_cents: number | null;
  currency: string | null;
  opened_at: number;
  /** Why a person rejected it; null where they said nothing, or did not. */
  note: string | null;
};

/** What a session knows about one effect: one row per time its key became an intent (`round`). */
export type EffectRecord = {
  key: string;
  round: number;
  state: RecordState;
  attempt: number;
  /** What the ledger's row of this attempt says, once it is known. */
  ledger: 'applied' | 'void' | null;
  tool: string;
  contract: string;
  input: JsonObject;
  call_id: string;
  step: number;
  fingerprint: string;
  money: Money | null;
  /** Where its attempts are written, such as `ledger:orders`. */
  backend: string;
  subject: string | null;
  /** What the checks saw when it was opened. */
  seen: JsonObject;
  answer: JsonObject | null;
  /** Why it failed. */
  refusal: Refusal | null;
  approval: Approval | null;
};
