/**
 * What the Worker and the mail consumer may ask of a session object, and what it answers. Types only: other rooms import
 * these with `import type`. Everything an object refuses is a value with a `refused` reason, never an exception.
 */
import type { JsonObject } from '../json.ts';
import type { ApprovalStatus, Defect, Outcome, PolicyLimit, Verdict } from '../outcome.ts';
import type { Fact } from '../tool/define-tool.ts';
import type { CallerChange, Limits, Money, OpenState, OtherApproval } from '../ports.ts';

/** What an API key asks for when it opens or rejoins a session; absent fields keep theirs on a rejoin. */
export type OpenRequest = {
  caller_id: string;
  session_id: string;
  /** Of the API key that asks: SHA-256, hex. */
  key_hash: string;
  customer_id?: string;
  requested_by?: string;
  tools?: string[];
  max_steps?: number;
  max_refund_cents?: number;
  max_session_refund_cents?: number;
  ttl_seconds: number;
};

/** The policy a session shows: the narrower of its own fields and its caller's; approvers as a number. */
export type SessionPolicy = {
  tools: string[];
  max_steps: number;
  max_duplicate_calls: number;
  max_refund_cents: number;
  max_session_refund_cents: number | null;
  confirm_above_cents: number;
  limits: Record<string, Limits>;
  customer_id?: string;
  approvers: number;
};

export type OpenAnswer =
  | { opened: 'new' | 'rejoined'; uid: string; expires_at: number; policy: SessionPolicy }
  | { refused: 'revoked' }
  | { refused: 'ended' }
  /** A field that is fixed at opening differs, or the customer is missing where one is required. */
  | { refused: 'conflict'; field: 'customer_id' | 'requested_by' }
  | { refused: 'customer_required' | 'customer_pattern' }
  | { refused: 'widened'; field: string };

export type CallRequest = {
  uid: string;
  tool: string;
  /** As the model wrote them: a string, an object, or anything else (which is `INVALID_JSON`); absent is `{}`. */
  arguments: unknown;
  defect?: Defect;
  call_id: string;
  request_id: string;
  /** Of a valid `traceparent` header, if the request has one. */
  trace_id?: string;
};

export type CallAnswer =
  /** `audit` null: the call left no row. */
  | { outcome: Outcome; max_steps: number; steps_left: number; audit: { seq: number; hash: string } | null }
  | { refused: 'unauthorized' | 'session_exhausted' | 'too_many_retries' | 'too_many_polls' };

export type Sent = { sends: number; last_send_at: number };

export type Delivery = { asked: number; sent: number; undeliverable: number };

/** `GET /v1/approvals/{id}` as the object answers it; times in ms since the epoch. */
export type ApprovalAnswer =
  | {
      id: string;
      status: ApprovalStatus;
      tool: string;
      arguments: JsonObject;
      expires_at: number;
      decided_at: number | null;
      note: string | null;
      /** Of an effect in another system: how often it was sent, and when last; null where nothing has left. */
      sent: Sent | null;
      delivery: Delivery;
      /** What the call that asked for it would be told now. */
      outcome: Outcome;
    }
  | { refused: 'unauthorized' | 'not_found' | 'too_many_polls' };

/** What the approval token proves: an object, an approver's number there, and bits the object keeps. */
export type LinkProof = { approval_id: string; approver: number; bits: string };

/** All that the approver's page shows. */
export type ApprovalView = {
  id: string;
  status: ApprovalStatus;
  /** An operator paused it: it can be rejected but not approved, and once approved it waits. */
  paused: boolean;
  tool: string;
  caller_name: string;
  session_id: string;
  opened_at: number;
  expires_at: number;
  decided_at: number | null;
  decided_by: number | null;
  note: string | null;
  sent: Sent | null;
  /** Code and message of a failure, or the data of what was done. */
  result: Verdict | null;
  /** `bounded`: the arguments that are shown as they are, since the tool's schema bounds them. */
  claimed: { amount_cents: number | null; currency: string | null; arguments: JsonObject; bounded: string[] };
  /** What the tool shows of the system of record; null: it cannot be read now. */
  facts: Fact[] | null;
  others: OtherApproval[];
  /** How many more there are than `others` shows. */
  others_left: number;
  /** What was applied before under this key (`identical_effects: "ask"`), newest last. */
  applied_before: { attempt: number; answer: JsonObject }[];
  phrase: string;
};

