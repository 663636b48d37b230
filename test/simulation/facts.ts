/** What the model remembers, in words of its own: read from the databases' own writes and from what people were told. */
import type { RecordState } from '../../src/gate/ports.ts';
import type { Policy, SqlRow, SqlValue } from '../../src/gate/ports.ts';
import type { OpenRequest } from '../../src/gate/session/rpc.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Own } from './scenario.ts';

/** A session object as the model looks into it. */
export type Watched = {
  readonly name: string;
  readonly database: { all(sql: string, params?: readonly SqlValue[]): SqlRow[] };
};

export type Attempt = {
  effect_key: string;
  call_key: string;
  attempt: number;
  uid: string;
  order_id: string;
  applied: boolean;
  code: string | null;
  intent: string;
  amount_cents: number;
  currency: string;
  /** What the order still had left after it. */
  remaining: number;
};

export type Held = {
  key: string;
  round: number;
  uid: string;
  state: RecordState;
  attempt: number;
  amount_cents: number;
  currency: string;
  approval_id: string | null;
  intent: string;
  /** Ms since the epoch on the clock everybody sees. */
  expires_at: number | null;
  /** Virtual time at which it was opened. */
  openedAt: number;
  /** The states it had, from when on each. */
  was: { since: number; state: string }[];
  /** It was claimed or approved once, so its attempt may be on its way. */
  wasSent: boolean;
};

export type Logged = {
  seq: number;
  hash: string;
  kind: string;
  code: string;
  ok: boolean;
  key: string | null;
  attempt: number | null;
  approval_id: string | null;
  call_id: string | null;
  step: number | null;
};

export type CallerFacts = {
  versions: { version: number; policy: Policy }[];
  /** From when on this version or a later one must be in force everywhere. */
  settled: { version: number; since: number }[];
  revokedSince: number | null;
  /** The operator was answered that its sessions know. */
  revocationTold?: boolean;
};

export type SessionFacts = {
  uid: string;
  caller_id: string;
  object: Watched;
  log: Logged[];
  records: Map<string, Held>;
  /** Every opening that was tried under its name. */
  asked: OpenRequest[];
  /** The narrower limits it was opened and rejoined with. */
  own: Own;
  /** The least steps it was told to have, from when on. */
  narrowed: { since: number; max_steps: number }[];
  endAsked: boolean;
  /** Calls that reached the object: how often each intent was proposed, and which calls came under an id, from when on. */
  proposed: Map<string, number>;
  ids: Map<string, { since: number; calls: Set<string> }>;
  /** What each call was first told, by call id. */
  told: Map<string, string>;
};

export type OrderFacts = {
  order_id: string;
  total: number;
  paid_back: number;
  currency: string;
  customer_id: string;
  /** The tool that refunds it at a backend; undefined: it is an order of the ledger. */
  tool?: Elsewhere;
  /** The backend refused a refund of it once. */
  refused?: boolean;
  was: { since: number; left: number; paid_back: number }[];
};

export type Approval = {
  /** With what the page had shown as refunded. */
  approves: { email: string; at: number; refunded: string | null }[];
  rejects: number;
  decided: number;
  /** When a link first reached whom. */
  letters: Map<string, number>;
  /** Who had no letter when it ended, though there was time. */
  unasked: string[];
};

/** Names an intent by what was asked for, not by the product's key. */
export function intentOf(uid: string, input: unknown): string {
  const { order_id, amount_cents, currency, reason } = (
    typeof input === 'object' && input !== null ? input : {}
  ) as Record<string, unknown>;
  return [uid, order_id, amount_cents, currency, reason].map(String).join(' ');
}

/** The arguments as an object, whichever way they were written. */
export function argumentsOf(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw ?? {};
  try {
    return JSON.parse(raw === '' ? '{}' : raw) as unknown;
  } catch {
    return {};
  }
}
