/** OpenAI Chat Completions, and the many servers that speak it: `tool_calls` in, `tool` messages out. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { strictFunction } from './openai-schema.ts';
import {
  argumentsAsText,
  incompleteBy,
  itemsOf,
  membersOf,
  optionalItemsOf,
  pairedBy,
  requiredId,
  stringOr,
  type Marker,
  type ProposedCall,
  type Provider,
} from './provider.ts';

/** "The chat completion object". */
const FINISH_REASON: Marker = {
  member: 'finish_reason',
  complete: ['tool_calls', 'stop', 'function_call'],
  incomplete: ['length', 'content_filter'],
};

export const openaiChat: Provider = {
  name: 'openai-chat',
  takes: 'choices[0].message or tool_calls[]',

  decode: (body) => {
    const { message } = firstChoice(body);
    const [holder, isMessage] = isJsonObject(message ?? null) ? [membersOf(message), true] : [body, false];
    const legacy = holder['function_call'] ?? null;
    // A message that only speaks has no `tool_calls`; a body without a message must have them to be one.
    const called = isMessage || legacy !== null ? optionalItemsOf(holder['tool_calls']) : itemsOf(holder['tool_calls']);
    if (called === null) return null;
    return [...called.filter(isFunction).map(toolCall), ...(legacy === null ? [] : [legacyCall(legacy)])];
  },

  incomplete: (body) => incompleteBy(FINISH_REASON, firstChoice(body), body),

  result: (call, { text }) => ({ role: 'tool', ...pairedBy('tool_call_id', call), content: text, ...call.echo }),

  tools: (definitions) => definitions.map((definition) => ({ type: 'function', function: strictFunction(definition) })),
};

const firstChoice = (body: JsonObject): JsonObject => membersOf(itemsOf(body['choices'])?.[0]);

/** Custom tools are not functions. Everything else in the list is a call, malformed or not; some servers leave `type` out. */
function isFunction(item: JsonValue): boolean {
  const type = membersOf(item)['type'];
  return typeof type !== 'string' || type === 'function';
}

function toolCall(item: JsonValue): ProposedCall {
  const called = membersOf(membersOf(item)['function']);
  return {
    ...requiredId(membersOf(item), 'id'),
    name: stringOr(called['name'], ''),
    ...argumentsAsText(called['arguments']),
    echo: {},
  };
}

/** The deprecated `function_call` of a message, of which there is one at most: a `function` message answers it, by name. */
function legacyCall(item: JsonValue): ProposedCall {
  const called = membersOf(item);
  const name = stringOr(called['name'], '');
  return { id: null, name, ...argumentsAsText(called['arguments']), echo: { role: 'function', name } };
}