export type ViewAnswer = { view: ApprovalView } | { refused: 'bad_link' };

export type DecisionRequest = LinkProof & {
  decision: 'approve' | 'reject' | null;
  phrase: string;
  note: string | null;
  /** Digests of the facts that the page showed. */
  shown: string;
  request_id: string;
};

export type DecisionAnswer =
  /** This request decided. What it came to is seen by looking: the answer waits for no further read of the ledger. */
  | { decided: 'approved' | 'rejected' | 'failed' }
  | { refused: 'bad_link' }
  /** 409: somebody else decided, or it expired. */
  | { refused: 'already_decided'; view: ApprovalView }
  /** 409: a fact that was shown has changed. */
  | { refused: 'stale'; view: ApprovalView }
  /** 409: an operator paused it; still pending. */
  | { refused: 'paused'; view: ApprovalView }
  /** 422 */
  | { refused: 'wrong_phrase' | 'no_choice'; view: ApprovalView }
  /** 503: the ledger cannot be read; still pending. */
  | { refused: 'unreadable'; view: ApprovalView };

/** What the mail consumer needs; null where there is nothing to send (any more). */
export type MailTask =
  | { kind: 'approval'; to: string; link: string; view: ApprovalView }
  /** Another approver decided; times in ms since the epoch. */
  | { kind: 'decided'; to: string; approval_id: string; caller_name: string; at: number; isRejected: boolean }
  | {
      kind: 'notice';
      to: string;
      caller_name: string;
      tool: string;
      limit: PolicyLimit;
      money: Money | null;
      at: number;
    };

/** Ids only: a queue message holds no address, link or argument. */
export type QueueMessage =
  | { type: 'approval'; object: string; approval_id: string; approver: number }
  | { type: 'decided'; object: string; approval_id: string; approver: number }
  | { type: 'notice'; object: string; seq: number; approver: number }
  | { type: 'tell'; object: string; caller_id: string };

/** Times in ms since the epoch; `may_void_at`: from when on an operator may say that it was not applied. */
export type OpenEffect = {
  effect_key: string;
  state: OpenState;
  sends: number;
  last_send_at: number | null;
  may_void_at: number | null;
};

export type SettleOrder =
  | { applied: true; external_id: string; answer?: JsonObject | undefined; evidence: string }
  | { applied: false; evidence: string };

export type OrderAnswer =
  /** `answered`: noted, and the ledger is told later. */
  | { state: 'executed' | 'failed' | 'answered' | OpenState }
  | { refused: 'not_found' | 'already_answered' }
  | { refused: 'too_early'; may_void_at: number }
  /** The given answer does not fit the tool's output at this field. */
  | { refused: 'misfit'; field: string }
  | { refused: 'not_resendable'; why: 'no_key' | 'too_late' | 'other_account' | 'tool_gone' };

export type Head = { uid: string; seq: number; hash: string };

/** The object as its stub shows it. */
export interface SessionRpc {
  open(request: OpenRequest): Promise<OpenAnswer>;
  end(uid: string | null): Promise<{ ended_at: number } | { refused: 'not_found' }>;
  call(request: CallRequest): Promise<CallAnswer>;
  /** The allowed tools' names, sorted; null: the token is no good (any more). */
  tools(uid: string): Promise<string[] | null>;
  approval(uid: string, id: string, waitSeconds: number): Promise<ApprovalAnswer>;
  view(proof: LinkProof): Promise<ViewAnswer>;
  decide(request: DecisionRequest): Promise<DecisionAnswer>;
  tell(change: CallerChange): Promise<void>;
  mailTask(message: QueueMessage): Promise<MailTask | null>;
  /** Records that a mail left, or that it never will. */
  delivered(message: QueueMessage, result: 'sent' | 'undeliverable'): Promise<void>;
  resend(approvalId: string, requestId: string): Promise<'done' | 'not_found' | 'not_pending' | 'nobody_to_ask'>;
  withdraw(approvalId: string, requestId: string): Promise<'done' | 'not_found' | 'not_pending'>;
  /** Effects in other systems that may be under way. */
  effects(): Promise<OpenEffect[]>;
  settleEffect(effectKey: string, order: SettleOrder, requestId: string): Promise<OrderAnswer>;
  resendEffect(effectKey: string, requestId: string): Promise<OrderAnswer>;
  heads(): Promise<Head[]>;
  /** Arms the alarm if work is due; asked by the cron. */
  wake(): Promise<void>;
}
