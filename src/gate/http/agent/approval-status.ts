/** The agent's view of an approval: it may look and wait, never decide (docs/specification.md#asking-about-an-approval). The approver's page is another file. */
import { Hono } from 'hono';
import * as z from 'zod';
import { observe } from '../../observation/observe.ts';
import type { ApprovalAnswer } from '../../session/rpc.ts';
import { timestamp } from '../../time.ts';
import { refuseQuery } from '../shared/body.ts';
import { sessionStub, type HttpContext, type HttpEnv } from '../shared/context.ts';
import { authenticateAgent, refuseAgent, refuseCredential } from '../shared/credentials.ts';
import { answerModelText, wantsModelText } from './model-text.ts';
import { describeRoute } from '../shared/operation.ts';
import { approvalNotice, outcome } from './outcome-schema.ts';
import { problem } from '../shared/problem.ts';

type Approval = Exclude<ApprovalAnswer, { refused: string }>;

/** Shorter than the idle limit of common proxies and clients. */
const WaitSeconds = z
  .string()
  .regex(/^(?:1?\d|2[0-5])$/, 'must be whole seconds, 0 to 25')
  .default('0')
  .describe('Answers at a change, or after so many seconds (0 to 25).');
export const ApprovalQuery = z.strictObject({ wait: WaitSeconds });

const getApproval = describeRoute(() => {
  const count = z.int().min(0);
  const approval = z.strictObject({
    ...approvalNotice().shape,
    tool: z.string(),
    decided_at: z.iso.datetime().exactOptional(),
    note: z.string().exactOptional().describe('What the person who rejected it wrote.'),
    sends: z.int().min(1).exactOptional().describe('How often it was sent to another system.'),
    last_send_at: z.iso.datetime().exactOptional(),
    delivery: z
      .strictObject({ asked: count, sent: count, undeliverable: count })
      .describe('Approvers asked, mails that left, and mails that never will.'),
    outcome: outcome().exactOptional().describe('What the call would be told now that it is decided.'),
  });
  return {
    id: 'getApproval',
    summary: 'How an approval of this session stands',
    description: 'With `Accept: text/plain` the answer is the text for the model.',
    credential: 'agent',
    query: ApprovalQuery,
    answers: {
      200: {
        description: 'The approval.',
        content: { 'application/json': { schema: approval.meta({ id: 'Approval' }) }, 'text/plain': {} },
      },
    },
    problems: ['invalid-body', 'not-found'],
  };
});

export const approvals = new Hono<HttpEnv>().get('/:id', getApproval, async (c) => {
  const agent = await authenticateAgent(c);
  if (agent instanceof Response) return agent;
  const query = ApprovalQuery.safeParse(c.req.query());
  if (!query.success) return refuseAgent(c, agent, refuseQuery(c, query.error));

  const answer = await sessionStub(c.env, agent.caller, agent.session).approval(
    agent.uid,
    c.req.param('id'),
    Number(query.data.wait),
  );
  if (!('refused' in answer)) {
    return wantsModelText(c)
      ? answerModelText(c, observe(answer.outcome, c.get('registry')))
      : c.json(shownApproval(c, answer));
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

/** `outcome` is there once there is a result to hand to the model: until then it would only say to wait. */
function shownApproval(c: HttpContext, { expires_at, decided_at, note, sent, outcome, ...rest }: Approval) {
  const isOpen = rest.status === 'pending' || rest.status === 'approved';
  return {
    ...rest,
    expires_at: timestamp(expires_at),
    ...(decided_at === null ? {} : { decided_at: timestamp(decided_at) }),
    ...(note === null ? {} : { note }),
    ...(sent === null ? {} : { sends: sent.sends, last_send_at: timestamp(sent.last_send_at) }),
    ...(isOpen ? {} : { outcome: observe(outcome, c.get('registry')) }),
  };
}
