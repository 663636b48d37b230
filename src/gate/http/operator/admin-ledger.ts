/** The ledger's attempts as the operator compares them with the audit: which were applied, which will never be. */
import { Hono } from 'hono';
import * as z from 'zod';
import { listAttempts } from '../../ledger/attempts.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { checkedQuery, cursor, pageLimit, readPage } from './admin-lists.ts';
import type { HttpEnv } from '../shared/context.ts';

export const LedgerQuery = z.strictObject({ cursor, limit: pageLimit });

export const adminLedger = new Hono<HttpEnv>().get('/', checkedQuery(LedgerQuery), async (c) => {
  const { cursor, limit } = c.req.valid('query');
  const page = await readPage(c, listAttempts(ledgerSql(c.env.DB), cursor, limit));
  return page instanceof Response ? page : c.json(page);
});
