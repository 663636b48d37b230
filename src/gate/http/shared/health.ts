/** Is it up, and can it serve: for load balancers and deploy scripts. */
import { Hono } from 'hono';
import { ledgerSql } from '../../ledger/d1.ts';
import { readNewestTable } from '../../ledger/readiness.ts';
import type { HttpEnv } from './context.ts';

/** Always 200: the Worker runs. Nothing is asked of configuration or D1, whose outage a restart would not mend. */
export const healthz = new Hono<HttpEnv>().get('/', (c) => c.json({ status: 'ok' }));

/** 200 once requests can be served. Whatever D1 throws becomes 503 where every other outage does. */
export const readyz = new Hono<HttpEnv>().get('/', async (c) => {
  await readNewestTable(ledgerSql(c.env.DB));
  return c.json({ status: 'ready' });
});
