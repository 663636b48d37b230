/**
 * The calls of one body, proposed one after another. A session may end while they run: what was done before is answered all
 * the same, because an agent that never learns of a refund asks for it again; the calls after it are answered here, without
 * a step.
 */
import type { SessionClaims } from '../../auth/tokens.ts';
import { toOutcome, type Outcome, type Refusal } from '../../outcome.ts';
import { showStanding } from './calls.ts';
import type { HttpContext } from '../shared/context.ts';
import {
  newCallId,
  proposeAs,
  type Proposal,
  type ProposedByAgent,
  type RefusedCall,
  type Standing,
} from './send-call.ts';

/** More would hold a session's object, and its request, for minutes; models write a handful. */
export const MAX_CALLS = 128;
/** A whole response with its text and reasoning, not only its calls. */
export const MAX_CALLS_BODY_BYTES = 1024 * 1024;

export type CallsInARow = {
  /**
   * Refused only where no call of the body was answered yet: then the body's answer is a problem. Of an effect whose fate is
   * unknown the agent must hear even if its session is gone by the next call. The headers show the last call's standing,
   * whose hash vouches for the rows before it.
   */
  propose(call: ProposedByAgent): Promise<Outcome | RefusedCall>;
  /** Whether any call of the body has come to its session. */
  isProposed(): boolean;
};

export function callsInARow(c: HttpContext, agent: SessionClaims): CallsInARow {
  let isProposed = false;
  let isAnswered = false;
  let last: Standing | null = null;
  let closed: Refusal | null = null;
  return {
    async propose(call) {
      if (closed !== null) return notTaken(call, closed);
      isProposed = true;
      const proposed = await proposeAs(c, agent, call);
      if ('refused' in proposed) {
        if (!isAnswered) return proposed;
        // That one id is used up; the session goes on.
        if (proposed.refused === 'too_many_retries') return notTaken(call, { code: 'CALL_ID_REUSED' });
        if (proposed.refused === 'too_many_polls') return notTaken(call, { code: 'TOO_MANY_POLLS' });
        closed = closedBy(proposed.refused, last);
        return notTaken(call, closed);
      }
      isAnswered = true;
      if (proposed.standing !== null) {
        last = proposed.standing;
        showStanding(c, last);
      }
      return proposed.outcome;
    },
    isProposed: () => isProposed,
  };
}

/** The outcome of a call that its session did not take. */
export const notTaken = ({ call_id, tool }: Pick<Proposal, 'tool' | 'call_id'>, refusal: Refusal): Outcome =>
  toOutcome({ call_id: call_id ?? newCallId(), tool, step: null }, { ok: false, refusal });

const closedBy = (refused: 'unauthorized' | 'session_exhausted', last: Standing | null): Refusal =>
  refused === 'session_exhausted' && last !== null
    ? { code: 'STEP_LIMIT', max_steps: last.max_steps }
    : { code: 'SESSION_ENDED' };
