/** Is it up, and can it serve: for load balancers and deploy scripts. */
import { Hono } from 'hono';
import * as z from 'zod';
import { ledgerSql } from '../../ledger/d1.ts';
import { readNewestTables } from '../../ledger/readiness.ts';
import type { HttpEnv } from './context.ts';
import { describeRoute, json } from './operation.ts';

const described = (id: string, summary: string, answer: string, status: string) =>
  describeRoute(() => ({
    id,
    summary,
    credential: null,
    answers: { 200: json(answer, z.strictObject({ status: z.literal(status) })) },
  }));

/** Always 200: the Worker runs. Nothing is asked of configuration or D1, whose outage a restart would not mend. */
export const healthz = new Hono<HttpEnv>().get('/', described('healthz', 'Is it up', 'It is.', 'ok'), (c) =>
  c.json({ status: 'ok' }),
);

/** Answers 200 if requests can be served. An error of D1 becomes 503 in the handler of all outages. */
export const readyz = new Hono<HttpEnv>().get(
  '/',
  described('readyz', 'Can it serve', 'It can.', 'ready'),
  async (c) => {
    await readNewestTables({ ledger: ledgerSql(c.env.DB), audit: ledgerSql(c.env.AUDIT) });
    return c.json({ status: 'ready' });
  },
);
