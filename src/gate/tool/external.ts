/**
 * An effect whose system of record is another company's API, as its tool declares it and as the gate runs it. All members
 * are pure: the gate sends the requests, and calls these with what was stored when the effect was claimed or approved.
 */
import { outgoingOf, wireKey, type ToolRequest } from '../backends/backend.ts';
import type { JsonObject } from '../json.ts';
import type { Answer, Backend, BackendRecipe, FinalAnswer, Money, Outgoing } from '../ports.ts';

/** What an answer says of the effect. `applied` only for what a resend cannot undo or repeat. */
export type Reading<Data, Code extends string> =
  | { applied: { id: string; data: Data } }
  | { refused: Code; facts?: JsonObject }
  | 'unknown';

/** What the API calls the effect: the body of a 2xx, or an entry that a look-up found. */
export type Item = { [name: string]: unknown };
export type Found = Item | 'absent' | 'unknown';

/** What the requests of one attempt are made of: its wire key, and what the check saw. */
type Made<Seen> = { key: string; seen: Seen };

/** `effect` of a tool whose effect another system keeps. */
export type ExternalDeclaration<Input, Seen extends JsonObject, Data, Code extends string> = {
  backend: Backend;
  ledger?: undefined;
  money?(input: Input): Money;
  /** What the effect concerns, such as a payment: at most one effect of a subject is under way. */
  subject?(input: Input, seen: Seen): string;
  /** What the gate may apply to the subject in sum; it must not change over the subject's life. */
  ceiling?: { cents(seen: Seen): number; code: Code };
  /** Called once, with the claim or the approval; what it answers is stored and never built again. */
  request(input: Input, made: Made<Seen>): ToolRequest;
  read(item: Item, input: Input, seen: Seen): Reading<Data, Code>;
  /** Judges 400, 402, 404, 410 and 422, and only where the API looked the key up before it refused. */
  refusal(answer: Answer): { refused: Code; facts?: JsonObject } | 'unknown';
  /** Finds effects by the wire key alone. `lagMs`: how long after an effect the look-up may still miss it. */
  lookup: {
    lagMs: number;
    path(input: Input, made: Made<Seen>): string;
    find(answer: Item, key: string): Found;
  } | null;
};

/** Statuses that may refuse: the API has read the request and did nothing. Every other one says nothing. */
const REFUSING = new Set([400, 402, 404, 410, 422]);

/** An effect in another system as the pipeline runs it. It throws nothing: a tool's own error is `unknown`. */
export interface ExternalRecipe {
  readonly backend: Backend;
  readonly lagMs: number | null;
  /** The effect key as the API gets it. */
  wireKey(effectKey: string): string;
  ceiling(seen: JsonObject): { cents: number; code: string } | null;
  outgoing(input: JsonObject, effectKey: string, seen: JsonObject): Outgoing;
  /** What the answer to a send says; null: unknown. */
  readSend(answer: Answer, input: JsonObject, seen: JsonObject): FinalAnswer | null;
  lookupPath(input: JsonObject, effectKey: string, seen: JsonObject): string;
  /** What a look-up says; `absent` does not yet mean that the effect will never be there. */
  readLookup(answer: Answer, effectKey: string, input: JsonObject, seen: JsonObject): FinalAnswer | 'absent' | null;
}

/** Binds a declaration. `misfit` tells whether data fits the tool's output schema. */
export function externalRecipe<Input, Seen extends JsonObject, Data, Code extends string>(
  declared: ExternalDeclaration<Input, Seen, Data, Code>,
  misfit: (data: JsonObject) => string | null,
): ExternalRecipe {
  const { backend, ceiling, lookup } = declared;
  const made = (effectKey: string, seen: JsonObject) => ({ key: wireKey(effectKey, backend.key), seen: seen as Seen });

  function finalOf(reading: Reading<Data, Code>): FinalAnswer | null {
    if (reading === 'unknown') return null;
    if ('refused' in reading) return { applied: false, code: reading.refused, facts: reading.facts ?? {} };
    const { id, data } = reading.applied;
    const answer = data as JsonObject;
    // The effect is there, whatever its description looks like by now.
    return { applied: true, external_id: id, answer: misfit(answer) === null ? answer : null };
  }
  const readItem = (item: Item, input: JsonObject, seen: JsonObject): FinalAnswer | null =>
    finalOf(declared.read(item, input as Input, seen as Seen));

  return {
    backend,
    lagMs: lookup?.lagMs ?? null,
    wireKey: (effectKey) => wireKey(effectKey, backend.key),
    ceiling: (seen) => (ceiling === undefined ? null : { cents: ceiling.cents(seen as Seen), code: ceiling.code }),
    outgoing: (input, effectKey, seen) =>
      outgoingOf(declared.request(input as Input, made(effectKey, seen)), wireKey(effectKey, backend.key), backend.key),
    readSend(answer, input, seen) {
      const { status, json } = answer;
      if (status >= 200 && status < 300) return json === null ? null : readItem(json, input, seen);
      return REFUSING.has(status) ? finalOf(declared.refusal(answer)) : null;
    },
    lookupPath(input, effectKey, seen) {
      if (lookup === null) throw new Error(`the backend ${backend.name} has no look-up`);
      return lookup.path(input as Input, made(effectKey, seen));
    },
    readLookup({ status, json }, effectKey, input, seen) {
      if (lookup === null || status < 200 || status >= 300 || json === null) return null;
      const found = lookup.find(json, wireKey(effectKey, backend.key));
      if (found === 'unknown') return null;
      return found === 'absent' ? 'absent' : readItem(found, input, seen);
    },
  };
}

/** What the published contract says of the recipe. A change of `request` needs a new version. */
export const contractOf = (declared: object, { name, version }: BackendRecipe): JsonObject => ({
  backend: name,
  version,
  members: Object.entries(declared)
    .flatMap(([member, value]) => (value === undefined || value === null ? [] : [member]))
    .toSorted(),
});
