/** Anthropic Messages API: reads `tool_use` blocks, writes `tool_result` blocks for the start of one user message. */
import type { JsonObject } from '../json.ts';
import {
  argumentsAsObject,
  decodeItems,
  echoOf,
  incompleteBy,
  pairedBy,
  requiredId,
  stringOr,
  type Marker,
  type Provider,
} from './provider.ts';
import { nullableByUnion, strictSchema } from './strict-schema.ts';

/** Anthropic's strict tools support types, closed sets and formats, but no bounds and no patterns. */
const REFUSED = new Set(
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems'.split(
    ' ',
  ),
);

export const anthropicSchema = (parameters: JsonObject): JsonObject =>
  strictSchema(parameters, { refused: REFUSED, nullable: nullableByUnion });

/** "Stop reasons and fallback", and the beta value `compaction` of the SDK's types. */
const STOP_REASON: Marker = {
  member: 'stop_reason',
  complete: ['tool_use', 'end_turn', 'stop_sequence'],
  incomplete: ['max_tokens', 'refusal', 'pause_turn', 'model_context_window_exceeded', 'compaction'],
};

export const anthropic: Provider = {
  name: 'anthropic',
  takes: 'content[]',

  decode: decodeItems('content', 'tool_use', (block) => ({
    ...requiredId(block, 'id'),
    name: stringOr(block['name'], ''),
    arguments: argumentsAsObject(block['input']),
    // The API rejects the result of a toolset's member if it does not name the toolset.
    echo: echoOf(block, 'toolset_name'),
  })),

  incomplete: (body) => incompleteBy(STOP_REASON, body),

  result: (call, { ok, text }) => ({
    type: 'tool_result',
    ...pairedBy('tool_use_id', call),
    content: text,
    ...(ok ? {} : { is_error: true }),
    ...call.echo,
  }),

  tools: (definitions) =>
    definitions.map(({ name, description, inputSchema }) => ({
      name,
      description,
      strict: true,
      input_schema: anthropicSchema(inputSchema),
    })),
};
