/** Everything the operator may do. The credential is checked first. */
import { Hono } from 'hono';
import * as z from 'zod';
import { listAttempts } from '../../ledger/attempts.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { adminApprovals } from './admin-approvals.ts';
import { adminAudit } from './admin-audit.ts';
import { adminCallers } from './admin-callers.ts';
import { adminEffects } from './admin-effects.ts';
import { checkedQuery, cursor, pageLimit, pageOf, readPage } from './admin-lists.ts';
import { adminPauses } from './admin-pauses.ts';
import type { HttpEnv } from '../shared/context.ts';
import { operatorOnly } from '../shared/credentials.ts';
import { describeRoute, json } from '../shared/operation.ts';

const LedgerQuery = z.strictObject({ cursor, limit: pageLimit });

const listAttemptsRoute = describeRoute(() => {
  const attempt = z.strictObject({
    call_key: z.string().regex(/^[0-9a-f]{64}$/),
    attempt: z.int().min(1),
    uid: z.string(),
    applied: z.boolean().describe('Else it is void and never will be.'),
    at: z.iso.datetime(),
  });
  return {
    id: 'listAttempts',
    summary: 'The attempts of the ledger: which were applied, which never will be',
    credential: 'operator',
    query: LedgerQuery,
    answers: { 200: json('A page of attempts.', pageOf('AttemptPage', 'rows', attempt)) },
    problems: ['invalid-body'],
  };
});

export const admin = new Hono<HttpEnv>()
  .use(operatorOnly)
  .route('/callers', adminCallers)
  .route('/approvals', adminApprovals)
  .route('/audit', adminAudit)
  .route('/effects', adminEffects)
  .route('/pauses', adminPauses)
  .get('/ledger', listAttemptsRoute, checkedQuery(LedgerQuery), async (c) => {
    const { cursor, limit } = c.req.valid('query');
    const page = await readPage(c, listAttempts(ledgerSql(c.env.DB), cursor, limit));
    return page instanceof Response ? page : c.json(page);
  });
