/**
 * JSON Schema as `strict: true` takes it: every property required, those with a default nullable instead (a null counts as
 * absent in every tool), no unknown ones, and keywords the provider refuses told in the description. A model then sees a
 * looser schema than the one enforced, never a stricter one, nulls and absences apart.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** What differs between providers. */
export type StrictDialect = {
  /** Keywords the provider refuses, `default` apart, which no strict schema has. */
  refused: ReadonlySet<string>;
  nullable: (schema: JsonObject) => JsonObject;
};

/** What a keyword demands, in words. */
const WORDS = new Map<string, (value: string) => string>([
  ['minimum', (value) => `at least ${value}`],
  ['maximum', (value) => `at most ${value}`],
  ['exclusiveMinimum', (value) => `greater than ${value}`],
  ['exclusiveMaximum', (value) => `less than ${value}`],
  ['multipleOf', (value) => `a multiple of ${value}`],
  ['minLength', (value) => `length at least ${value}`],
  ['maxLength', (value) => `length at most ${value}`],
  ['pattern', (value) => `matches ${value}`],
  ['minItems', (value) => `items: at least ${value}`],
  ['maxItems', (value) => `items: at most ${value}`],
  ['default', (value) => `null means ${value}`],
]);

/** Recurses into properties, items and unions; a keyword that is neither known here nor taken by a provider fails its golden test. */
export function strictSchema(schema: JsonObject, dialect: StrictDialect): JsonObject {
  const entries = Object.entries(schema);
  const isRefused = (keyword: string): boolean => keyword === 'default' || dialect.refused.has(keyword);
  const kept = Object.fromEntries(
    entries
      .filter(([keyword]) => !isRefused(keyword))
      .map(([keyword, value]) => [keyword, strictMember(keyword, value, dialect)]),
  );
  const described = withWords(
    kept,
    // A `format` says what the pattern written beside it says, shorter.
    entries.filter(([keyword]) => isRefused(keyword) && !(keyword === 'pattern' && 'format' in kept)),
  );
  return isJsonObject(schema['properties'] ?? null) ? closedObject(described, schema, dialect) : described;
}

function strictMember(keyword: string, value: JsonValue, dialect: StrictDialect): JsonValue {
  const strict = (member: JsonValue): JsonValue => (isJsonObject(member) ? strictSchema(member, dialect) : member);
  if (keyword === 'properties' && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, strict(member)]));
  if (keyword === 'anyOf' && Array.isArray(value)) return value.map(strict);
  return keyword === 'items' ? strict(value) : value;
}

function withWords(schema: JsonObject, refused: [string, JsonValue][]): JsonObject {
  const demands = refused.flatMap(([keyword, value]) => {
    const words = WORDS.get(keyword);
    const shown = keyword === 'pattern' && typeof value === 'string' ? value : JSON.stringify(value);
    return words === undefined ? [] : [words(shown)];
  });
  if (demands.length === 0) return schema;
  const said = typeof schema['description'] === 'string' ? [schema['description']] : [];
  return { ...schema, description: [...said, `[${demands.join('; ')}]`].join(' ') };
}

function closedObject(strict: JsonObject, original: JsonObject, { nullable }: StrictDialect): JsonObject {
  const required = new Set(Array.isArray(original['required']) ? original['required'] : []);
  const properties = Object.entries(strict['properties'] as { [name: string]: JsonObject });
  return {
    ...strict,
    properties: Object.fromEntries(
      properties.map(([name, property]) => [name, required.has(name) ? property : nullable(property)]),
    ),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
}

/** Null as one member of a union; the description stays outside, where models look for it. */
export function nullableByUnion({ description, ...schema }: JsonObject): JsonObject {
  return { ...(description === undefined ? {} : { description }), anyOf: [schema, { type: 'null' }] };
}
