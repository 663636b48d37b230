/** Gemini Interactions API: `function_call` steps in, `function_result` steps out, the input of the next interaction. */
import { itemsOf, itemsOfType, pairedBy, stringOr, type Provider } from './provider.ts';

export const geminiInteractions: Provider = {
  name: 'gemini-interactions',
  takes: 'steps[]',

  decode: (body) => {
    const steps = itemsOf(body['steps']);
    if (steps === null) return null;
    return itemsOfType(steps, 'function_call').map((step) => ({
      id: stringOr(step['id'], null),
      name: stringOr(step['name'], ''),
      // Documented as an object; a stream's collected deltas are a text of one. Stage 2 reads both.
      arguments: step['arguments'],
      echo: {},
    }));
  },

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
