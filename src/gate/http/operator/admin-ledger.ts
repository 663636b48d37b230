/** The ledger's attempts as the operator compares them with the audit: which were applied, which will never be. */
import { Hono } from 'hono';
import * as z from 'zod';
import { listLedger } from '../../ledger/attempts.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { checkedQuery, comparedText, cursor, pageLimit, pageOf, readPage } from './admin-lists.ts';
import type { HttpEnv } from '../shared/context.ts';
import { anyObject, describeRoute, json } from '../shared/operation.ts';

const LedgerQuery = z.strictObject({ backend: comparedText, subject: comparedText, cursor, limit: pageLimit });

const listLedgerRoute = describeRoute(() => {
  const attempt = z.strictObject({
    backend: z.string().describe("Where it was carried out: `ledger:` and the tool's books, or another system."),
    subject: z.string().describe('What it concerns, such as the order.'),
    call_key: z.string().regex(/^[0-9a-f]{64}$/),
    attempt: z.int().min(1),
    uid: z.string(),
    applied: z.boolean().describe('Else it is void and never will be.'),
    amount_cents: z.int().nullable(),
    currency: z.string().nullable(),
    answer: anyObject('What the agent was told.').nullable().describe('Null where it is void or could not be read.'),
    external_id: z.string().nullable().describe('What another system calls the effect.'),
    at: z.iso.datetime(),
  });
  const total = z.strictObject({
    backend: z.string(),
    subject: z.string(),
    currency: z.string(),
    applied_cents: z.int().describe('The sum of what was applied to the subject.'),
  });
  const totals = z.array(total).describe('Of the subjects between the first and the last row of the page.');
  const page = pageOf('AttemptPage', 'rows', attempt, { totals });
  return {
    id: 'listAttempts',
    summary: 'The attempts of the ledger: which were applied, which never will be, and what they add up to',
    credential: 'operator',
    query: LedgerQuery,
    answers: { 200: json('A page of attempts.', page) },
    problems: ['invalid-body'],
  };
});

export const adminLedger = new Hono<HttpEnv>().get('/', listLedgerRoute, checkedQuery(LedgerQuery), async (c) => {
  const { cursor, limit, ...filters } = c.req.valid('query');
  const page = await readPage(c, listLedger(ledgerSql(c.env.DB), cursor, limit, filters));
  return page instanceof Response ? page : c.json(page);
});
