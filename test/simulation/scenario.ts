/**
 * One seed's story as data: who there is, what they set out to do and which faults may strike. Chance within the story comes
 * from streams named by who meets it, so that a story stays much the same when somebody is taken out of it.
 */
import type { Policy } from '../../src/gate/ports.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Order } from '../../src/tools/orders/orders.ts';

export type Refunding = {
  order: number;
  amount_cents: number;
  currency: string;
  reason: 'damaged' | 'not_delivered' | 'customer_request';
};

export type Step = { pauseMs: number } & (
  | { do: 'refund'; refund: Refunding; id: 'new' | 'again' | 'none'; retries: number }
  | { do: 'read'; order: number }
  | { do: 'nonsense' }
  | { do: 'poll'; waitSeconds: number }
  | { do: 'rejoin'; own: Own }
  | { do: 'end' }
);

export type Own = Partial<{
  max_steps: number;
  max_refund_cents: number;
  max_session_refund_cents: number;
}>;

export type Client = { name: string; session: number; startMs: number; steps: Step[] };

/** `atRead` instead of a time: while an object's n-th look at an order is under way, which then takes long. */
export type OperatorAct = { atMs: number; atRead: number | null } & (
  | { act: 'patch'; caller: number; patch: Partial<Policy> }
  | { act: 'revoke'; caller: number }
  | { act: 'withdraw' | 'resend' }
  /** The shop changes an order in the ledger, as order imports do. */
  | { act: 'raise'; order: number; by_cents: number }
);

export type Disturbance = { atMs: number } & (
  | { kind: 'crash' | 'evict'; session: number }
  /** Nothing the object sends reaches the ledger, or no answer reaches it, for that long. */
  | { kind: 'cut'; session: number; ms: number; landing: boolean }
  | { kind: 'jump'; ms: number }
);

/** Chances a time; zero: never. */
export type Faults = {
  /** Of a statement or batch at the ledger. */
  failBefore: number;
  lostAnswer: number;
  silent: number;
  /** Takes almost as long as is waited for. */
  slow: number;
  lateWrite: number;
  duplicateWrite: number;
  /** Of an object at a message it sends or awaits. */
  crashAtSend: number;
  crashAtAnswer: number;
  crashAtWrite: number;
  /** Of a message to or from an object. */
  duplicateCall: number;
  lostReply: number;
  alarmLate: number;
  alarmDoubled: number;
  alarmDropped: number;
  queueFails: number;
  queueDoubles: number;
  queueSlow: number;
  mailFails: number;
  /** Of a request that a backend turns away before it looks the key up. */
  turnsAway: number;
  /** Of a request that a backend refuses although it could do it. */
  refuses: number;
};

export type Scenario = {
  seed: number;
  /** Through the product's Hono app, or by the same steps without HTTP. */
  http: boolean;
  /** Runs on for two months, until sessions are forgotten. */
  long: boolean;
  callers: { name: string; policy: Policy }[];
  /** `elsewhere`: the tool that refunds it at a backend; null: it is an order of the ledger. */
  orders: {
    customer_id: string;
    total_cents: number;
    currency: Order['currency'];
    elsewhere: Elsewhere | null;
  }[];
  sessions: {
    name: string;
    caller: number;
    customer_id: string | null;
    requested_by: string | null;
    own: Own;
    ttl_seconds: number;
  }[];
  clients: Client[];
  operators: OperatorAct[];
  disturbances: Disturbance[];
  faults: Faults;
};
