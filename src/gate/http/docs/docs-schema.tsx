/** A JSON Schema as a table that a person reads: one row a member, nested members by their dotted path. */
import type { JsonObject, JsonValue } from '../../json.ts';

/** Deeper is left to the OpenAPI document. */
const MAX_DEPTH = 3;
/** A longer list of values has a table of its own. */
const MAX_VALUES = 8;

type Member = { path: string; type: string; description: string };

/** `schemas` are those that references point to. */
export const Members = ({ schema, schemas }: { schema: JsonObject; schemas: JsonObject }) => {
  const members = membersOf(schema, schemas, '', 0);
  if (members.length === 0) return <p>{describe(schema) || 'None.'}</p>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {members.map(({ path, type, description }) => (
          <tr>
            <th scope="row">
              <code>{path}</code>
            </th>
            <td class="type">{type}</td>
            <td>{description}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

function membersOf(schema: JsonObject, schemas: JsonObject, prefix: string, depth: number): Member[] {
  const object = objectIn(schema, schemas);
  const required = Array.isArray(object['required']) ? object['required'] : [];
  return Object.entries(object['properties'] ?? {}).flatMap(([name, member]): Member[] => {
    const path = `${prefix}${name}${required.includes(name) ? '' : '?'}`;
    const isList = 'items' in member;
    const inner =
      depth < MAX_DEPTH ? membersOf(member, schemas, `${prefix}${name}${isList ? '[]' : ''}.`, depth + 1) : [];
    return [{ path, type: typeOf(member), description: describe(member) }, ...inner];
  });
}

/** The object that a schema describes: itself, what it points to, the items of a list, or what it is unless it is null. */
function objectIn(
  schema: JsonObject,
  schemas: JsonObject,
): { properties?: Record<string, JsonObject>; required?: JsonValue } {
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const name = nameOf(reference);
    return isExplainedElsewhere(name) ? {} : objectIn(schemas[name] as JsonObject, schemas);
  }
  if (schema['items'] !== undefined) return objectIn(schema['items'] as JsonObject, schemas);
  return schema;
}

/** Outcomes and tools have sections of their own. */
const isExplainedElsewhere = (name: string): boolean => name.endsWith('Outcome') || name.includes('.');

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** Of something that may be null, what it is otherwise says more. */
function describe({ description, anyOf }: JsonObject): string {
  if (typeof description === 'string') return description;
  return Array.isArray(anyOf) ? describe(anyOf[0] as JsonObject) : '';
}

/** Fits a table's cell: `integer 1 to 1000, default 10`. */
function typeOf(schema: JsonObject): string {
  const { default: preset } = schema;
  return bareType(schema) + (preset === undefined ? '' : `, default ${JSON.stringify(preset)}`);
}

function bareType(schema: JsonObject): string {
  const { $ref, type, enum: values, const: value, items, anyOf, format, pattern } = schema;
  if (typeof $ref === 'string') return nameOf($ref);
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values) && values.length <= MAX_VALUES)
    return values.map((each) => JSON.stringify(each)).join(' or ');
  if (items !== undefined) return `array of ${bareType(items as JsonObject)}`;
  // An object with alternatives is told as an object; they stand in the OpenAPI document.
  if (type === undefined && Array.isArray(anyOf)) return (anyOf as JsonObject[]).map(bareType).join(' or ');
  if (typeof format === 'string') return format === 'date-time' ? 'time (RFC 3339, UTC)' : format;
  if (typeof pattern === 'string') return `string ${pattern}`;
  return `${typeof type === 'string' ? type : 'any'}${rangeOf(schema)}`;
}

function rangeOf(schema: JsonObject): string {
  const { minimum, exclusiveMinimum, maximum, minLength, maxLength } = schema as Partial<Record<string, number>>;
  const least = minimum ?? (exclusiveMinimum === undefined ? minLength : exclusiveMinimum + 1);
  // The largest number that JSON carries safely is no limit of ours.
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : (maximum ?? maxLength);
  const unit = minLength === undefined && maxLength === undefined ? '' : ' characters';
  if (most !== undefined) return `${least === undefined ? ' up to' : ` ${least} to`} ${most}${unit}`;
  return least === undefined ? '' : ` from ${least}${unit}`;
}
