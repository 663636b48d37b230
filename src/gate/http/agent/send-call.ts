/** Brings one proposed call to its session's object and always comes back with an answer: every route that takes calls uses this. */
import type { SessionClaims } from '../../auth/tokens.ts';
import { logError } from '../../log-line.ts';
import { observe } from '../../observation/observe.ts';
import { UNSETTLED, toOutcome, type Outcome } from '../../outcome.ts';
import type { CallAnswer, CallRequest, SessionRpc } from '../../session/rpc.ts';
import { sessionStub, type HttpContext } from '../shared/context.ts';
import { refuseCredential } from '../shared/credentials.ts';
import { problem } from '../shared/problem.ts';
import { traceIdOf } from './trace-context.ts';

/** A call as a route hands it over; without a `call_id` it gets one here. */
export type Proposal = Omit<CallRequest, 'call_id'> & { call_id?: string };

export type ProposedByAgent = Pick<Proposal, 'tool' | 'arguments' | 'defect' | 'call_id'>;

/** The place of the outcome in the budget and the audit. */
export type Standing = Pick<Extract<CallAnswer, { outcome: Outcome }>, 'max_steps' | 'steps_left' | 'audit'>;

export type RefusedCall = Extract<CallAnswer, { refused: string }>;
export type Proposed = { outcome: Outcome; standing: Standing | null } | RefusedCall;

/** Proposes a call as the agent whose token came with the request. */
export async function proposeAs(c: HttpContext, agent: SessionClaims, call: ProposedByAgent): Promise<Proposed> {
  const freshStub = () => sessionStub(c.env, agent.caller, agent.session);
  const trace_id = traceIdOf(c.req.header('traceparent'));
  const proposed = await propose(freshStub, {
    ...call,
    uid: agent.uid,
    request_id: c.get('requestId'),
    ...(trace_id === undefined ? {} : { trace_id }),
  });
  c.set('isLogged', c.get('isLogged') !== false && leftLine(proposed));
  return 'refused' in proposed ? proposed : { ...proposed, outcome: observe(proposed.outcome, c.get('registry')) };
}

/** False if unknown: a replayed answer may be the row of an earlier request, whose line has that request's id. */
const leftLine = (proposed: Proposed): boolean =>
  'outcome' in proposed && proposed.standing !== null && proposed.standing.audit !== null && !proposed.outcome.replayed;

/** The answer to a call that its session does not take: no outcome, because no step was taken. */
export function refuseCall(c: HttpContext, { refused }: RefusedCall): Response | Promise<Response> {
  switch (refused) {
    case 'unauthorized':
      return refuseCredential(c, 'session_not_live');
    case 'too_many_polls':
      return problem(c, 'too-many-requests', { reason: refused });
    case 'session_exhausted':
      return problem(c, 'session-exhausted', { reason: refused });
    case 'too_many_retries':
      // Waiting does not help: that one id is used up.
      return problem(c, 'too-many-requests', { reason: refused, headers: { 'Retry-After': null } });
  }
}

/**
 * Proposes a call and, if the object dies under it, proposes it once more. The call carries its id from before the first
 * try, so that the object recognises the second as a transport retry: a refund whose answer was lost is reported, not
 * repeated. Failing twice is the outcome `UPSTREAM_UNAVAILABLE` without a step. `freshStub` makes a new stub for each try:
 * the one that saw its object die stays broken.
 */
export async function propose(freshStub: () => SessionRpc, proposal: Proposal): Promise<Proposed> {
  const call: CallRequest = { ...proposal, call_id: proposal.call_id ?? newCallId() };
  try {
    return placed(await withOneResend(freshStub, call));
  } catch {
    // Only the object knows whether an effect was sent. To say that it was is the safe answer.
    const verdict = { ok: false, refusal: UNSETTLED } as const;
    return { outcome: toOutcome({ call_id: call.call_id, tool: call.tool, step: null }, verdict), standing: null };
  }
}

async function withOneResend(freshStub: () => SessionRpc, call: CallRequest): Promise<CallAnswer> {
  try {
    return await freshStub().call(call);
  } catch (error) {
    logUnreachable(call, error, 1);
    // The platform marks an object that refuses work because it has too much of it: asking again would add to that.
    if (isOverloaded(error)) throw error;
  }
  try {
    return await freshStub().call(call);
  } catch (error) {
    logUnreachable(call, error, 2);
    throw error;
  }
}

function placed(answer: CallAnswer): Proposed {
  if ('refused' in answer) return answer;
  const { outcome, ...standing } = answer;
  return { outcome, standing };
}

const isOverloaded = (error: unknown): boolean =>
  error instanceof Error && 'overloaded' in error && error.overloaded === true;

export const newCallId = (): string => `call_${crypto.randomUUID().replaceAll('-', '')}`;

function logUnreachable({ request_id, call_id }: CallRequest, error: unknown, tries: number): void {
  logError({ event: 'session_unreachable', request_id, call_id, tries }, error);
}
