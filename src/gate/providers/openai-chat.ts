/** OpenAI Chat Completions and compatible servers: reads `tool_calls`, writes `tool` messages. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { strictFunction } from './openai.ts';
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

/** From "The chat completion object". */
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
    // A message without calls has no `tool_calls`. A body without a message is accepted only if it has them.
    const called = isMessage || legacy !== null ? optionalItemsOf(holder['tool_calls']) : itemsOf(holder['tool_calls']);
    if (called === null) return null;
    return [...called.filter(isFunction).map(toolCall), ...(legacy === null ? [] : [legacyCall(legacy)])];
  },

  incomplete: (body) => incompleteBy(FINISH_REASON, firstChoice(body), body),

  result: (call, { text }) => ({ role: 'tool', ...pairedBy('tool_call_id', call), content: text, ...call.echo }),

  tools: (definitions) => definitions.map((definition) => ({ type: 'function', function: strictFunction(definition) })),
};

const firstChoice = (body: JsonObject): JsonObject => membersOf(itemsOf(body['choices'])?.[0]);

/** Skips custom tools. Other items count as calls even if malformed; some servers omit `type`. */
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

/** The deprecated `function_call` of a message. A `function` message answers it by name. */
function legacyCall(item: JsonValue): ProposedCall {
  const called = membersOf(item);
  const name = stringOr(called['name'], '');
  return { id: null, name, ...argumentsAsText(called['arguments']), echo: { role: 'function', name } };
}
