/**
 * A call is named by what has been proved about it; each stage takes one type and makes the next. `ConfirmedCall` carries a
 * private symbol that only stage 7 can write, so a stage that is skipped does not compile.
 */
import type { JsonObject } from '../json.ts';
import type { Defect, Refusal } from '../outcome.ts';
import type { EffectRecord, Outgoing } from '../ports.ts';
import type { BoundEffect, BoundRead, Tool } from '../tool/define-tool.ts';
import type { Decision, Intent, Origin } from './gate.ts';
import type { Reading } from './stages/2-parse.ts';

/** A stage's result: the call with one more thing proved, or the reason it stops here. */
export type Step<Call> = { ok: true; call: Call } | { ok: false; refusal: Refusal };

/** As it arrived. `reading` is what its arguments parse to, or why they do not. */
export type RawCall = {
  tool: string;
  arguments: unknown;
  reading: Reading;
  defect?: Defect;
  /** SHA-256 over the tool and its arguments, canonical where they parse, and the code of a defect: what makes a repeated `call_id` a retry. */
  fingerprint: string;
  call_id: string;
  request_id: string;
  /** Of the request's W3C trace context; null where it has none. */
  trace_id: string | null;
  started_at: number;
};

/** 0: counted. */
export type SteppedCall = RawCall & { step: number };
/** 1: names an allowed tool. */
export type ResolvedCall = SteppedCall & { definition: Tool };
/** 2: its arguments are one JSON object. */
export type ParsedCall = ResolvedCall & { args: JsonObject };
/** 3: its arguments fit the schema. */
export type ValidCall = ParsedCall & { bound: BoundRead | BoundEffect };
/** 4: has a key, is no loop and reuses no id. */
export type KeyedCall = ValidCall & { key: string };
/** A read: no record answers it, no limit concerns it, no person need confirm it. */
export type KeyedRead = KeyedCall & { bound: BoundRead };
export type KeyedEffect = KeyedCall & { bound: BoundEffect };

/** What stages 5 to 8 judge: a call that no record answers, or a stored action that a person approved. */
export type Proposal = {
  origin: Origin;
  definition: Tool;
  bound: BoundEffect;
  key: string;
  attempt: number;
  call_id: string;
  step: number;
  fingerprint: string;
  started_at: number;
  /** The open record this continues; null where the call is new. */
  open: EffectRecord | null;
  /** A person approved exactly these arguments. */
  approval: Decision | null;
  /** Under `identical_effects: "ask"` what was done once needs a person each further time. */
  repeated: boolean;
};
/**
 * 5: the tool's own rules hold; `seen` is what they saw. `external`: what would be sent to another system and where, not yet
 * stored; null for an effect in the ledger.
 */
export type CheckedCall = Proposal & {
  seen: JsonObject;
  subject: string | null;
  external: { outgoing: Outgoing; place: string } | null;
};
/** 6: within the policy as it is now. */
export type PermittedCall = CheckedCall & { permitted: true };

declare const confirmed: unique symbol;
/** 7: may be executed. */
export type ConfirmedCall = PermittedCall & { readonly [confirmed]: true };

export const originOf = (call: SteppedCall): Origin => ({
  kind: 'call',
  call_id: call.call_id,
  step: call.step,
  tool: call.tool,
  arguments: call.arguments,
  reading: call.reading,
  fingerprint: call.fingerprint,
  request_id: call.request_id,
  trace_id: call.trace_id,
  started_at: call.started_at,
});

export const intentOf = (call: CheckedCall): Intent => ({
  key: call.key,
  attempt: call.attempt,
  tool: call.definition.name,
  contract: call.definition.contract,
  input: call.bound.input,
  call_id: call.call_id,
  step: call.step,
  fingerprint: call.fingerprint,
  money: call.bound.money,
  backend: call.bound.backend,
  subject: call.subject,
  seen: call.seen,
  external: call.external,
});
