/**
 * What a provider's wire format is to Toolgate: how its proposed calls are read, how its results and its tool definitions
 * are written. Pure translation: nothing here judges a call. What a format cannot hold becomes a call that the stages refuse,
 * in their order, so that a malformed item takes a step and leaves an audit row like any other.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Defect } from '../outcome.ts';

/** What a model is told of a tool; those of the registry have it. `inputSchema` is JSON Schema 2020-12. */
export type ToolDefinition = { readonly name: string; readonly description: string; readonly inputSchema: JsonObject };

/** A call as the model wrote it. */
export type ProposedCall = {
  /** Pairs the result with the call and does nothing else: ids repeat in practice, so they are no call ids. Null: none came. */
  id: string | null;
  /** Empty where none came: stage 1 finds no tool of that name. */
  name: string;
  arguments: JsonValue | undefined;
  /** Present where the format takes no such arguments, although stage 2 alone would read them. */
  defect?: Defect;
  /** Present where the result cannot be paired with the call: what the host is told of it. */
  problem?: string;
  /** Members of the call that its result must carry unchanged. */
  echo: JsonObject;
};

/** What the model is told of a call. */
export type Answer = { ok: boolean; text: string };

/** How a provider's request takes tool definitions: the members of its `tools`. */
export interface DefinitionFormat {
  readonly name: string;
  tools(definitions: readonly ToolDefinition[]): JsonObject[];
}

export interface Provider extends DefinitionFormat {
  /** The member that holds the calls, as a problem names it. */
  readonly takes: string;
  /** The function calls in their order, none where there are none; null where the body lacks the member. */
  decode(body: JsonObject): ProposedCall[] | null;
  /** Why no call of this response may run; undefined where the response is complete or does not say. */
  incomplete(body: JsonObject): Defect | undefined;
  result(call: ProposedCall, answer: Answer): JsonObject;
}

/** A member that says how a response ended, with all values that the provider's reference lists. */
export type Marker = { member: string; complete: readonly JsonValue[]; incomplete: readonly JsonValue[] };

/**
 * An absent marker says nothing, because hosts may send the items without the envelope. Null is a value: streams write it
 * until the response has ended.
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

/** Null where it is no array. */
export const itemsOf = (value: JsonValue | undefined): JsonValue[] | null => (Array.isArray(value) ? value : null);

/** An absent list, or null as some clients write it, holds nothing; anything but a list is no list. */
export const optionalItemsOf = (value: JsonValue | undefined): JsonValue[] | null =>
  value === undefined || value === null ? [] : itemsOf(value);

/** Members of anything: what is no object has none. */
export const membersOf = (value: JsonValue | undefined): JsonObject =>
  value !== undefined && isJsonObject(value) ? value : {};

/** The items of one type; text, reasoning and what the provider's own servers ran are of others. */
export const itemsOfType = (items: readonly JsonValue[], type: string): JsonObject[] =>
  items.filter(isJsonObject).filter((item) => item['type'] === type);

export const stringOr = <Else>(value: JsonValue | undefined, otherwise: Else): string | Else =>
  typeof value === 'string' ? value : otherwise;

/** The named members that came with a value. */
export const echoOf = (item: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name): [string, JsonValue][] => {
      const value = item[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

/** The id of an item in a format that pairs results by it. */
export const requiredId = (item: JsonObject, member: string): Pick<ProposedCall, 'id' | 'problem'> => {
  const id = stringOr(item[member], null);
  return id === null ? { id, problem: `"${member}" must be a string; without it no result can be paired` } : { id };
};

/** An id under the name a result gives it; nothing where none came. */
export const pairedBy = (name: string, { id }: ProposedCall): JsonObject => (id === null ? {} : { [name]: id });

/**
 * For formats whose arguments are a JSON text. The provider never writes an object there, so one was rewritten on its way:
 * what the model proposed is not known.
 */
export const argumentsAsText = (value: JsonValue | undefined): Pick<ProposedCall, 'arguments' | 'defect'> =>
  value === undefined || typeof value === 'string'
    ? { arguments: value }
    : {
        arguments: value,
        defect: { code: 'INVALID_JSON', reason: 'this format needs a string that holds one JSON object' },
      };

/**
 * For formats whose arguments are an object. A string is written as the JSON string it is: stage 2 then refuses it as JSON
 * within JSON, instead of reading it as the text of an object.
 */
export const argumentsAsObject = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'string' ? JSON.stringify(value) : value;
