/** Answers the messages of one MCP body. Only this file and those behind it load the protocol's package. */
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue } from '../../json.ts';
import { membersOf } from '../../providers/provider.ts';
import type { HttpContext } from '../shared/context.ts';
import type { CallsInARow } from './call-sequence.ts';
import { answerMessage, methodOf, SPOKEN_VERSIONS, type McpMethods } from './mcp-message.ts';
import { BodyRefused, toolMethods } from './mcp-methods.ts';
import { refuseCall } from './send-call.ts';

/** `listed` are the definitions of the tools that the session may use. */
export async function answerMcp(
  c: HttpContext,
  body: JsonValue,
  calls: CallsInARow,
  listed: JsonObject[],
): Promise<Response> {
  const methods = toolMethods(calls, listed);
  try {
    return await (Array.isArray(body) ? answerBatch(c, body, methods) : answerOne(c, body, methods));
  } catch (error) {
    if (error instanceof BodyRefused) return refuseCall(c, error.call);
    throw error;
  }
}

async function answerOne(c: HttpContext, message: JsonValue, methods: McpMethods): Promise<Response> {
  const response = await answerMessage(c.req.raw.headers, message, methods);
  return response.ok ? c.newResponse(response.body, response) : refuseMessage(c, response);
}

/** One after another, as their order says; a message that wants no answer (202) has none in the list either. */
async function answerBatch(c: HttpContext, batch: JsonValue[], methods: McpMethods): Promise<Response> {
  const flaw = batchFlaw(c.req.raw.headers, batch);
  if (flaw !== null) {
    const error = { code: ProtocolErrorCode.InvalidRequest, message: flaw };
    return refuseMessage(c, Response.json({ jsonrpc: '2.0', error }, { status: 400 }));
  }
  const answers: JsonObject[] = [];
  for (const message of batch) {
    const response = await answerMessage(c.req.raw.headers, message, methods);
    if (response.status !== 202) answers.push(await errorOrResult(response));
  }
  return answers.length === 0 ? c.body(null, 202) : c.json(answers);
}

/** A message that the protocol refuses is not a proposed call. */
async function refuseMessage(c: HttpContext, response: Response): Promise<Response> {
  c.set('reason', 'mcp_protocol');
  return c.newResponse(JSON.stringify(await errorOrResult(response)), response);
}

/**
 * The package repeats ids of other types, answers null for an id it could not read, and rounds numbers beyond 2^53. The
 * protocol's schema does not allow these, so the id is left out. To a client of an unknown version it names only one version.
 */
async function errorOrResult(response: Response): Promise<JsonObject> {
  const { id, ...rest } = await response.json<JsonObject>();
  const data = membersOf(membersOf(rest['error'])['data']);
  if (Array.isArray(data['supported'])) data['supported'] = [...SPOKEN_VERSIONS];
  return typeof id === 'string' || Number.isSafeInteger(id) ? { id: id as JsonValue, ...rest } : rest;
}

/** The only revision with batches. The next one brought the header that names the revision, so clients of this one send none. */
const BATCH_REVISION = '2025-03-26';

/**
 * The reason why an array is refused as a batch; null if it is accepted. Each message of a batch is then judged by itself
 * (JSON-RPC 2.0, section 6).
 */
function batchFlaw(client: Headers, batch: readonly JsonValue[]): string | null {
  if ((client.get('MCP-Protocol-Version') ?? BATCH_REVISION) !== BATCH_REVISION)
    return `Only protocol version ${BATCH_REVISION} has batches`;
  if (batch.length === 0) return 'The batch is empty';
  if (batch.some(Array.isArray)) return 'The batch holds a batch';
  if (batch.some((message) => methodOf(message) === 'initialize')) return 'The batch holds "initialize"';
  return null;
}
