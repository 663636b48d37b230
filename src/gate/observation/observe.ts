/**
 * What leaves the gate of an outcome: its size is bounded, and strings that somebody else wrote are cleaned. A tool declares
 * such strings in its output schema by `outside`. The JSON answer and the text share this.
 */
import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Outcome } from '../outcome.ts';
import { cleanText } from './clean.ts';
import type { OutsideKind } from './reduce.ts';
import { withinLimit } from './size-limits.ts';

const KIND = 'x-outside';

/**
 * An output string that somebody else wrote: `plain` as it stands, such as a memo; `markdown` and `html` reduced to their
 * text. Any other output string must be ours: a closed set or a pattern.
 */
export const outside = (kind: OutsideKind) => z.string().meta({ [KIND]: kind });

type Published = { get(tool: string): { outputSchema: JsonObject } | undefined };

/** Stored answers stay raw: a better filter then cleans them too. An outcome without data passes as it is. */
export function observe(outcome: Outcome, tools: Published): Outcome {
  if (outcome.data === undefined) return outcome;
  return withinLimit({ ...outcome, data: cleanData(outcome.data, tools.get(outcome.tool)?.outputSchema ?? {}) });
}

const OUTSIDE_KINDS: readonly OutsideKind[] = ['plain', 'markdown', 'html'];

/** A string that the schema does not declare as outside is ours (a closed set, a pattern) and stays as it is. */
export function cleanData(data: JsonObject, outputSchema: JsonObject): JsonObject {
  return cleanMembers(data, [outputSchema]);
}

/** `schemas` are all that may describe the value: a choice offers several, and whichever declares it outside is believed. */
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
