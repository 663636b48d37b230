/** The agent's view of an approval: it may look and wait, never decide (SPEC 5). The approver's page is another file. */
import { Hono } from 'hono';
import { toOutcome, type Outcome } from '../outcome.ts';
import type { ApprovalAnswer } from '../session/rpc.ts';
import { sessionStub, type HttpEnv } from './context.ts';
import { authenticateAgent, refuseCredential } from './credentials.ts';
import { answerModelText, wantsModelText } from './model-text.ts';
import { observed } from './observed.ts';
import { problem } from './problem.ts';

type Approval = Exclude<ApprovalAnswer, { refused: string }>;

/** 0..25 seconds: shorter than the idle limit of common proxies and clients. */
const WAIT_SECONDS = /^(?:1?\d|2[0-5])$/;

export const approvals = new Hono<HttpEnv>().get('/:id', async (c) => {
  const agent = await authenticateAgent(c);
  if (agent instanceof Response) return agent;
  const wait = c.req.query('wait') ?? '0';
  if (!WAIT_SECONDS.test(wait))
    return problem(c, 'invalid-body', { reason: 'wait', detail: 'wait: expected whole seconds, 0 to 25' });

  const answer = await sessionStub(c.env, agent.caller, agent.session).approval(
    agent.uid,
    c.req.param('id'),
    Number(wait),
  );
  if (!('refused' in answer)) {
    return wantsModelText(c) ? answerModelText(c, presentOutcome(answer)) : c.json(shownApproval(answer));
  }
  switch (answer.refused) {
    case 'unauthorized':
      return refuseCredential(c, 'session_not_live');
    case 'not_found':
      return problem(c, 'not-found', { reason: 'unknown_approval' });
    case 'too_many_polls':
      return problem(c, 'too-many-requests', { reason: answer.refused });
  }
});

function shownApproval({ expires_at, decided_at, note, outcome, call_id: _c, step: _s, ...rest }: Approval) {
  return {
    ...rest,
    expires_at: isoTime(expires_at),
    ...(decided_at === null ? {} : { decided_at: isoTime(decided_at) }),
    ...(note === null ? {} : { note }),
    ...(outcome === null ? {} : { outcome: observed(outcome) }),
  };
}

/** What the call that asked for it would be told now: its result, or that it still waits (or expired). */
function presentOutcome({ outcome, call_id, tool, step, ...approval }: Approval): Outcome {
  if (outcome !== null) return observed(outcome);
  const { id, status, arguments: args, expires_at } = approval;
  const notice = { id, status, expires_at: isoTime(expires_at), arguments: args };
  return toOutcome(
    { call_id, tool, step },
    { ok: false, refusal: { code: 'CONFIRMATION_REQUIRED', approval: notice } },
  );
}

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
