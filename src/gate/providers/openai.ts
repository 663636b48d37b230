/** OpenAI Responses API: `output[]` in, `function_call_output` items out. */
import { strictFunction } from './openai-schema.ts';
import {
  argumentsAsText,
  echoOf,
  incompleteBy,
  itemsOf,
  itemsOfType,
  pairedBy,
  requiredId,
  stringOr,
  type Marker,
  type Provider,
} from './provider.ts';

/** "The response object": its `status`, and the `status` of items. */
const STATUS: Marker = {
  member: 'status',
  complete: ['completed'],
  incomplete: ['incomplete', 'failed', 'cancelled', 'in_progress', 'queued'],
};

export const openai: Provider = {
  name: 'openai',
  takes: 'output[]',

  decode: (body) => {
    const items = itemsOf(body['output']);
    if (items === null) return null;
    return itemsOfType(items, 'function_call').map((item) => ({
      ...requiredId(item, 'call_id'),
      name: stringOr(item['name'], ''),
      ...argumentsAsText(item['arguments']),
      // A call made by a program of the model's: without its `caller` the output does not reach that program.
      echo: echoOf(item, 'caller'),
    }));
  },

  // The status of other items tells how a tool of the provider's own ended: a failed web search cuts nothing.
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
