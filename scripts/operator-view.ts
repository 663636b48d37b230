/** Reads the operator's lists to their ends. Parsing is strict: a row with a member that no hash covers is refused. */
import * as z from 'zod';
import { auditRow, type AuditRow } from '../src/gate/ledger/audit-row.ts';
import type { BookedAttempt } from './books.ts';
import type { Head, Place } from './verify-chain.ts';

const next_cursor = z.string().nullable();
const headsPage = z.object({
  heads: z.array(
    z.object({ uid: z.string(), caller_id: z.string(), session_id: z.string(), seq: z.int(), hash: z.string() }),
  ),
  next_cursor,
});
const auditPage = z.object({ rows: z.array(auditRow), next_cursor });
const ledgerPage = z.object({
  rows: z.array(z.object({ call_key: z.string(), attempt: z.int(), uid: z.string(), applied: z.boolean() })),
  next_cursor,
});

export class OperatorView {
  readonly #url: URL;
  readonly #token: string;

  constructor(url: URL, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Every row, or one session name's; each session's in the order of `seq`. */
  async *auditRows(of: Partial<Omit<Place, 'uid'>> = {}): AsyncGenerator<AuditRow> {
    for await (const { rows } of this.#pages('/admin/audit', auditPage, { ...of, limit: '500' })) yield* rows;
  }

  async *attempts(): AsyncGenerator<BookedAttempt> {
    for await (const { rows } of this.#pages('/admin/ledger', ledgerPage)) yield* rows;
  }

  async *heads(): AsyncGenerator<Head> {
    for await (const { heads } of this.#pages('/admin/audit/heads', headsPage)) yield* heads;
  }

  async *#pages<Page extends { next_cursor: string | null }>(
    path: string,
    page: z.ZodType<Page>,
    query: Record<string, string> = {},
  ): AsyncGenerator<Page> {
    let cursor: string | null = null;
    do {
      const answer = await this.#get(path, cursor === null ? query : { ...query, cursor });
      const read: Page = page.parse(await answer.json());
      yield read;
      cursor = read.next_cursor;
    } while (cursor !== null);
  }

  async #get(path: string, query: Record<string, string>): Promise<Response> {
    const url = new URL(path, this.#url);
    url.search = new URLSearchParams(query).toString();
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${this.#token}` } });
    if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  }
}
