/**
 * JSON Schema for `strict: true`: every property is required, properties with a default are nullable (tools read null
 * as absent), objects are closed, and unsupported keywords move to the description. Apart from null, the result accepts
 * everything that the tool's own schema accepts.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

export type StrictDialect = {
  /** Unsupported keywords; `default` always is one. */
  refused: ReadonlySet<string>;
  nullable: (schema: JsonObject) => JsonObject;
};

/** Each keyword as words before its value. */
const WORDS: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  exclusiveMinimum: 'greater than',
  exclusiveMaximum: 'less than',
  multipleOf: 'a multiple of',
  minLength: 'length at least',
  maxLength: 'length at most',
  pattern: 'matches',
  minItems: 'items: at least',
  maxItems: 'items: at most',
  default: 'null means',
};

/**
 * Recurses into properties, items and unions. The golden test fails on a keyword that is neither known here nor
 * supported by a provider.
 */
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
    // A `format` already says what the pattern beside it says.
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
    const words = WORDS[keyword];
    const shown = keyword === 'pattern' && typeof value === 'string' ? value : JSON.stringify(value);
    return words === undefined ? [] : [`${words} ${shown}`];
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

/** Adds null as a member of a union. The description stays outside, where models look for it. */
export function nullableByUnion({ description, ...schema }: JsonObject): JsonObject {
  return { ...(description === undefined ? {} : { description }), anyOf: [schema, { type: 'null' }] };
}
