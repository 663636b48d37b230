/** A JSON Schema as a person reads it: as TypeScript writes types, with the descriptions as comments. */
import type { JsonObject, JsonValue } from '../../json.ts';

/** Schemas that the page explains once, or that depend on the tool. */
const EXPLAINED = /^(?:\w*Outcome|Tool\w+|Code)$/;

/** `schemas` are those that references name. */
export function schemaText(schema: JsonObject, schemas: JsonObject, indent = ''): string {
  const { $ref, properties, additionalProperties, required, items, const: value, enum: values } = schema;
  const choices = schema['anyOf'] ?? schema['oneOf'];
  const textOf = (inner: JsonValue, deeper = indent) => schemaText(inner as JsonObject, schemas, deeper);
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return EXPLAINED.test(name) ? name : textOf(schemas[name] ?? {});
  }
  if (properties !== undefined) {
    const inner = `${indent}  `;
    const lines = Object.entries(properties as Record<string, JsonObject>).flatMap(([name, member]) => {
      const mark = Array.isArray(required) && required.includes(name) ? '' : '?';
      const says = descriptionOf(member);
      return [
        ...(says === undefined ? [] : [`${inner}// ${says}`]),
        `${inner}${name}${mark}: ${textOf(member, inner)}`,
      ];
    });
    return ['{', ...lines, `${indent}}`].join('\n');
  }
  if (typeof additionalProperties === 'object') return `{ [name]: ${textOf(additionalProperties)} }`;
  if (items !== undefined) return `${textOf(items)}[]`;
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values)) return values.map((each) => JSON.stringify(each)).join(' | ') + limitsOf(schema);
  if (Array.isArray(choices)) return choices.map((each) => textOf(each)).join(' | ') + limitsOf(schema);
  const { type = 'any' } = schema as { type?: string | string[] };
  return (Array.isArray(type) ? type.join(' | ') : type) + limitsOf(schema);
}

/** Of something that may be null, what it is otherwise says more. */
function descriptionOf({ description, anyOf }: JsonObject): string | undefined {
  if (typeof description === 'string') return description;
  return Array.isArray(anyOf) ? descriptionOf(anyOf[0] as JsonObject) : undefined;
}

/** Such as ` (1 to 1000, default 10)`; empty if the schema has no limits. */
function limitsOf(schema: JsonObject): string {
  const { minimum, exclusiveMinimum, maximum, minLength, maxLength } = schema as Partial<Record<string, number>>;
  const { format, pattern, default: preset } = schema;
  // The smallest and largest numbers that JSON carries safely are no limits of ours.
  const from = minimum === Number.MIN_SAFE_INTEGER ? undefined : (minimum ?? minLength);
  const least = exclusiveMinimum === undefined ? from : exclusiveMinimum + 1;
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : (maximum ?? maxLength);
  const unit = minLength === undefined && maxLength === undefined ? '' : ' characters';
  const limits = [
    ...(typeof format === 'string' ? [format === 'date-time' ? 'RFC 3339, UTC' : format] : []),
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(most === undefined ? [] : [`${least === undefined ? 'up' : least} to ${most}${unit}`]),
    ...(most === undefined && least !== undefined ? [`from ${least}${unit}`] : []),
    ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`]),
  ];
  return limits.length === 0 ? '' : ` (${limits.join(', ')})`;
}
