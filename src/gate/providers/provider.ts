/**
 * Translates between a provider's wire format and Toolgate. Nothing here judges a call: a malformed item becomes a call
 * that the stages refuse, so it takes a step and leaves an audit row.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Defect } from '../outcome.ts';

/** What a model is told about a tool. `inputSchema` is JSON Schema 2020-12. */
export type ToolDefinition = { readonly name: string; readonly description: string; readonly inputSchema: JsonObject };

/** A call as the model wrote it. */
export type ProposedCall = {
  /** Pairs the result with the call; null if absent. Provider ids repeat in practice, so they are not call ids. */
  id: string | null;
  /** Empty if absent: stage 1 then finds no tool. */
  name: string;
  arguments: JsonValue | undefined;
  /** Why stage 2 refuses the call, even if it could read the arguments. */
  defect?: Defect;
  /** Why the result cannot be paired with the call, for the host. */
  problem?: string;
  /** Members that the result must repeat unchanged. */
  echo: JsonObject;
};

/** Writes the `tools` of a provider's request. */
export interface DefinitionFormat {
  readonly name: string;
  tools(definitions: readonly ToolDefinition[]): JsonObject[];
}

export interface Provider extends DefinitionFormat {
  /** The member that holds the calls, for problems. */
  readonly takes: string;
  /** The function calls in order; null if the body lacks the member that holds them. */
  decode(body: JsonObject): ProposedCall[] | null;
  /** Why no call of this response may run; undefined if the response is complete or has no marker. */
  incomplete(body: JsonObject): Defect | undefined;
  result(call: ProposedCall, answer: { ok: boolean; text: string }): JsonObject;
}

/** A member that says how a response ended, with all values in the provider's reference. */
export type Marker = { member: string; complete: readonly JsonValue[]; incomplete: readonly JsonValue[] };

/**
 * Hosts may send the items without the envelope, so an absent marker is no defect. Null is one: streams write it until
 * the response has ended.
 */
export function incompleteBy(
  { member, complete, incomplete }: Marker,
  ...holders: readonly JsonObject[]
): Defect | undefined {
  const values = holders.map((holder) => holder[member]).filter((value) => value !== undefined);
  const value = values.find((each) => !complete.includes(each));
  if (value === undefined) return undefined;
  const isDocumented = incomplete.includes(value);
  const said = isDocumented ? JSON.stringify(value) : 'a value that the provider does not document';
  return { code: 'RESPONSE_INCOMPLETE', said: `${member} is ${said}` };
}

export const itemsOf = (value: JsonValue | undefined): JsonValue[] | null => (Array.isArray(value) ? value : null);

/** Clients write an empty list also as absent or null. Null if the value is something else. */
export const optionalItemsOf = (value: JsonValue | undefined): JsonValue[] | null =>
  value === undefined || value === null ? [] : itemsOf(value);

/** The members of an object; none for any other value. */
export const membersOf = (value: JsonValue | undefined): JsonObject =>
  value !== undefined && isJsonObject(value) ? value : {};

/** Skips text, reasoning and calls that the provider's servers ran. */
export const itemsOfType = (items: readonly JsonValue[], type: string): JsonObject[] =>
  items.filter(isJsonObject).filter((item) => item['type'] === type);

/** Decodes a format whose calls are the items of one type in the list `member`. Null if the body has no such list. */
export const decodeItems =
  (member: string, type: string, decodeItem: (item: JsonObject) => ProposedCall): Provider['decode'] =>
  (body) => {
    const items = itemsOf(body[member]);
    return items === null ? null : itemsOfType(items, type).map(decodeItem);
  };

export const stringOr = <Else>(value: JsonValue | undefined, otherwise: Else): string | Else =>
  typeof value === 'string' ? value : otherwise;

/** The named members that have a value. */
export const echoOf = (item: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name): [string, JsonValue][] => {
      const value = item[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

/** The id of an item, in a format that pairs results by id. */
export const requiredId = (item: JsonObject, member: string): Pick<ProposedCall, 'id' | 'problem'> => {
  const id = stringOr(item[member], null);
  return id === null ? { id, problem: `"${member}" must be a string; without it no result can be paired` } : { id };
};

export const pairedBy = (name: string, { id }: ProposedCall): JsonObject => (id === null ? {} : { [name]: id });

/**
 * For formats with arguments as JSON text. The provider never sends an object, so something rewrote it, and the
 * proposed text is unknown.
 */
export const argumentsAsText = (value: JsonValue | undefined): Pick<ProposedCall, 'arguments' | 'defect'> =>
  value === undefined || typeof value === 'string'
    ? { arguments: value }
    : {
        arguments: value,
        defect: { code: 'INVALID_JSON', reason: 'this format needs a string that holds one JSON object' },
      };

/**
 * For formats with arguments as an object. A string is encoded again, so that stage 2 refuses it instead of reading an
 * object from it.
 */
export const argumentsAsObject = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'string' ? JSON.stringify(value) : value;
