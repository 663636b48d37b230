/** How each provider writes a response, for tests: one valid builder each, and what stands between the calls. */
import type { JsonObject, JsonValue } from '../../src/gate/json.ts';

/** A call as a test writes it; absent members are left out of the item. */
export type WireCall = { id?: JsonValue; name?: JsonValue; arguments?: JsonValue };

export type ProviderBodies = {
  provider: string;
  /** What the provider writes as arguments. */
  argumentsAre: 'text' | 'object' | 'either';
  item(call: WireCall): JsonObject;
  body(items: JsonValue[]): JsonObject;
  /** Items of a response that are no function call. */
  passedOver: JsonValue[];
  /** Bodies that lack the member, or have something else in its place. */
  withoutCalls: JsonObject[];
};

const present = (members: { [name: string]: JsonValue | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));

export const providerBodies: readonly ProviderBodies[] = [
  {
    provider: 'openai',
    argumentsAre: 'text',
    item: ({ id, name, arguments: args }) =>
      present({ type: 'function_call', id: 'fc_1', status: 'completed', call_id: id, name, arguments: args }),
    body: (items) => ({ id: 'resp_1', object: 'response', status: 'completed', output: items }),
    passedOver: [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'refund_order' }] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', name: 'refund_order', arguments: '{}' },
      { type: 'mcp_call', id: 'mcp_1', name: 'refund_order', arguments: '{}', server_label: 'elsewhere' },
      { type: 'custom_tool_call', call_id: 'call_custom', name: 'refund_order', input: '{}' },
      { name: 'refund_order', arguments: '{}', call_id: 'no type' },
      null,
      'function_call',
    ],
    withoutCalls: [{}, { output: null }, { output: {} }, { output: 'function_call' }],
  },
  {
    provider: 'openai-chat',
    argumentsAre: 'text',
    item: ({ id, name, arguments: args }) =>
      present({ id, type: 'function', function: present({ name, arguments: args }) }),
    body: (items) => ({ choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: items } }] }),
    passedOver: [{ id: 'call_custom', type: 'custom', custom: { name: 'refund_order', input: '{}' } }],
    withoutCalls: [
      {},
      { choices: [] },
      { choices: [{}] },
      { choices: [{ message: 'none' }] },
      { choices: [{ message: { tool_calls: {} } }] },
      { tool_calls: null },
      { tool_calls: 'none' },
    ],
  },
  {
    provider: 'anthropic',
    argumentsAre: 'object',
    item: ({ id, name, arguments: args }) =>
      present({ type: 'tool_use', id, caller: { type: 'direct' }, name, input: args }),
    body: (items) => ({ id: 'msg_1', type: 'message', role: 'assistant', content: items, stop_reason: 'tool_use' }),
    passedOver: [
      { type: 'thinking', thinking: 'refund_order', signature: 'c2ln' },
      { type: 'text', text: 'refund_order' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'refund_order', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'refund_order', input: {} },
      null,
      7,
    ],
    withoutCalls: [{}, { content: null }, { content: 'text' }, { content: {} }],
  },
  {
    provider: 'gemini',
    argumentsAre: 'object',
    item: ({ id, name, arguments: args }) => ({
      functionCall: present({ id, name, args }),
      thoughtSignature: 'c2ln',
    }),
    body: (items) => ({ candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: items } }] }),
    passedOver: [
      { text: 'refund_order', thought: true },
      { text: 'refund_order', functionCall: null },
      { executableCode: { language: 'PYTHON', code: 'refund_order()' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '' } },
      { toolCall: { id: '1', toolType: 'GOOGLE_SEARCH_WEB', args: {} } },
      null,
      'functionCall',
    ],
    withoutCalls: [
      {},
      { candidates: {} },
      { candidates: ['none'] },
      { candidates: [{ content: 'none' }] },
      { candidates: [{ content: { parts: {} } }] },
      { parts: null },
      { parts: {} },
    ],
  },
  {
    provider: 'gemini-interactions',
    argumentsAre: 'either',
    item: ({ id, name, arguments: args }) => present({ type: 'function_call', id, name, arguments: args }),
    body: (items) => ({ id: 'v1_1', status: 'requires_action', steps: items }),
    passedOver: [
      { type: 'user_input', content: [{ type: 'text', text: 'refund_order' }] },
      { type: 'thought', signature: 'c2ln' },
      { type: 'model_output', content: [{ type: 'text', text: 'refund_order' }] },
      { type: 'google_search_call', id: 'gs_1', arguments: { queries: ['refund_order'] } },
      { type: 'mcp_server_tool_call', id: 'mcp_1', name: 'refund_order', arguments: {} },
      null,
      'function_call',
    ],
    withoutCalls: [{}, { steps: null }, { steps: {} }, { steps: 'none' }],
  },
  {
    provider: 'ollama',
    argumentsAre: 'object',
    item: ({ id, name, arguments: args }) => present({ id, function: present({ index: 0, name, arguments: args }) }),
    body: (items) => ({ model: 'llama', message: { role: 'assistant', content: '', tool_calls: items }, done: true }),
    passedOver: [],
    withoutCalls: [{}, { message: null }, { message: 'none' }, { message: { tool_calls: {} } }, { tool_calls: [] }],
  },
];
