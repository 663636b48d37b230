/** Anthropic Messages API: `tool_use` blocks in, `tool_result` blocks out, to stand first in one user message. */
import { anthropicSchema } from './anthropic-schema.ts';
import { argumentsAsObject, echoOf, itemsOf, itemsOfType, pairedBy, stringOr, type Provider } from './provider.ts';

export const anthropic: Provider = {
  name: 'anthropic',
  takes: 'content[]',

  decode: (body) => {
    const blocks = itemsOf(body['content']);
    if (blocks === null) return null;
    return itemsOfType(blocks, 'tool_use').map((block) => ({
      id: stringOr(block['id'], null),
      name: stringOr(block['name'], ''),
      arguments: argumentsAsObject(block['input']),
      // The API refuses the result of a toolset's member that does not name the toolset.
      echo: echoOf(block, 'toolset_name'),
    }));
  },

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
