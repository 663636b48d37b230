/** MCP messages to the app over a session that a test plays. */
import type { JsonObject, JsonValue } from '../../src/gate/json.ts';
import type { CallAnswer, CallRequest } from '../../src/gate/session/rpc.ts';
import { agentApp, doneAt } from './agent-app.ts';

const REVISION = '2026-07-28';
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
};

export type Sending = { headers?: Record<string, string>; authorization?: string };

/** A session that answers calls with `play`, and what it was asked. `allowed` null: its token is no good any more. */
export async function mcpApp(
  play: (step: number, call: CallRequest) => CallAnswer = doneAt,
  allowed: string[] | null = ['get_order', 'refund_order'],
) {
  const asked: CallRequest[] = [];
  const { get, post } = await agentApp({
    call: async (call) => {
      asked.push(call);
      return play(asked.length, call);
    },
    tools: async () => allowed,
  });
  const send = (body: unknown, { headers = {}, authorization }: Sending = {}) =>
    post('/mcp', body, authorization, headers);

  /** As a client of 2026-07-28 sends it, with the envelope and the headers that repeat it. */
  const request = (method: string, params: JsonObject = {}, sending: Sending = {}) => {
    const { name, _meta } = params;
    const headers = {
      'MCP-Protocol-Version': REVISION,
      'Mcp-Method': method,
      ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
      ...sending.headers,
    };
    const meta = { ...ENVELOPE, ...(_meta as JsonObject | undefined) };
    return send(message(method, { ...params, _meta: meta }), { ...sending, headers });
  };
  return { get, post, send, request, asked };
}

/** As older clients send it, alone or in a batch. */
export const message = (method: string, params?: JsonObject, id: JsonValue = 7): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
});

/** A notification: it wants no answer. */
export const notification = (method: string): JsonObject => ({ jsonrpc: '2.0', method });

export const orderCall = (id: JsonValue = 7): JsonObject =>
  message('tools/call', { name: 'get_order', arguments: { order_id: 'ORD-1001' } }, id);
