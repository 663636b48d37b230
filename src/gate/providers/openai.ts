/** OpenAI Responses API: `output[]` in, `function_call_output` items out. */
import { strictFunction } from './openai-schema.ts';
import { argumentsAsText, echoOf, itemsOf, itemsOfType, pairedBy, stringOr, type Provider } from './provider.ts';

export const openai: Provider = {
  name: 'openai',
  takes: 'output[]',

  decode: (body) => {
    const items = itemsOf(body['output']);
    if (items === null) return null;
    return itemsOfType(items, 'function_call').map((item) => ({
      id: stringOr(item['call_id'], null),
      name: stringOr(item['name'], ''),
      arguments: argumentsAsText(item['arguments']),
      // A call made by a program of the model's: without its `caller` the output does not reach that program.
      echo: echoOf(item, 'caller'),
    }));
  },

  result: (call, { text }) => ({
    type: 'function_call_output',
    ...pairedBy('call_id', call),
    output: text,
    ...call.echo,
  }),

  tools: (definitions) => definitions.map((definition) => ({ type: 'function', ...strictFunction(definition) })),
};
