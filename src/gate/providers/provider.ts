/**
 * What a provider's wire format is to Toolgate: how its proposed calls are read, how its results and its tool definitions
 * are written. Pure translation: nothing here judges a call. What a format cannot hold becomes a call that the stages refuse,
 * in their order, so that a malformed item takes a step and leaves an audit row like any other.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** What a model is told of a tool; those of the registry have it. `inputSchema` is JSON Schema 2020-12. */
export type ToolDefinition = { readonly name: string; readonly description: string; readonly inputSchema: JsonObject };

/** A call as the model wrote it. */
export type ProposedCall = {
  /** Pairs the result with the call and does nothing else: ids repeat in practice, so they are no call ids. Null: none came. */
  id: string | null;
  /** Empty where none came: stage 1 finds no tool of that name. */
  name: string;
  arguments: JsonValue | undefined;
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
  result(call: ProposedCall, answer: Answer): JsonObject;
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

/** An id under the name a result gives it; nothing where none came. */
export const pairedBy = (name: string, { id }: ProposedCall): JsonObject => (id === null ? {} : { [name]: id });

/**
 * For formats whose arguments are a JSON text. An object is boxed: handed on as it is, it would pass stage 2, although the
 * provider never writes one and nobody knows what rewrote it.
 */
export const argumentsAsText = (value: JsonValue | undefined): JsonValue | undefined =>
  value !== undefined && typeof value !== 'string' ? [value] : value;

/**
 * For formats whose arguments are an object. A string is written as the JSON string it is: stage 2 then refuses it as JSON
 * within JSON, instead of reading it as the text of an object.
 */
export const argumentsAsObject = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'string' ? JSON.stringify(value) : value;
