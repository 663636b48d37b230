/** The audit as operators read it: in pages, as one stream to export or verify, and the heads of all chains. */
import { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import * as z from 'zod';
import type { LedgerSql } from '../../ports.ts';
import type { Head } from '../../session/rpc.ts';
import { firstPrevious, type AuditRow } from '../../ledger/audit-row.ts';
import { listAudit, type AuditFilters } from '../../ledger/audit.ts';
import { logExport } from '../../ledger/caller-changes.ts';
import type { Page } from '../../ledger/columns.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { sessionPage, type SessionPlace } from '../../ledger/sessions.ts';
import { checkedQuery, comparedText, comparedTime, cursor, pageLimit, readPage } from './admin-lists.ts';
import { sessionStub, type HttpContext, type HttpEnv } from '../shared/context.ts';

const NDJSON = 'application/x-ndjson';
/** Rows read from D1 at a time for a stream: about a megabyte. */
const STREAM_PAGE = 500;
/** Sessions whose objects are asked for one page of heads, all at once. */
const HEADS_PAGE = 50;

export const AuditQuery = z.strictObject({
  session_id: comparedText,
  caller_id: comparedText,
  tool: comparedText,
  code: comparedText,
  from: comparedTime,
  to: comparedTime,
  cursor,
  limit: pageLimit,
});
export const HeadsQuery = z.strictObject({ cursor });

export const adminAudit = new Hono<HttpEnv>()
  .get('/', checkedQuery(AuditQuery), async (c) => {
    const { cursor, limit, ...filters } = c.req.valid('query');
    const sql = ledgerSql(c.env.DB);
    const streamed = wantsStream(c);
    const page = await readPage(c, listAudit(sql, filters, cursor, streamed ? STREAM_PAGE : limit));
    if (page instanceof Response) return page;
    if (!streamed) return c.json(page);
    await logExport(sql, Date.now(), c.get('requestId'));
    return c.body(linesOf(sql, filters, page), 200, { 'Content-Type': NDJSON });
  })
  .get('/heads', checkedQuery(HeadsQuery), async (c) => {
    const page = await readPage(c, sessionPage(ledgerSql(c.env.DB), c.req.valid('query').cursor, HEADS_PAGE));
    if (page instanceof Response) return page;
    return c.json({ heads: await headsOf(c.env, page.rows), next_cursor: page.next_cursor });
  });

const wantsStream = (c: HttpContext): boolean =>
  accepts(c, { header: 'Accept', supports: ['application/json', NDJSON], default: 'application/json' }) === NDJSON;

/** All rows from `first` on, one JSON a line. A page is read when the client has taken the one before: nothing piles up. */
function linesOf(sql: LedgerSql, filters: AuditFilters, first: Page<AuditRow>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let page: Page<AuditRow> | null = first;
  return new ReadableStream({
    async pull(controller) {
      if (page === null) return controller.close();
      controller.enqueue(encoder.encode(page.rows.map((row) => `${JSON.stringify(row)}\n`).join('')));
      page = page.next_cursor === null ? null : await listAudit(sql, filters, page.next_cursor, STREAM_PAGE);
    },
  });
}

type ListedHead = SessionPlace & Pick<Head, 'seq' | 'hash'>;

/**
 * Where each session's chain ends, by the word of its object and not of D1: rows that were cut off at the end are missed by
 * nothing else. An object that died before its first row has none, and its chain is as long as its name.
 */
async function headsOf(env: Env, places: SessionPlace[]): Promise<ListedHead[]> {
  return Promise.all(
    places.map(async (place) => {
      const { caller_id, session_id, uid } = place;
      const heads = await sessionStub(env, caller_id, session_id).heads();
      const head = heads.find((candidate) => candidate.uid === uid);
      const { seq, hash } = head ?? { seq: 0, hash: firstPrevious(caller_id, session_id, uid) };
      return { ...place, seq, hash };
    }),
  );
}
