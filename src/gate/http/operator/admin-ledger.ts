/** The ledger's attempts as the operator compares them with the audit: which were applied, which will never be. */
import { Hono } from 'hono';
import * as z from 'zod';
import { listAttempts } from '../../ledger/attempts.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { checkedQuery, cursor, pageLimit, pageOf, readPage } from './admin-lists.ts';
import type { HttpEnv } from '../shared/context.ts';
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

export const adminLedger = new Hono<HttpEnv>().get('/', listAttemptsRoute, checkedQuery(LedgerQuery), async (c) => {
  const { cursor, limit } = c.req.valid('query');
  const page = await readPage(c, listAttempts(ledgerSql(c.env.DB), cursor, limit));
  return page instanceof Response ? page : c.json(page);
});
