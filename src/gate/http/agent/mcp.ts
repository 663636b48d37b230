/**
 * The tools over MCP: `POST /mcp` (docs/specification.md#mcp). A call passes the same stages as one of `POST /v1/calls`. There
 * is no stream and no session of the protocol, and the client is never asked anything (no elicitation, no sampling): only an
 * approver's link decides.
 */
import { Hono } from 'hono';
import type { MiddlewareHandler } from 'hono';
import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../json.ts';
import { mcp as definitions } from '../../providers/index.ts';
import { membersOf } from '../../providers/provider.ts';
import type { Tool } from '../../tool/define-tool.ts';
import { readAgentBody } from '../shared/body.ts';
import { callsInARow, MAX_CALLS, MAX_CALLS_BODY_BYTES } from './call-sequence.ts';
import type { HttpEnv } from '../shared/context.ts';
import { agentTools, authenticateAgent, refuseAgent, refuseCredential } from '../shared/credentials.ts';
import { anyObject, describeRoute, json } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';

const AnyJson = z.custom<JsonValue>();

/** RFC 6750, 3.1: tells a client whose token is no longer good that another one is needed. */
const challenged: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next();
  if (c.res.status === 401 && c.req.header('authorization') !== undefined)
    c.res.headers.set('WWW-Authenticate', 'Bearer realm="toolgate", error="invalid_token"');
};

const speakMcp = describeRoute(() => {
  const message = anyObject('One JSON-RPC 2.0 message.');
  return {
    id: 'mcp',
    summary: 'The same tools over the Model Context Protocol: one JSON-RPC message, stateless',
    credential: 'agent',
    body: message,
    answers: {
      200: json('The answer to a request, errors of the protocol included.', message),
      202: { description: 'A notification was taken.' },
      400: json('No message of the protocol, or of a version of it that is not spoken here.', message),
    },
    problems: ['forbidden', 'session-exhausted'],
  };
});

export const mcp = new Hono<HttpEnv>().use(challenged).post('/', speakMcp, async (c) => {
  // Before the credential, so that a page in a browser cannot try credentials from there.
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
  const onlyCalls = messages.every((message) => membersOf(message)['method'] === 'tools/call');
  const allowed = onlyCalls ? [] : await agentTools(c, agent);
  if (allowed === null) return refuseCredential(c, 'session_not_live');
  const calls = callsInARow(c, agent);
  // Loaded with the first message: the protocol's package would take a tenth of every start.
  const { answerMcp } = await import('./mcp-answer.ts');
  // In the registry's order, which is that of the names: equal bytes from call to call keep a prompt cache.
  const listed = c.get('registry').tools.filter(({ name }) => allowed.includes(name));
  const answer = await answerMcp(c, body, calls, listed.map(shownTool));
  // What the protocol refused, or took for a notification, was no call after all.
  if (onlyCalls && !calls.isProposed() && (await agentTools(c, agent)) === null)
    return refuseCredential(c, 'session_not_live');
  return answer;
});

const shownTool = (tool: Tool): JsonObject => ({
  ...definitions.tools([tool])[0],
  outputSchema: tool.outputSchema,
  annotations: annotationsOf(tool),
});

/**
 * Hints for a client's own caution; the gate does not depend on them. No other tool reverts an effect. A repeated effect
 * with the same arguments is reported, or put before a person, and not repeated.
 */
const annotationsOf = ({ effect }: Tool): JsonObject =>
  effect === 'none' ? { readOnlyHint: true } : { readOnlyHint: false, destructiveHint: true, idempotentHint: true };
