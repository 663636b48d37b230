/** One call, one outcome: `POST /v1/calls` (docs/specification.md#one-call). */
import { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import * as z from 'zod';
import type { SessionClaims } from '../../auth/tokens.ts';
import { observationText } from '../../observation/text.ts';
import type { Outcome } from '../../outcome.ts';
import { readAgentBody } from '../shared/body.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { authenticateAgent, refuseAgent } from '../shared/credentials.ts';
import { describeRoute, type HeaderName } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';
import { outcome } from './outcome-schema.ts';
import { proposeAs, refuseCall, type Standing } from './send-call.ts';
import { Traceparent } from './trace-context.ts';

export const CallId = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces');

/** The header with which a host names its request, so that it can send it again when the answer is lost. */
export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,120}$/, 'must be 1 to 120 printable ASCII characters without spaces');

/**
 * Refuses only what no stage can answer. Any `tool` name and `arguments` of any type make a proposed call, which gets an
 * outcome and an audit row.
 */
export const CallBody = z.strictObject({
  tool: z.string().describe('The name as the model wrote it.'),
  arguments: z
    .unknown()
    .optional()
    .describe('As the model wrote them: an object, or a string that is exactly one JSON object. Absent is {}.'),
  call_id: CallId.exactOptional().describe(
    "The host's id for this call. Sent again with the same call it only reports, and takes no step.",
  ),
});

/** The headers of {@link showStanding}. */
export const STANDING = ['RateLimit-Policy', 'RateLimit', 'Toolgate-Audit'] as const satisfies HeaderName[];

const call = describeRoute(() => ({
  id: 'call',
  summary: 'Proposes one call; answers with one outcome',
  description:
    'Every proposed call is HTTP 200, refused ones too. With `Accept: text/plain` the answer is the text for the model.',
  credential: 'agent',
  requestHeaders: z.object({
    'Idempotency-Key': IdempotencyKey.optional().describe('Another way to give call_id.'),
    traceparent: Traceparent,
  }),
  body: CallBody.meta({ id: 'Call' }),
  answers: {
    200: {
      description: 'The outcome. The headers are absent where the session could not be reached.',
      content: { 'application/json': { schema: outcome() }, 'text/plain': {} },
      headers: STANDING,
    },
  },
  problems: ['session-exhausted'],
}));

export const calls = new Hono<HttpEnv>().post('/', call, async (c) => {
  const agent = await authenticateAgent(c);
  if (agent instanceof Response) return agent;
  const body = await readAgentBody(c, agent, CallBody);
  if (body instanceof Response) return body;

  const key = await idempotencyKey(c, agent, body.call_id);
  if (key instanceof Response) return key;

  const named = key === undefined ? {} : { call_id: key };
  const proposed = await proposeAs(c, agent, { ...body, arguments: body.arguments, ...named });
  if ('refused' in proposed) return refuseCall(c, proposed);
  if (proposed.standing !== null) showStanding(c, proposed.standing);
  return answerOutcome(c, proposed.outcome);
});

/** The budget as RateLimit fields (a host need not count), and the audit row's hash: evidence that the host can keep. */
export function showStanding(c: HttpContext, { max_steps, steps_left, audit }: Standing): void {
  c.header('RateLimit-Policy', `"steps";q=${max_steps}`);
  c.header('RateLimit', `"steps";r=${steps_left}`);
  if (audit !== null) c.header('Toolgate-Audit', `${audit.seq}:${audit.hash}`);
}

/** The key that was sent, if any. It must be equal to `callId`, the name of the call in the body, if both are given. */
export async function idempotencyKey(
  c: HttpContext,
  agent: SessionClaims,
  callId?: string,
): Promise<string | undefined | Response> {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  const { error } = IdempotencyKey.safeParse(key);
  const flaw =
    error?.issues[0]?.message ?? (callId === undefined || callId === key ? null : 'must be the same as call_id');
  if (flaw === null) return key;
  const detail = `header Idempotency-Key ${flaw}`;
  return refuseAgent(c, agent, problem(c, 'invalid-body', { reason: 'idempotency_key', detail }));
}

/**
 * The outcome as JSON, or as the text for a model's context if that is asked for before JSON: HTTP libraries accept
 * "application/json, text/plain, *" and want JSON.
 */
export function answerOutcome(c: HttpContext, told: Outcome, json: object = told): Response {
  const supports = ['application/json', 'text/plain'];
  if (accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'application/json')
    return c.json(json);
  return c.body(observationText(told), 200, { 'Content-Type': 'text/plain; charset=utf-8' });
}
