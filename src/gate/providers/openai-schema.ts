/** A function as OpenAI's strict mode takes it, in Responses and in Chat Completions alike. */
import type { JsonObject } from '../json.ts';
import type { ToolDefinition } from './provider.ts';
import { nullableByUnion, strictSchema } from './strict-schema.ts';

/** Patterns, formats and numeric bounds are taken; lengths are not, by every model. */
const REFUSED = new Set(['minLength', 'maxLength']);

export const strictFunction = ({ name, description, inputSchema }: ToolDefinition): JsonObject => ({
  name,
  description,
  strict: true,
  parameters: strictSchema(inputSchema, { refused: REFUSED, nullable }),
});

/** A type of two names; the null must also be a member of a closed set. */
function nullable(schema: JsonObject): JsonObject {
  const { type, enum: members } = schema;
  if (typeof type !== 'string' || 'const' in schema) return nullableByUnion(schema);
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(members) ? { enum: [...members, null] } : {}),
  };
}
