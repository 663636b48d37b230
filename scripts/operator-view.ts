/** Reads the operator's lists to their ends. Answers are parsed strictly: a row with a member that no hash covers is none. */
import * as z from 'zod';
import { auditRow, type AuditRow } from '../src/store/audit-row.ts';
import type { Head, LedgerAttempt, Place } from './verify-chain.ts';

const next_cursor = z.string().nullable();
const headsPage = z.object({
  heads: z.array(
    z.object({ uid: z.string(), caller_id: z.string(), session_id: z.string(), seq: z.int(), hash: z.string() }),
  ),
  next_cursor,
});
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
    const { body } = await this.#get('/admin/audit', of, 'application/x-ndjson');
    if (body === null) return;
    for await (const line of linesOf(body)) yield auditRow.parse(JSON.parse(line));
  }

  async *attempts(): AsyncGenerator<LedgerAttempt> {
    for await (const { rows } of this.#pages('/admin/ledger', ledgerPage)) yield* rows;
  }

  async *heads(): AsyncGenerator<Head> {
    for await (const { heads } of this.#pages('/admin/audit/heads', headsPage)) yield* heads;
  }

  async *#pages<Page extends { next_cursor: string | null }>(
    path: string,
    page: z.ZodType<Page>,
  ): AsyncGenerator<Page> {
    let cursor: string | null = null;
    do {
      const answer = await this.#get(path, cursor === null ? {} : { cursor }, 'application/json');
      const read: Page = page.parse(await answer.json());
      yield read;
      cursor = read.next_cursor;
    } while (cursor !== null);
  }

  async #get(path: string, query: Record<string, string>, accept: string): Promise<Response> {
    const url = new URL(path, this.#url);
    url.search = new URLSearchParams(query).toString();
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${this.#token}`, Accept: accept } });
    if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  }
}

/** Ends at line feeds alone; a stream that breaks off ends in an error or in half a line, never in a shorter audit. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
