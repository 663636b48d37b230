/**
 * A provider's response in, the results of its next request out: `POST /v1/calls/{provider}` (SPEC 3). The calls of one body
 * run one after another, as their order says; each takes its step and has its outcome and audit row like any other.
 */
import { Hono } from 'hono';
import * as z from 'zod';
import type { SessionClaims } from '../auth/tokens.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { observationText } from '../observation/text.ts';
import { toOutcome, type Outcome, type Refusal } from '../outcome.ts';
import { providerNamed } from '../providers/index.ts';
import type { ProposedCall } from '../providers/provider.ts';
import { readJsonBody } from './body.ts';
import { showStanding } from './calls.ts';
import type { HttpContext, HttpEnv } from './context.ts';
import { authenticateAgent, refuseCredential } from './credentials.ts';
import { problem } from './problem.ts';
import { newCallId, proposeAs, refuseCall, type RefusedCall, type Standing } from './propose.ts';
import { agentTools } from './tools.ts';

/** A whole response with its text and reasoning, not only its calls. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Providers write a handful; what is more would hold a session's object and this request for minutes. */
const MAX_CALLS = 128;

const ResponseBody = z.custom<JsonObject>((value) => isJsonObject(value as JsonValue), 'expected an object');

export const providerCalls = new Hono<HttpEnv>().post('/:provider', async (c) => {
  const agent = await authenticateAgent(c);
  if (agent instanceof Response) return agent;
  const provider = providerNamed(c.req.param('provider'));
  if (provider === undefined) return problem(c, 'not-found', { reason: 'unknown_provider' });
  const body = await readJsonBody(c, ResponseBody, MAX_BODY_BYTES);
  if (body instanceof Response) return body;

  const calls = provider.decode(body);
  if (calls === null)
    return problem(c, 'invalid-body', { reason: 'no_calls_member', detail: `expected ${provider.takes}` });
  if (calls.length > MAX_CALLS)
    return problem(c, 'invalid-body', { reason: 'too_many_calls', detail: `expected at most ${MAX_CALLS} calls` });

  const outcomes = await outcomesOf(c, agent, calls);
  if (outcomes instanceof Response) return outcomes;
  const results = outcomes.map(({ call, outcome }) =>
    provider.result(call, { ok: outcome.ok, text: observationText(outcome) }),
  );
  return c.json({ results, outcomes: outcomes.map(({ outcome }) => outcome) });
});

type Answered = { call: ProposedCall; outcome: Outcome };

/**
 * A session may end while its calls run. What was done before is then answered all the same, because an agent that never
 * learns of a refund asks for it again; the calls after it are refused here, without a step.
 */
async function outcomesOf(c: HttpContext, agent: SessionClaims, calls: ProposedCall[]): Promise<Answered[] | Response> {
  // No call would ask the session whether its token is still good.
  if (calls.length === 0 && (await agentTools(c, agent)) === null) return refuseCredential(c, 'session_not_live');
  const answered: Answered[] = [];
  let last: Standing | null = null;
  for (const [index, call] of calls.entries()) {
    const proposed = await proposeAs(c, agent, { tool: call.name, arguments: call.arguments });
    if ('refused' in proposed) {
      if (last === null) return refuseCall(c, proposed);
      const refusal = closedBy(proposed, last);
      answered.push(...calls.slice(index).map((unheard) => ({ call: unheard, outcome: notTaken(unheard, refusal) })));
      break;
    }
    answered.push({ call, outcome: proposed.outcome });
    last = proposed.standing ?? last;
  }
  if (last !== null) showStanding(c, last);
  return answered;
}

const notTaken = (call: ProposedCall, refusal: Refusal): Outcome =>
  toOutcome({ call_id: newCallId(), tool: call.name, step: null }, { ok: false, refusal });

const closedBy = ({ refused }: RefusedCall, { max_steps }: Standing): Refusal =>
  refused === 'unauthorized' ? { code: 'SESSION_ENDED' } : { code: 'STEP_LIMIT', max_steps };
