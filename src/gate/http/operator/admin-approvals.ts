/** Approvals and their delivery as the operator sees them: never a link, and never a decision (only an approver's link decides). */
import { Hono } from 'hono';
import * as z from 'zod';
import { APPROVAL_STATUSES } from '../../outcome.ts';
import type { SessionRpc } from '../../session/rpc.ts';
import { findApproval, listApprovals, type ApprovalRow } from '../../ledger/approval-rows.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { timestamp } from '../../time.ts';
import { checkedQuery, comparedText, cursor, pageLimit, readPage } from './admin-lists.ts';
import { sessionStub, type HttpContext, type HttpEnv } from '../shared/context.ts';
import { problem } from '../shared/problem.ts';

export const ApprovalsQuery = z.strictObject({
  status: z.enum(APPROVAL_STATUSES).nullable().default(null),
  caller_id: comparedText,
  cursor,
  limit: pageLimit,
});

export const adminApprovals = new Hono<HttpEnv>()
  .get('/', checkedQuery(ApprovalsQuery), async (c) => {
    const { cursor, limit, ...filters } = c.req.valid('query');
    const page = await readPage(c, listApprovals(ledgerSql(c.env.DB), filters, cursor, limit));
    if (page instanceof Response) return page;
    return c.json({ approvals: page.rows.map(shownApproval), next_cursor: page.next_cursor });
  })
  .post('/:id/resend', (c) => actOn(c, c.req.param('id'), 'resend', { status: 'pending' }))
  .post('/:id/withdraw', (c) => actOn(c, c.req.param('id'), 'withdraw', { status: 'failed', code: 'WITHDRAWN' }));

/** Asks the session's object, which alone knows whether the approval is still pending; D1's row only says whose it is. */
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
        detail: 'none of those who were asked is an approver now: withdraw it, and have it asked for anew',
      });
  }
}

function shownApproval({
  approval_id,
  version: _version,
  opened_at,
  expires_at,
  decided_at,
  delivery,
  ...rest
}: ApprovalRow) {
  return {
    id: approval_id,
    ...rest,
    opened_at: timestamp(opened_at),
    expires_at: timestamp(expires_at),
    decided_at: decided_at === null ? null : timestamp(decided_at),
    delivery: delivery.map(({ sent_at, ...entry }) => ({
      ...entry,
      sent_at: sent_at === null ? null : timestamp(sent_at),
    })),
  };
}
