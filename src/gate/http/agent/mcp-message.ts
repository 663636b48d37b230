/**
 * One JSON-RPC message of an MCP client, answered by the official server package, which handles versions, headers and
 * envelopes. A server lives for one message, so no state of one client is left for another.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  ProtocolError,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { version } from '../../../../package.json';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import { membersOf, stringOr } from '../../providers/provider.ts';

/** What answers each method, given the request's parameters. A `ProtocolError` is an answer; anything else is a fault. */
export type McpMethods = ReadonlyMap<string, (params: JsonObject) => Promise<JsonObject>>;

/** Empty if the message names none. */
export const methodOf = (message: JsonValue): string => stringOr(membersOf(message)['method'], '');

/** The current revision, and those whose clients begin with `initialize`. */
export const SPOKEN_VERSIONS: readonly string[] = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];

/**
 * The answer is one JSON body: nothing is sent before the result, so its status can still tell what became of the session
 * meanwhile. Throws what a method throws as a fault, since the package would send its message to the client.
 */
export async function answerMessage(client: Headers, given: JsonValue, methods: McpMethods): Promise<Response> {
  const message = withoutEmpties(given);
  const request = requestAs(client);
  const faults: unknown[] = [];
  const server = (): McpServer => serverOf(message, methods, faults);
  const response = (await isLegacyRequest(request, message))
    ? await answerBefore2026(request, message, server())
    : await createMcpHandler(server, { legacy: 'reject' }).fetch(request, { parsedBody: message });
  if (faults.length > 0) throw faults[0];
  return response;
}

/** Clients in languages with null send it for an absent `params` or `cursor`, or an empty cursor. */
function withoutEmpties(message: JsonValue): JsonValue {
  if (!isJsonObject(message)) return message;
  const { params, ...rest } = message;
  if (params === null || params === undefined) return rest;
  if (methodOf(message) !== 'tools/list' || !isJsonObject(params)) return message;
  const { cursor, ...others } = params;
  return cursor === null || cursor === '' ? { ...rest, params: others } : message;
}

async function answerBefore2026(request: Request, message: JsonValue, server: McpServer): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const response = await transport.handleRequest(request, { parsedBody: message });
  await server.close();
  return response;
}

/**
 * The package rejects malformed requests before calling registered handlers. The method is therefore its fallback handler,
 * set only for a method of ours: malformed arguments reach the stages, which audit them, and the package still refuses
 * unknown methods.
 */
function serverOf(message: JsonValue, methods: McpMethods, faults: unknown[]): McpServer {
  const mcp = new McpServer({ name: 'toolgate', title: 'Toolgate', version });
  mcp.server.registerCapabilities({ tools: {} });
  const method = methods.get(methodOf(message));
  if (method === undefined) return mcp;
  mcp.server.fallbackRequestHandler = async ({ params }) => {
    try {
      return await method((params ?? {}) as JsonObject);
    } catch (error) {
      if (!ProtocolError.isInstance(error)) faults.push(error);
      throw error;
    }
  };
  return mcp;
}

/** The headers that the protocol defines for a request; the package compares them with the body. */
const PROTOCOL_HEADERS = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'] as const;

/**
 * The request as the package sees it: without the credential, and without the body, which was read strictly. A client that
 * disconnects cancels nothing, because a proposed call is carried to its end.
 */
function requestAs(client: Headers): Request {
  const headers = new Headers({ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' });
  for (const name of PROTOCOL_HEADERS) {
    const value = client.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Request('https://mcp.invalid/', { method: 'POST', headers });
}
