/** Good requests of hosts and their agents. */
import type { JsonObject, JsonValue } from '../../src/gate/json.ts';
import type { Random } from '../simulation/random.ts';
import { providerResponse, validCall } from './calls.ts';
import { APPROVERS, ORDERS, TOOLS, type Make } from './pool.ts';
import { get, post, type Asked } from './request.ts';

const accepting = (asked: Asked, random: Random): Asked =>
  random.chance(0.2) ? { ...asked, headers: [...asked.headers, ['accept', 'text/plain']] } : asked;

const some = <T>(random: Random, value: () => T): T | undefined => (random.chance(0.4) ? value() : undefined);
const present = (members: { [name: string]: JsonValue | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));

export const call: Make = ({ sessions }, random) => {
  const { tool, arguments: args } = validCall(random);
  const body = { tool, arguments: random.chance(0.5) ? args : JSON.stringify(args) };
  // Ids from a small set, so that some are sent again.
  const call_id = some(random, () => `c${random.int(1, 40)}`);
  const asked = post('POST /v1/calls', '/v1/calls', random.pick(sessions).token, present({ ...body, call_id }));
  return accepting(asked, random);
};

export const providerCalls: Make = ({ sessions }, random) => {
  const { provider, body } = providerResponse(random);
  return post('POST /v1/calls/{provider}', `/v1/calls/${provider}`, random.pick(sessions).token, body);
};

const METHODS = [
  'tools/call',
  'tools/call',
  'tools/call',
  'tools/list',
  'initialize',
  'server/discover',
  'ping',
  'notifications/initialized',
  'resources/list',
];

/** The newest revision says with every request who speaks; older ones said it once. */
export const mcp: Make = ({ sessions }, random) => {
  const method = random.pick(METHODS);
  const version = random.pick(['2026-07-28', '2026-07-28', '2025-11-25', '2025-06-18']);
  const isNew = version === '2026-07-28';
  const { tool, arguments: args } = validCall(random);
  const who = {
    'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const meta: JsonObject = {
    ...(isNew ? { 'io.modelcontextprotocol/protocolVersion': version, ...who } : {}),
    ...(random.chance(0.3) ? { 'toolgate/call_id': `m${random.int(1, 20)}` } : {}),
  };
  const isCall = method === 'tools/call';
  const own: JsonObject = isCall
    ? { name: tool, arguments: args }
    : method === 'initialize'
      ? { protocolVersion: version, capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } }
      : {};
  const id: JsonObject = method.startsWith('notifications/') ? {} : { id: random.int(1, 9) };
  const asked = post('POST /mcp', '/mcp', random.pick(sessions).token, {
    jsonrpc: '2.0',
    method,
    params: { ...own, _meta: meta },
    ...id,
  });
  const said: [string, string][] = [
    ['accept', 'application/json, text/event-stream'],
    ['mcp-protocol-version', version],
  ];
  const named: [string, string][] = isNew
    ? [['mcp-method', method], ...(isCall ? [['mcp-name', tool] as [string, string]] : [])]
    : [];
  return { ...asked, headers: [...asked.headers, ...said, ...named] };
};

export const openSession: Make = ({ callers, sessions }, random) => {
  const caller = random.pick(callers);
  const mine = sessions.filter((session) => session.caller === caller);
  const body = present({
    session_id: some(random, () =>
      mine.length > 0 && random.chance(0.5) ? random.pick(mine).session_id : `chat-${random.int(1, 30)}`,
    ),
    customer_id: random.chance(0.8) ? random.pick(ORDERS).customer_id : undefined,
    requested_by: some(random, () => random.pick([...APPROVERS, 'cy@shop.example'])),
    tools: some(random, () => TOOLS.slice(random.int(0, 3))),
    max_steps: some(random, () => random.pick([5, 12, 100])),
    max_refund_cents: some(random, () => random.pick([100, 50_000])),
    max_session_refund_cents: some(random, () => random.pick([10_000, 400_000])),
    ttl_seconds: some(random, () => random.pick([60, 3_600, 86_400])),
  });
  return post('POST /v1/sessions', '/v1/sessions', caller.api_key, body);
};

export const endSession: Make = ({ sessions }, random) => {
  const { caller, session_id } = random.pick(sessions);
  return { ...get('DELETE /v1/sessions/{id}', `/v1/sessions/${session_id}`, caller.api_key), method: 'DELETE' };
};

export const tools: Make = ({ sessions }, random) => {
  const provider = some(random, () =>
    random.pick(['openai', 'openai-chat', 'anthropic', 'gemini', 'gemini-interactions', 'ollama', 'mcp']),
  );
  return get(
    'GET /v1/tools',
    '/v1/tools',
    random.pick(sessions).token,
    provider === undefined ? [] : [['provider', provider]],
  );
};

export const poll: Make = ({ approvals, sessions }, random) => {
  const approval = approvals.length > 0 ? random.pick(approvals) : null;
  const path = `/v1/approvals/${approval?.id ?? 'apr_0'}`;
  const asked = get('GET /v1/approvals/{id}', path, (approval?.session ?? random.pick(sessions)).token, [
    ['wait', String(random.int(0, 25))],
  ]);
  return accepting(asked, random);
};
