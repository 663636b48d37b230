/** Answers the messages of one MCP body. Only this file and those behind it load the protocol's package. */
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue } from '../../json.ts';
import { membersOf } from '../../providers/provider.ts';
import type { HttpContext } from '../shared/context.ts';
import type { CallsInARow } from './call-sequence.ts';
import { batchFlaw } from './mcp-batch.ts';
import { answerMessage, SPOKEN_VERSIONS, type McpMethods } from './mcp-message.ts';
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

/** What the protocol refuses is no proposed call. */
async function refuseMessage(c: HttpContext, response: Response): Promise<Response> {
  c.set('reason', 'mcp_protocol');
  return c.newResponse(JSON.stringify(await errorOrResult(response)), response);
}

/**
 * The package repeats ids that are none, names the one it could not read null, and rounds what is beyond 2^53; the protocol's
 * schema takes none of these, so the id is left out. To a client of an unknown version it names one version only.
 */
async function errorOrResult(response: Response): Promise<JsonObject> {
  const { id, ...rest } = await response.json<JsonObject>();
  const data = membersOf(membersOf(rest['error'])['data']);
  if (Array.isArray(data['supported'])) data['supported'] = [...SPOKEN_VERSIONS];
  return typeof id === 'string' || Number.isSafeInteger(id) ? { id: id as JsonValue, ...rest } : rest;
}
