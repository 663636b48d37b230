/**
 * Reads the operator's lists to their ends. Parsing is strict: a row with a member that no hash covers is refused. A page is
 * asked for while the one before is worked on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { auditRow, type AuditRow } from '../src/gate/ledger/audit-row.ts';
import type { JsonObject } from '../src/gate/json.ts';
import type { BookedApproval, BookedAttempt, SubjectTotal } from './books.ts';
import type { Head, Place } from './verify-chain.ts';

/** Tries of a request that was not answered, or with a failure of the server. */
const TRIES = 3;
const PAUSE_MS = 2_000;
const ANSWER_LIMIT_MS = 60_000;

const next_cursor = z.string().nullable();
const place = z.object({ uid: z.string(), caller_id: z.string(), session_id: z.string() });
const headsPage = z.object({
  heads: z.array(
    z.union([place.extend({ seq: z.int(), hash: z.string() }), place.extend({ seq: z.null(), hash: z.null() })]),
  ),
  next_cursor,
});
const auditPage = z.object({ rows: z.array(auditRow), next_cursor });
const ledgerPage = z.object({
  rows: z.array(
    z.object({
      ...{ backend: z.string(), subject: z.string(), call_key: z.string(), attempt: z.int(), uid: z.string() },
      ...{ applied: z.boolean(), amount_cents: z.int().nullable(), currency: z.string().nullable() },
      answer: z.custom<JsonObject | null>((value) => typeof value === 'object'),
    }),
  ),
  totals: z.array(z.object({ backend: z.string(), subject: z.string(), currency: z.string(), applied_cents: z.int() })),
  next_cursor,
});
const approvalsPage = z.object({
  approvals: z.array(
    z.object({
      ...{ id: z.string(), uid: z.string(), status: z.string(), subject: z.string().nullable() },
      ...{ amount_cents: z.int().nullable(), currency: z.string().nullable(), decided_at: z.string().nullable() },
      ...{ actor: z.string().nullable(), shown: z.string().nullable() },
      delivery: z.array(z.object({ approver: z.int(), email: z.string() })),
    }),
  ),
  next_cursor,
});

export type LedgerPage = { rows: BookedAttempt[]; totals: SubjectTotal[] };

type Session = Omit<Place, 'uid'>;
/** RFC 3339 times; `from` is inclusive, `to` is not. */
export type Range = { from?: string; to?: string };
type Ask = (url: URL, init: RequestInit) => Promise<Response>;
type Query = Readonly<Record<string, string>>;

const ROWS = { limit: '500' };

export class OperatorView {
  readonly #url: URL;
  readonly #token: string;
  readonly #send: Ask;

  /** `ask` is `fetch`, unless the Worker is reached in another way. */
  constructor(url: URL, token: string, ask: Ask = fetch) {
    this.#url = url;
    this.#token = token;
    this.#send = ask;
  }

  /** Every row, one session's, or those since a time of sessions opened since another; each session's in the order of `seq`. */
  async *auditRows(of: { uid?: string; from?: string; opened_from?: string } = {}): AsyncGenerator<AuditRow> {
    for await (const { rows } of this.#pages('/admin/audit', auditPage, { ...of, ...ROWS })) yield* rows;
  }

  /** Pages of attempts with the totals of their subjects: all, or one subject's. */
  ledger = (of: { backend?: string; subject?: string } = {}): AsyncGenerator<LedgerPage> =>
    this.#pages('/admin/ledger', ledgerPage, { ...of, ...ROWS });

  async *approvals(of: Partial<Session> = {}): AsyncGenerator<BookedApproval> {
    for await (const { approvals } of this.#pages('/admin/approvals', approvalsPage, { ...of, ...ROWS }))
      yield* approvals;
  }

  /** Of the sessions opened within a time. */
  async *heads(opened: Range = {}): AsyncGenerator<Head> {
    for await (const { heads } of this.#pages('/admin/audit/heads', headsPage, { ...opened })) yield* heads;
  }

  async *#pages<Page extends { next_cursor: string | null }>(
    path: string,
    page: z.ZodType<Page>,
    query: Query,
  ): AsyncGenerator<Page> {
    const get = async (cursor: string | null): Promise<Page> =>
      page.parse(await this.#get(path, cursor === null ? query : { ...query, cursor }));
    let next: Promise<Page> | null = get(null);
    while (next !== null) {
      const read: Page = await next;
      next = read.next_cursor === null ? null : get(read.next_cursor);
      // It fails where it is awaited, unless nobody comes for it.
      next?.catch(() => undefined);
      yield read;
    }
  }

  async #get(path: string, query: Query): Promise<unknown> {
    const url = new URL(path, this.#url);
    url.search = new URLSearchParams(query).toString();
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#ask(url).catch((error: unknown) => {
        if (tries === TRIES) throw error;
        return null;
      });
      if (answer?.ok === true) return answer.json();
      if (answer !== null && (answer.status < 500 || tries === TRIES))
        throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
      await sleep(PAUSE_MS);
    }
  }

  #ask = (url: URL): Promise<Response> =>
    this.#send(url, {
      headers: { Authorization: `Bearer ${this.#token}` },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
}
