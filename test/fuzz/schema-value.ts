/** A value made from a JSON Schema, so that a tool that the fuzzer does not know is called with arguments that mostly fit. */
import type { JsonObject, JsonValue } from '../../src/gate/json.ts';
import type { Random } from '../simulation/random.ts';

/** Where a schema sets no bounds. */
const MOST = 1_000;
const TEXTS = ['a', 'shop', '2026-11-12', 'ana@approver.example', 'CUS-1', 'x'.repeat(64)];

const list = (schema: JsonObject, name: string): JsonValue[] => (Array.isArray(schema[name]) ? schema[name] : []);
const bound = (schema: JsonObject, name: string, otherwise: number): number =>
  typeof schema[name] === 'number' ? schema[name] : otherwise;

export function valueOf(schema: JsonObject, random: Random): JsonValue {
  const given = [...list(schema, 'examples'), ...('example' in schema ? [schema['example'] ?? null] : [])];
  if (given.length > 0) return random.pick(given);
  if ('const' in schema) return schema['const'] ?? null;
  const choices = list(schema, 'enum');
  if (choices.length > 0) return random.pick(choices);
  const variants = [...list(schema, 'anyOf'), ...list(schema, 'oneOf')];
  if (variants.length > 0) return valueOf(random.pick(variants) as JsonObject, random);
  switch ([schema['type']].flat()[0]) {
    case 'object':
      return objectOf(schema, random);
    case 'array':
      return Array.from({ length: random.int(bound(schema, 'minItems', 0), bound(schema, 'maxItems', 3)) }, () =>
        valueOf((schema['items'] ?? {}) as JsonObject, random),
      );
    case 'integer':
    case 'number':
      return numberOf(schema, random);
    case 'boolean':
      return random.chance(0.5);
    case 'null':
      return null;
    default:
      return textOf(schema, random);
  }
}

function objectOf(schema: JsonObject, random: Random): JsonObject {
  const required = new Set(list(schema, 'required'));
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>)
    .filter(([name]) => required.has(name) || random.chance(0.5))
    .map(([name, member]): [string, JsonValue] => [name, valueOf(member, random)]);
  return Object.fromEntries(members);
}

/** Often one of the bounds, where mistakes are. */
function numberOf(schema: JsonObject, random: Random): number {
  const least = bound(schema, 'minimum', bound(schema, 'exclusiveMinimum', -1) + 1);
  const most = Math.min(
    bound(schema, 'maximum', bound(schema, 'exclusiveMaximum', least + MOST + 1) - 1),
    least + Number.MAX_SAFE_INTEGER / 2,
  );
  return random.pick([least, most, random.int(least, Math.min(most, least + MOST))]);
}

/** A pattern is not solved: the value is taken from the description, which by custom ends in an example. */
function textOf(schema: JsonObject, random: Random): string {
  const { pattern, description } = schema;
  const words = typeof description === 'string' ? description.split(/[\s,;"'()]+|\.(?=\s|$)/) : [];
  const fitting =
    typeof pattern === 'string' ? words.filter((word) => word !== '' && new RegExp(pattern, 'u').test(word)) : [];
  const text = random.pick(fitting.length > 0 ? fitting : TEXTS);
  return text.padEnd(bound(schema, 'minLength', 0), 'x').slice(0, bound(schema, 'maxLength', text.length + 64));
}
