/** OpenAI Chat Completions, and the many servers that speak it: `tool_calls` in, `tool` messages out. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { strictFunction } from './openai-schema.ts';
import { argumentsAsText, itemsOf, membersOf, optionalItemsOf, pairedBy, stringOr, type Provider } from './provider.ts';

export const openaiChat: Provider = {
  name: 'openai-chat',
  takes: 'choices[0].message or tool_calls[]',

  decode: (body) =>
    toolCallsIn(body)
      ?.filter(isFunction)
      .map((item) => {
        const called = membersOf(membersOf(item)['function']);
        return {
          id: stringOr(membersOf(item)['id'], null),
          name: stringOr(called['name'], ''),
          arguments: argumentsAsText(called['arguments']),
          echo: {},
        };
      }) ?? null,

  result: (call, { text }) => ({ role: 'tool', ...pairedBy('tool_call_id', call), content: text }),

  tools: (definitions) => definitions.map((definition) => ({ type: 'function', function: strictFunction(definition) })),
};

function toolCallsIn(body: JsonObject): JsonValue[] | null {
  const message = membersOf(itemsOf(body['choices'])?.[0])['message'];
  return message !== undefined && isJsonObject(message)
    ? optionalItemsOf(message['tool_calls'])
    : itemsOf(body['tool_calls']);
}

/** Custom tools are not functions. Everything else in the list is a call, malformed or not; some servers leave `type` out. */
function isFunction(item: JsonValue): boolean {
  const type = membersOf(item)['type'];
  return typeof type !== 'string' || type === 'function';
}
