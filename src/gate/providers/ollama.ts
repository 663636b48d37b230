/**
 * Ollama /api/chat: reads `message.tool_calls`, writes `tool` messages. Older servers send no ids; results pair by name
 * and order.
 */
import { isJsonObject } from '../json.ts';
import {
  argumentsAsObject,
  incompleteBy,
  membersOf,
  optionalItemsOf,
  pairedBy,
  stringOr,
  type Marker,
  type Provider,
} from './provider.ts';

/** From "Generate a chat message": every part of a stream but the last has `done: false`. */
const DONE: Marker = { member: 'done', complete: [true], incomplete: [false] };
/** The values are those of DoneReason in the server; `load` and `unload` come without calls. */
const DONE_REASON: Marker = { member: 'done_reason', complete: ['stop'], incomplete: ['length', 'load', 'unload'] };

export const ollama: Provider = {
  name: 'ollama',
  takes: 'message.tool_calls[]',

  decode: (body) => {
    const message = body['message'];
    if (message === undefined || !isJsonObject(message)) return null;
    const calls = optionalItemsOf(message['tool_calls']);
    if (calls === null) return null;
    return calls.map((item) => {
      const called = membersOf(membersOf(item)['function']);
      return {
        id: stringOr(membersOf(item)['id'], null),
        name: stringOr(called['name'], ''),
        arguments: argumentsAsObject(called['arguments']),
        echo: {},
      };
    });
  },

  incomplete: (body) => incompleteBy(DONE, body) ?? incompleteBy(DONE_REASON, body),

  result: (call, { text }) => ({
    role: 'tool',
    tool_name: call.name,
    ...pairedBy('tool_call_id', call),
    content: text,
  }),

  tools: (definitions) =>
    definitions.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
};
