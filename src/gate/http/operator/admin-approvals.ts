/** Approvals and their delivery as the operator sees them: never a link, and never a decision (only an approver's link decides). */
import { Hono } from 'hono';
import * as z from 'zod';
import { APPROVAL_STATUSES } from '../../outcome.ts';
import type { SessionRpc } from '../../session/rpc.ts';
import { findApproval, listApprovals, type ApprovalRow } from '../../ledger/approval-rows.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { timestamp } from '../../time.ts';
import { checkedQuery, comparedText, cursor, orNull, pageLimit, pageOf, readPage } from './admin-lists.ts';
import { sessionStub, type HttpContext, type HttpEnv } from '../shared/context.ts';
import { describeRoute, json, once, type Operation } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';

const ApprovalsQuery = z.strictObject({
  status: orNull(z.enum(APPROVAL_STATUSES)),
  caller_id: comparedText,
  session_id: comparedText,
  cursor,
  limit: pageLimit,
});

const approvalAction = once(() =>
  z
    .strictObject({ id: z.string(), status: z.enum(APPROVAL_STATUSES), code: z.string().exactOptional() })
    .meta({ id: 'ApprovalAction' }),
);

const listOperation = describeRoute(() => {
  const approval = z.strictObject({
    id: z.string(),
    uid: z.string().describe("The session's own id."),
    caller_id: z.string(),
    session_id: z.string(),
    tool: z.string(),
    subject: z.string().nullable().describe('What the effect is about, such as the order.'),
    amount_cents: z.int().nullable(),
    currency: z.string().nullable(),
    status: z.enum(APPROVAL_STATUSES),
    code: z.string().nullable().describe('Why it failed.'),
    opened_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    decided_at: z.iso.datetime().nullable(),
    actor: z.string().nullable().describe('Who decided.'),
    note: z.string().nullable().describe('Why it was rejected.'),
    shown: z.string().nullable().describe('Digests of the facts that the approver saw; null before the decision.'),
    delivery: z.array(
      z.strictObject({
        approver: z.int(),
        email: z.string(),
        sent_at: z.iso.datetime().nullable(),
        undeliverable: z.boolean(),
      }),
    ),
  });
  return {
    id: 'listApprovals',
    summary: 'Approvals and the delivery of their mails, newest first',
    credential: 'operator',
    query: ApprovalsQuery,
    answers: { 200: json('A page of approvals; never a link.', pageOf('ApprovalList', 'approvals', approval)) },
    problems: ['invalid-body'],
  };
});

const action =
  (id: string, summary: string, done: string): (() => Operation) =>
  () => ({
    id,
    summary,
    credential: 'operator',
    answers: { 200: json(done, approvalAction()) },
    problems: ['not-found', 'session-conflict'],
  });

const resendOperation = describeRoute(
  action('resendApproval', 'Sends the mails of a pending approval again', 'They are on their way.'),
);
const withdrawOperation = describeRoute(action('withdrawApproval', 'Withdraws a pending approval', 'Withdrawn.'));

export const adminApprovals = new Hono<HttpEnv>()
  .get('/', listOperation, checkedQuery(ApprovalsQuery), async (c) => {
    const { cursor, limit, ...filters } = c.req.valid('query');
    const page = await readPage(c, listApprovals(ledgerSql(c.env.DB), filters, cursor, limit));
    if (page instanceof Response) return page;
    return c.json({ approvals: page.rows.map(shownApproval), next_cursor: page.next_cursor });
  })
  .post('/:id/resend', resendOperation, (c) => actOn(c, c.req.param('id'), 'resend', { status: 'pending' }))
  .post('/:id/withdraw', withdrawOperation, (c) =>
    actOn(c, c.req.param('id'), 'withdraw', { status: 'failed', code: 'WITHDRAWN' }),
  );

/** D1's row names the session, and only its object knows whether the approval is still pending. */
async function actOn(
  c: HttpContext,
  id: string,
  action: keyof Pick<SessionRpc, 'resend' | 'withdraw'>,
  result: { status: string; code?: string },
): Promise<Response> {
  const approval = await findApproval(ledgerSql(c.env.DB), id);
  if (approval === null) return problem(c, 'not-found', { reason: 'unknown_approval' });
  const session = sessionStub(c.env, approval.caller_id, approval.session_id);
  switch (await session[action](id, c.get('requestId'))) {
    case 'done':
      return c.json({ id, ...result });
    case 'not_found':
      return problem(c, 'not-found', { reason: 'forgotten_approval' });
    case 'not_pending':
      return problem(c, 'session-conflict', { reason: 'not_pending', detail: 'the approval is no longer pending' });
    case 'nobody_to_ask':
      return problem(c, 'session-conflict', {
        reason: 'nobody_to_ask',
        detail: 'no one who was asked is still an approver: withdraw the approval, then let the agent call again',
      });
  }
}

const timeOrNull = (at: number | null): string | null => (at === null ? null : timestamp(at));

const shownApproval = ({ approval_id: id, version: _version, ...row }: ApprovalRow) => ({
  id,
  ...row,
  opened_at: timestamp(row.opened_at),
  expires_at: timestamp(row.expires_at),
  decided_at: timeOrNull(row.decided_at),
  delivery: row.delivery.map((mail) => ({ ...mail, sent_at: timeOrNull(mail.sent_at) })),
});
