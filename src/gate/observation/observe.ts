/** Bounds the size of an outcome and cleans its outside strings, for the JSON answer and the text alike. */
import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Outcome } from '../outcome.ts';
import { cleanText } from './clean.ts';
import type { OutsideKind } from './reduce.ts';
import { withinLimit } from './size-limits.ts';

const KIND = 'x-outside';

/**
 * An output string that somebody else wrote: `plain` stays plain text; `markdown` and `html` are reduced to text. Every
 * other output string must have a closed set or a pattern.
 */
export const outside = (kind: OutsideKind) => z.string().meta({ [KIND]: kind });

type Published = { get(tool: string): { outputSchema: JsonObject } | undefined };

/** Stored answers stay raw, so a better filter also cleans old ones. */
export function observe(outcome: Outcome, tools: Published): Outcome {
  if (outcome.data === undefined) return outcome;
  return withinLimit({ ...outcome, data: cleanData(outcome.data, tools.get(outcome.tool)?.outputSchema ?? {}) });
}

const OUTSIDE_KINDS: readonly OutsideKind[] = ['plain', 'markdown', 'html'];

export function cleanData(data: JsonObject, outputSchema: JsonObject): JsonObject {
  return cleanMembers(data, [outputSchema]);
}

/**
 * `schemas` are all that may describe the value: in a union, one member that declares a string as outside is enough.
 */
function cleanValue(value: JsonValue, schemas: JsonObject[]): JsonValue {
  const choices = schemas.flatMap((schema) => [schema, ...choicesOf(schema)]);
  if (typeof value === 'string') {
    const kind = OUTSIDE_KINDS.find((name) => choices.some((schema) => schema[KIND] === name));
    return kind === undefined ? value : cleanText(value, kind);
  }
  if (Array.isArray(value)) {
    const items = choices.flatMap((schema) => schemaAt(schema, 'items'));
    return value.map((item) => cleanValue(item, items));
  }
  return isJsonObject(value) ? cleanMembers(value, choices) : value;
}

function cleanMembers(data: JsonObject, schemas: JsonObject[]): JsonObject {
  const members = (name: string): JsonObject[] =>
    schemas.flatMap((schema) => [
      ...schemaAt(schema, 'properties').flatMap((properties) => schemaAt(properties, name)),
      ...schemaAt(schema, 'additionalProperties'),
    ]);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, cleanValue(value, members(name))]));
}

function choicesOf(schema: JsonObject): JsonObject[] {
  return ['anyOf', 'oneOf'].flatMap((word) => {
    const choices = schema[word];
    return Array.isArray(choices) ? choices.filter(isJsonObject) : [];
  });
}

function schemaAt(schema: JsonObject, name: string): JsonObject[] {
  const found = Object.hasOwn(schema, name) ? schema[name] : undefined;
  return found !== undefined && isJsonObject(found) ? [found] : [];
}
