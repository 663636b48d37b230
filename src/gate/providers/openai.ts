/** OpenAI Responses API: reads `output[]`, writes `function_call_output` items. */
import type { JsonObject } from '../json.ts';
import {
  argumentsAsText,
  decodeItems,
  echoOf,
  incompleteBy,
  itemsOf,
  itemsOfType,
  pairedBy,
  requiredId,
  stringOr,
  type Marker,
  type Provider,
  type ToolDefinition,
} from './provider.ts';
import { nullableByUnion, strictSchema } from './strict-schema.ts';

/** From "The response object": the status of the response and of its items. */
const STATUS: Marker = {
  member: 'status',
  complete: ['completed'],
  incomplete: ['incomplete', 'failed', 'cancelled', 'in_progress', 'queued'],
};

export const openai: Provider = {
  name: 'openai',
  takes: 'output[]',

  decode: decodeItems('output', 'function_call', (item) => ({
    ...requiredId(item, 'call_id'),
    name: stringOr(item['name'], ''),
    ...argumentsAsText(item['arguments']),
    // A call may come from a program that the model wrote. The output reaches that program only with its `caller`.
    echo: echoOf(item, 'caller'),
  })),

  // Other items report how one of the provider's own tools ended, which says nothing about the response.
  incomplete: (body) => {
    const items = itemsOf(body['output']) ?? [];
    return incompleteBy(STATUS, body, ...itemsOfType(items, 'function_call'), ...itemsOfType(items, 'message'));
  },

  result: (call, { text }) => ({
    type: 'function_call_output',
    ...pairedBy('call_id', call),
    output: text,
    ...call.echo,
  }),

  tools: (definitions) => definitions.map((definition) => ({ type: 'function', ...strictFunction(definition) })),
};

/** Not every model supports length limits; patterns, formats and numeric bounds are supported. */
const REFUSED = new Set(['minLength', 'maxLength']);

/** A function in OpenAI's strict mode, for Responses and Chat Completions. */
export const strictFunction = ({ name, description, inputSchema }: ToolDefinition): JsonObject => ({
  name,
  description,
  strict: true,
  parameters: strictSchema(inputSchema, { refused: REFUSED, nullable }),
});

/** OpenAI expects a list of types; for a closed set, null must also be a member of `enum`. */
function nullable(schema: JsonObject): JsonObject {
  const { type, enum: members } = schema;
  if (typeof type !== 'string' || 'const' in schema) return nullableByUnion(schema);
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(members) ? { enum: [...members, null] } : {}),
  };
}
