/** One call, one outcome: `POST /v1/calls` (docs/specification.md#one-call). */
import { Hono } from 'hono';
import * as z from 'zod';
import { readAgentBody } from '../shared/body.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { authenticateAgent } from '../shared/credentials.ts';
import { IdempotencyKey, idempotencyKey } from './idempotency-key.ts';
import { describeRoute, type HeaderName } from '../shared/operation.ts';
import { answerModelText, wantsModelText } from './model-text.ts';
import { outcome } from './outcome-schema.ts';
import { proposeAs, refuseCall, type Standing } from './send-call.ts';
import { Traceparent } from './trace-context.ts';

/** The host's own id of a call: sent again, with the same call, it asks what became of it. */
export const CallId = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces');

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

/** Where the last call of an answer stands. */
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
  return wantsModelText(c) ? answerModelText(c, proposed.outcome) : c.json(proposed.outcome);
});

/** The budget as RateLimit fields (a host need not count), and the audit row's hash: evidence that the host can keep. */
export function showStanding(c: HttpContext, { max_steps, steps_left, audit }: Standing): void {
  c.header('RateLimit-Policy', `"steps";q=${max_steps}`);
  c.header('RateLimit', `"steps";r=${steps_left}`);
  if (audit !== null) c.header('Toolgate-Audit', `${audit.seq}:${audit.hash}`);
}
