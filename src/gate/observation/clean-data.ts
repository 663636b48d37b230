/** Finds the strings of a tool's answer that its output schema declares as written outside, and cleans them. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { cleanText } from './clean.ts';
import type { OutsideKind } from './reduce.ts';

const OUTSIDE_KINDS: readonly OutsideKind[] = ['plain', 'markdown', 'html'];

/** What the schema does not declare is ours (a closed set, a pattern) and passes as it is. */
export function cleanData(data: JsonObject, outputSchema: JsonObject): JsonObject {
  return cleanMembers(data, [outputSchema]);
}

/** `schemas` are all that may describe the value: a choice offers several, and whichever declares it outside is believed. */
function cleanValue(value: JsonValue, schemas: JsonObject[]): JsonValue {
  const choices = schemas.flatMap((schema) => [schema, ...choicesOf(schema)]);
  if (typeof value === 'string') {
    const kind = OUTSIDE_KINDS.find((name) => choices.some((schema) => schema['x-outside'] === name));
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
