/**
 * The tools over MCP: `POST /mcp` (docs/specification.md#mcp). A call takes the same way through the same stages as one of
 * `POST /v1/calls`.
 * There is no stream, no session of the protocol's own, and nothing is ever asked of the client (no elicitation, no
 * sampling): only an approver's link decides.
 */
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import type { MiddlewareHandler } from 'hono';
import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../json.ts';
import { readAgentBody } from '../shared/body.ts';
import { callsInARow, MAX_CALLS, MAX_CALLS_BODY_BYTES } from './call-sequence.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { agentTools, authenticateAgent, refuseAgent, refuseCredential } from '../shared/credentials.ts';
import { membersOf } from '../../providers/provider.ts';
import { batchFlaw } from './mcp-batch.ts';
import { answerMessage, methodOf, SPOKEN_VERSIONS, type McpMethods } from './mcp-message.ts';
import { BodyRefused, toolMethods } from './mcp-methods.ts';
import { mcpTools } from './mcp-tools.ts';
import { problem } from '../shared/problem.ts';
import { refuseCall } from './send-call.ts';

const AnyJson = z.custom<JsonValue>();

/** RFC 6750, 3.1: tells a client whose token is no longer good that another one is needed. */
const challenged: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next();
  if (c.res.status === 401 && c.req.header('authorization') !== undefined)
    c.res.headers.set('WWW-Authenticate', 'Bearer realm="toolgate", error="invalid_token"');
};

export const mcp = new Hono<HttpEnv>().use(challenged).post('/', async (c) => {
  // Before the credential: a page in somebody's browser may not even try one from there.
  const origin = c.req.header('origin');
  if (origin !== undefined && origin !== c.get('config').publicUrl)
    return problem(c, 'forbidden', { reason: 'foreign_origin' });
  const agent = await authenticateAgent(c);
  if (agent instanceof Response) return agent;
  const body = await readAgentBody(c, agent, AnyJson, MAX_CALLS_BODY_BYTES);
  if (body instanceof Response) return body;
  const messages = Array.isArray(body) ? body : [body];
  if (messages.length > MAX_CALLS) {
    const detail = `body must hold at most ${MAX_CALLS} messages`;
    return refuseAgent(c, agent, problem(c, 'invalid-body', { reason: 'too_many_calls', detail }));
  }

  // A call asks the session by itself whether the token is still good.
  const onlyCalls = messages.every((message) => methodOf(message) === 'tools/call');
  const allowed = onlyCalls ? [] : await agentTools(c, agent);
  if (allowed === null) return refuseCredential(c, 'session_not_live');
  const calls = callsInARow(c, agent);
  const methods = toolMethods(calls, mcpTools(c.get('registry'), allowed));
  try {
    const answer = await (Array.isArray(body) ? answerBatch(c, body, methods) : answerOne(c, body, methods));
    // What the protocol refused, or took for a notification, was no call after all.
    if (onlyCalls && !calls.isProposed() && (await agentTools(c, agent)) === null)
      return await refuseCredential(c, 'session_not_live');
    return answer;
  } catch (error) {
    if (error instanceof BodyRefused) return refuseCall(c, error.call);
    throw error;
  }
});

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
