/**
 * The calls of one body, proposed one after another. A session may end while they run: what was done before is answered all
 * the same, because an agent that never learns of a refund asks for it again; the calls after it are answered here, without
 * a step.
 */
import type { SessionClaims } from '../auth/tokens.ts';
import { toOutcome, type Outcome, type Refusal } from '../outcome.ts';
import { showStanding } from './calls.ts';
import type { HttpContext } from './context.ts';
import { newCallId, proposeAs, type Proposal, type RefusedCall, type Standing } from './propose.ts';

/** More would hold a session's object, and its request, for minutes; models write a handful. */
export const MAX_CALLS = 128;

export type CallsInARow = {
  /**
   * Refused only where no call of the body was answered yet: then the body's answer is a problem. The headers show the last
   * call's standing, whose hash vouches for the rows before it.
   */
  propose(call: Pick<Proposal, 'tool' | 'arguments' | 'call_id'>): Promise<Outcome | RefusedCall>;
};

export function callsInARow(c: HttpContext, agent: SessionClaims): CallsInARow {
  let last: Standing | null = null;
  let closed: Refusal | null = null;
  return {
    async propose(call) {
      if (closed !== null) return notTaken(call, closed);
      const proposed = await proposeAs(c, agent, call);
      if ('refused' in proposed) {
        if (last === null) return proposed;
        closed = closedBy(proposed, last);
        return notTaken(call, closed);
      }
      if (proposed.standing !== null) {
        last = proposed.standing;
        showStanding(c, last);
      }
      return proposed.outcome;
    },
  };
}

const notTaken = ({ call_id, tool }: Pick<Proposal, 'tool' | 'call_id'>, refusal: Refusal): Outcome =>
  toOutcome({ call_id: call_id ?? newCallId(), tool, step: null }, { ok: false, refusal });

const closedBy = ({ refused }: RefusedCall, { max_steps }: Standing): Refusal =>
  refused === 'unauthorized' ? { code: 'SESSION_ENDED' } : { code: 'STEP_LIMIT', max_steps };
