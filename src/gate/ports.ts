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
  readonly backends: Backends;
  readonly now: () => number;
}

/** A back end as a tool declares it: `reads: { orders }`. The gate opens it for each call with the kit it runs on. */
export interface Port<Api> {
  open(kit: Kit): Api;
}

// --- Effects in other systems (docs/specification.md#effects-in-other-systems) -----------------------------------

/** How the key of an effect travels, so that the API executes it at most once. */
export type BackendKey = {
  /** The header that carries it, such as `Idempotency-Key`. */
  header?: string;
  /** The member of the body that carries it. */
  body?: string;
  /** The longest key the API takes, in characters; longer wire keys are cut. At least 22 (128 bits). */
  max: number;
  format?: 'base64url' | 'uuid';
};

/** What a tool states about an API. Times in milliseconds. */
export type BackendRecipe = {
  /** Part of the published contract, with `version`: change the version whenever requests change. */
  name: string;
  version: string;
  /** Names of variables; their values never stand in code. `account` is a label of whose effects the secret makes. */
  env: { origin: string; account: string; secret: string };
  /** Headers that carry the credential, and any that pin the API's version. */
  authorize(secret: string): Record<string, string>;
  /** Null: the API knows no idempotency key, so each attempt is sent once. */
  key: BackendKey | null;
  /** How long the API promises to remember a key. */
  keepMs: number;
  /** Whether a refusal is stored under the key and answered again for it. */
  refusals: 'kept' | 'not_kept';
  /** After this, a request that left has been executed or was lost. */
  quietMs?: number;
  /** Limit of one request, at most 15 seconds. */
  tryMs?: number;
};

/** A recipe with its defaults. */
export type Backend = Required<BackendRecipe>;

/** What an API answered; `json` null where the body is no JSON object of at most 64 KiB. */
export type Answer = { status: number; json: JsonObject | null };

/** GET requests to one API. An answer that says nothing (3xx, 401, 429, 5xx, silence) is thrown as `UpstreamError`. */
export interface Api {
  get(path: string): Promise<Answer>;
}

/** The bytes of one effect's request. They are stored before the first send; a resend sends the same. */
export type Outgoing = { method: string; path: string; type: string | null; body: string | null };

/** The APIs that tools declare, reached with the Worker's variables. */
export interface Backends {
  /** SHA-256 of origin and account; null while a variable is missing. A resend goes to the same place or not at all. */
  place(backend: Backend): string | null;
  api(backend: Backend, signal: AbortSignal): Api;
  /** Sends once. Throws where there is no answer, which says nothing about what happened. */
  send(backend: Backend, outgoing: Outgoing, effectKey: string, signal: AbortSignal): Promise<Answer>;
}

/** How an attempt ended. `answer` null: done, and what was answered could not be read. */
export type FinalAnswer =
  | { applied: true; external_id: string | null; answer: JsonObject | null }
  | { applied: false; code: string; facts: JsonObject };

/** How an effect in another system stands (docs/specification.md#effects-in-other-systems). */
export const OPEN_STATES = ['opening', 'sending', 'settling', 'waiting', 'answered'] as const;
export type OpenState = (typeof OPEN_STATES)[number];

/** What a record keeps of an effect in another system, from its claim or approval on. Times in ms since the epoch. */
export type ExternalEffect = {
  outgoing: Outgoing;
  place: string;
  sends: number;
  first_send_at: number | null;
  last_send_at: number | null;
  /** Written once, before the ledger is told. From then on nothing is sent. */
  final: FinalAnswer | null;
};

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
export type LedgerRow =
  | { applied: true; answer: JsonObject | null }
  | { applied: false; code: string; facts: JsonObject };

/** A void has no guard: it says "this attempt will never be applied", or finds that it was. */
export interface Attempts {
  void(attempt: Attempt, code: string): Promise<LedgerRow>;
}

/** An attempt of an effect in another system that is about to be sent. */
export type AttemptToOpen = Attempt & {
  session_id: string;
  customer_id: string | null;
  place: string;
  /** SHA-256 of `[method, path, body]`. */
  digest: string;
  /** What the gate may apply to the subject in sum, in minor units; null: no ceiling. */
  ceiling: { cents: number; code: string } | null;
  /** A person approved it: while the subject is busy or the gate paused it waits, and no void is written. */
  waits: boolean;
  /** An operator ordered this send, which alone passes a revocation and a pause. */
  ordered: boolean;
};

/**
 * `open`: D1 holds an open row of this attempt, so it may be sent. `held`: it holds one, and the caller may not act any
 * more. `waits`: nothing was written. Otherwise the row that settles the attempt.
 */
export type Opened = 'open' | 'held' | 'waits' | LedgerRow;

/** The two batches about an effect in another system. Both are safe to repeat, in any order. */
export interface Journal {
  open(attempt: AttemptToOpen): Promise<Opened>;
  /** Writes the attempt's row, deletes the open one, and answers with the row that stands. */
  close(
    attempt: Attempt & { digest: string; sends: number },
    final: FinalAnswer,
    details: JsonObject,
  ): Promise<LedgerRow>;
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
  run<T>(
    work: (signal: AbortSignal) => Promise<T>,
    limits: { tryMs: number; deadline: number; once?: boolean },
  ): Promise<T>;
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
  /** What the checks saw when it was opened or approved. */
  seen: JsonObject;
  /** Null where the effect is in the ledger, and before a claim or an approval. */
  external: ExternalEffect | null;
  /** Of an executed record: null where what the other system answered could not be read. */
  answer: JsonObject | null;
  /** Why it failed. */
  refusal: Refusal | null;
  approval: Approval | null;
};
