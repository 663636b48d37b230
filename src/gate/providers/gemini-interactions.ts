/** Gemini Interactions API: reads `function_call` steps, writes `function_result` steps for the next interaction. */
import {
  decodeItems,
  incompleteBy,
  itemsOf,
  itemsOfType,
  pairedBy,
  requiredId,
  stringOr,
  type Marker,
  type Provider,
} from './provider.ts';

/** From "Interactions API reference", InteractionStatus. A status on a step is undocumented and judged the same way. */
const STATUS: Marker = {
  member: 'status',
  complete: ['requires_action', 'completed'],
  incomplete: 'incomplete failed cancelled in_progress budget_exceeded queued requires_continuation'.split(' '),
};

export const geminiInteractions: Provider = {
  name: 'gemini-interactions',
  takes: 'steps[]',

  decode: decodeItems('steps', 'function_call', (step) => ({
    ...requiredId(step, 'id'),
    name: stringOr(step['name'], ''),
    // Documented as an object, but the deltas of a stream add up to a text. Stage 2 reads both.
    arguments: step['arguments'],
    echo: {},
  })),

  incomplete: (body) => incompleteBy(STATUS, body, ...itemsOfType(itemsOf(body['steps']) ?? [], 'function_call')),

  result: (call, { ok, text }) => ({
    type: 'function_result',
    ...pairedBy('call_id', call),
    name: call.name,
    result: text,
    ...(ok ? {} : { is_error: true }),
  }),

  tools: (definitions) =>
    definitions.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema,
    })),
};
