/** The audit as operators read it: in pages, as one stream to export or verify, and the heads of all chains. */
import { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import * as z from 'zod';
import type { LedgerSql } from '../../ports.ts';
import type { Head } from '../../session/rpc.ts';
import { auditRow, firstPrevious, type AuditRow } from '../../ledger/audit-row.ts';
import { listAudit, type AuditFilters } from '../../ledger/audit.ts';
import { logExport } from '../../ledger/caller-changes.ts';
import type { Page } from '../../ledger/columns.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { logError } from '../../log-line.ts';
import { inTime } from '../../time.ts';
import { sessionPage, type SessionPlace } from '../../ledger/sessions.ts';
import { checkedQuery, comparedText, comparedTime, cursor, pageLimit, pageOf, readPage } from './admin-lists.ts';
import { sessionStub, type HttpContext, type HttpEnv } from '../shared/context.ts';
import { describeRoute, json } from '../shared/operation.ts';

const NDJSON = 'application/x-ndjson';
/** Rows of one read for a stream, about a megabyte. */
const STREAM_PAGE = 500;
/** Sessions of a page of heads; their objects are asked in parallel. */
const HEADS_PAGE = 50;
/** An object that does not answer by then counts as unreadable. */
const REACH_MS = 10_000;

export const AuditQuery = z.strictObject({
  uid: comparedText,
  opened_from: comparedTime,
  session_id: comparedText,
  caller_id: comparedText,
  tool: comparedText,
  code: comparedText,
  from: comparedTime,
  to: comparedTime,
  cursor,
  limit: pageLimit,
});
const HeadsQuery = z.strictObject({ from: comparedTime, to: comparedTime, cursor });

const HASH = /^[0-9a-f]{64}$/;

const listRows = describeRoute(() => {
  const { shape } = auditRow;
  // Narrower than the schema that reads rows, which must accept rows that were tampered with.
  const row = auditRow.extend({
    seq: shape.seq.min(1),
    at: z.iso.datetime(),
    duration_ms: shape.duration_ms.min(0),
    hash: shape.hash.regex(HASH).describe(shape.hash.description ?? ''),
  });
  const page = pageOf('AuditPage', 'rows', row.meta({ id: 'AuditRow' }));
  return {
    id: 'listAudit',
    summary: 'The audit: the newest session first, its rows by seq',
    description: 'With `Accept: application/x-ndjson` all rows come as one stream, one JSON a line.',
    credential: 'operator',
    query: AuditQuery,
    answers: {
      200: { description: 'A page of rows.', content: { 'application/json': { schema: page }, [NDJSON]: {} } },
    },
    problems: ['invalid-body'],
  };
});

const listHeads = describeRoute(() => {
  const head = z.strictObject({
    uid: z.string(),
    caller_id: z.string(),
    session_id: z.string(),
    seq: z.int().min(0).nullable().describe('Null where the object could not be read.'),
    hash: z.string().regex(HASH).nullable(),
  });
  return {
    id: 'listChainHeads',
    summary: "Where each session's chain ends, by the word of its object",
    description: 'Newest session first. `from` and `to` choose by the time of opening.',
    credential: 'operator',
    query: HeadsQuery,
    answers: { 200: json('A page of heads.', pageOf('ChainHeads', 'heads', head)) },
    problems: ['invalid-body'],
  };
});

export const adminAudit = new Hono<HttpEnv>()
  .get('/', listRows, checkedQuery(AuditQuery), async (c) => {
    const { cursor, limit, ...filters } = c.req.valid('query');
    const sql = ledgerSql(c.env.AUDIT);
    const streamed = wantsStream(c);
    const page = await readPage(c, listAudit(sql, filters, cursor, streamed ? STREAM_PAGE : limit));
    if (page instanceof Response) return page;
    if (!streamed) return c.json(page);
    await logExport(ledgerSql(c.env.DB), Date.now(), c.get('requestId'));
    return c.body(linesOf(sql, filters, page), 200, { 'Content-Type': NDJSON });
  })
  .get('/heads', listHeads, checkedQuery(HeadsQuery), async (c) => {
    const { cursor, ...opened } = c.req.valid('query');
    const page = await readPage(c, sessionPage(ledgerSql(c.env.DB), cursor, HEADS_PAGE, opened));
    if (page instanceof Response) return page;
    return c.json({ heads: await headsOf(c.env, page.rows), next_cursor: page.next_cursor });
  });

const wantsStream = (c: HttpContext): boolean =>
  accepts(c, { header: 'Accept', supports: ['application/json', NDJSON], default: 'application/json' }) === NDJSON;

/** All rows from `first` on, one JSON a line. A page is read after the client took the one before, so nothing piles up. */
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

type ListedHead = SessionPlace & (Pick<Head, 'seq' | 'hash'> | { seq: null; hash: null });

/**
/**
 * The end of each session's chain, asked of its object and not of D1, to detect rows that were cut off at the end. An object
 * that died before its first row has an empty chain. One that cannot be read must not hide the others.
 */
async function headsOf(env: Env, places: SessionPlace[]): Promise<ListedHead[]> {
  return Promise.all(
    places.map(async (place) => {
      const { caller_id, session_id, uid } = place;
      let heads: Head[];
      try {
        heads = await inTime(sessionStub(env, caller_id, session_id).heads(), REACH_MS);
      } catch (error) {
        logError({ event: 'head_unreadable', uid }, error);
        return { ...place, seq: null, hash: null };
      }
      const head = heads.find((candidate) => candidate.uid === uid);
      const { seq, hash } = head ?? { seq: 0, hash: firstPrevious(caller_id, session_id, uid) };
      return { ...place, seq, hash };
    }),
  );
}
