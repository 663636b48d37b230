/**
 * A provider's response in, the results of its next request out: `POST /v1/calls/{provider}`
 * (docs/specification.md#provider-calls). The calls of one body
 * run one after another, as their order says; each takes its step and has its outcome and audit row like any other.
 */
import { Hono } from 'hono';
import * as z from 'zod';
import type { SessionClaims } from '../../auth/tokens.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import { observationText } from '../../observation/text.ts';
import { keyedCallId, type Defect, type Outcome } from '../../outcome.ts';
import { providerNamed, providers } from '../../providers/index.ts';
import type { ProposedCall } from '../../providers/provider.ts';
import { readAgentBody } from '../shared/body.ts';
import { IdempotencyKey, idempotencyKey, STANDING } from './calls.ts';
import { callsInARow, MAX_CALLS, MAX_CALLS_BODY_BYTES } from './call-sequence.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { agentTools, authenticateAgent, refuseAgent, refuseCredential } from '../shared/credentials.ts';
import { anyObject, describeRoute, json } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';
import { outcome } from './outcome-schema.ts';
import { refuseCall } from './send-call.ts';
import { Traceparent } from './trace-context.ts';

const ResponseBody = z
  .custom<JsonObject>((value) => isJsonObject(value as JsonValue), 'must be an object')
  .meta({ type: 'object', description: 'The response as it came. Members that hold no calls are passed over.' });

const callFromProvider = describeRoute(() => {
  const result = anyObject("A tool result in the provider's own form, ready for its next request.");
  const answer = z.strictObject({
    results: z.array(result),
    outcomes: z.array(outcome()).describe('One outcome for each result, in the same order.'),
    problems: z
      .array(
        z.strictObject({ item: z.int().min(0).describe('The place in results and outcomes.'), problem: z.string() }),
      )
      .exactOptional()
      .describe('Which results cannot be paired with their call, because it came without the id its format needs.'),
  });
  return {
    id: 'callFromProvider',
    summary: "Takes a provider's response; answers with the tool results of its next request",
    description:
      'The calls in it run one after another. Items that are no function call are passed over. At most 128 calls and 1 MiB.',
    credential: 'agent',
    requestHeaders: z.object({
      'Idempotency-Key': IdempotencyKey.optional().describe('Names this response: the same body again only reports.'),
      traceparent: Traceparent,
    }),
    params: { provider: z.enum(providers.map(({ name }) => name)) },
    body: ResponseBody,
    answers: {
      200: json(
        'Results and outcomes. The headers are those of the last call.',
        answer.meta({ id: 'ProviderAnswer' }),
        STANDING,
      ),
    },
    problems: ['not-found', 'session-exhausted'],
  };
});

export const providerCalls = new Hono<HttpEnv>().post('/:provider', callFromProvider, async (c) => {
  const agent = await authenticateAgent(c);
  if (agent instanceof Response) return agent;
  const provider = providerNamed(c.req.param('provider'));
  if (provider === undefined) return refuseAgent(c, agent, problem(c, 'not-found', { reason: 'unknown_provider' }));
  const body = await readAgentBody(c, agent, ResponseBody, MAX_CALLS_BODY_BYTES);
  if (body instanceof Response) return body;

  const calls = provider.decode(body);
  if (calls === null) {
    const detail = `body must hold ${provider.takes}`;
    return refuseAgent(c, agent, problem(c, 'invalid-body', { reason: 'no_calls_member', detail }));
  }
  if (calls.length > MAX_CALLS) {
    const detail = `body must hold at most ${MAX_CALLS} calls`;
    return refuseAgent(c, agent, problem(c, 'invalid-body', { reason: 'too_many_calls', detail }));
  }
  const key = await idempotencyKey(c, agent);
  if (key instanceof Response) return key;

  const answered = await outcomesOf(c, agent, { calls, incomplete: provider.incomplete(body), key });
  if (answered instanceof Response) return answered;
  const results = answered.map(({ call, outcome }) =>
    provider.result(call, { ok: outcome.ok, text: observationText(outcome) }),
  );
  const problems = calls.flatMap(({ problem: reason }, item) =>
    reason === undefined ? [] : [{ item, problem: reason }],
  );
  return c.json({
    results,
    outcomes: answered.map(({ outcome }) => outcome),
    ...(problems.length === 0 ? {} : { problems }),
  });
});

type Answered = { call: ProposedCall; outcome: Outcome };
type Asked = { calls: ProposedCall[]; incomplete: Defect | undefined; key: string | undefined };

async function outcomesOf(
  c: HttpContext,
  agent: SessionClaims,
  { calls, incomplete, key }: Asked,
): Promise<Answered[] | Response> {
  // No call would ask the session whether its token is still good.
  if (calls.length === 0 && (await agentTools(c, agent)) === null) return refuseCredential(c, 'session_not_live');
  const row = callsInARow(c, agent);
  const answered: Answered[] = [];
  for (const [index, call] of calls.entries()) {
    const defect = incomplete ?? call.defect;
    const outcome = await row.propose({
      tool: call.name,
      arguments: call.arguments,
      ...(defect === undefined ? {} : { defect }),
      ...(key === undefined ? {} : { call_id: keyedCallId(key, index) }),
    });
    if ('refused' in outcome) return refuseCall(c, outcome);
    answered.push({ call, outcome });
  }
  return answered;
}
