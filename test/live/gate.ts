/** The built Worker as operator, host, agent and approver meet it: over HTTP, and ready for it to die at any moment. */
import { decodeJwt } from 'jose';
import * as z from 'zod';
import { mailsUrl } from '../../scripts/local-mails.ts';
import { ADMIN_TOKEN } from './built-worker.ts';

const ANSWER_LIMIT_MS = 30_000;
const MAILS_LIMIT_MS = 5_000;

export type Json = Record<string, unknown>;

/** No answer came: what was asked may have been done or not. */
export class Unanswered extends Error {}
class TimedOut extends Error {}

const outcome = z.object({
  call_id: z.string(),
  ok: z.boolean(),
  code: z.string(),
  step: z.int().nullable(),
  replayed: z.boolean(),
  data: z.record(z.string(), z.unknown()).optional(),
  message: z.string().optional(),
  approval: z.object({ id: z.string(), status: z.string() }).optional(),
});

/** `audit` is the evidence a host can keep: the place of the call's row and its hash. */
export type Told = z.output<typeof outcome> & { audit: { seq: number; hash: string } };

/** What a session was opened with: narrower than its caller's policy. */
type Limits = { max_session_refund_cents?: number };

export type Session = { caller_id: string; session_id: string; uid: string; token: string; limits: Limits };

export class Gate {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async newCaller(policy: Json): Promise<{ caller_id: string; api_key: string }> {
    const body = { approvers: ['ana@shop.test'], customer_scope: 'any', ...policy };
    const { json } = await this.#send('/admin/callers', ADMIN_TOKEN, body);
    return z.object({ caller_id: z.string(), api_key: z.string() }).parse(json);
  }

  async open(
    caller: { caller_id: string; api_key: string },
    session_id: string,
    limits: Limits = {},
  ): Promise<Session> {
    const { json } = await this.#send('/v1/sessions', caller.api_key, { session_id, ttl_seconds: 86_400, ...limits });
    const { token } = z.object({ token: z.string() }).parse(json);
    const claims: unknown = decodeJwt(token);
    const { uid } = z.object({ uid: z.string() }).parse(claims);
    return { caller_id: caller.caller_id, session_id, token, uid, limits };
  }

  async call(token: string, call: { tool: string; arguments: Json; call_id: string }): Promise<Told> {
    const { json, headers } = await this.#send('/v1/calls', token, call);
    const [, seq, hash = ''] = /^(\d+):([0-9a-f]{64})$/.exec(headers.get('toolgate-audit') ?? '') ?? [];
    return { ...outcome.parse(json), audit: { seq: Number(seq), hash } };
  }

  async approvalStatus(token: string, id: string): Promise<string> {
    const { json } = await this.#send(`/v1/approvals/${id}`, token);
    return z.object({ status: z.string() }).parse(json).status;
  }

  /** False where the approval has not travelled to the operator's list yet, or is no longer pending. */
  async resend(id: string): Promise<boolean> {
    const answer = await this.#fetch(`/admin/approvals/${id}/resend`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    if (answer.status >= 500) throw new Error(`resend answered ${answer.status}`);
    return answer.status === 200;
  }

  /** The mails since the Worker started, as wrangler lists them; none where they cannot be looked at just now. */
  async mails(): Promise<{ id: string; subject: string }[]> {
    const answer = await this.#mailbox('per_page=100');
    if (answer === null) return [];
    const listed = z.object({ result: z.array(z.object({ messageId: z.string(), subject: z.string() })) });
    return listed.parse(JSON.parse(answer)).result.map(({ messageId, subject }) => ({ id: messageId, subject }));
  }

  /** Null where the mail cannot be looked at just now. */
  async linkInMail(id: string): Promise<string | null> {
    const answer = await this.#mailbox(`email_id=${encodeURIComponent(id)}`);
    if (answer === null) return null;
    const { text } = z.object({ result: z.object({ text: z.string() }) }).parse(JSON.parse(answer)).result;
    return /\/approvals\/\S+\?t=[\w.-]+/.exec(text)?.[0] ?? null;
  }

  /** What the approver's page shows, as its form sends it back. */
  async shownOnPage(link: string): Promise<string> {
    const { text } = await this.#page(link);
    return /name="shown" value="([^"]+)"/.exec(text)?.[1] ?? '';
  }

  /** Sends the page's form; the status of the answer. */
  async decide(link: string, form: { decision: string; phrase: string; shown: string }): Promise<number> {
    const answer = await this.#page(link, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: this.url },
      body: new URLSearchParams({ ...form, note: '' }),
    });
    return answer.status;
  }

  /** Null where wrangler's mailbox, no part of the product, hangs: now and then it does. */
  async #mailbox(query: string): Promise<string | null> {
    try {
      return (await this.#fetch(`${mailsUrl('')}?${query}`, {}, MAILS_LIMIT_MS)).text;
    } catch (error) {
      if (error instanceof TimedOut) return null;
      throw error;
    }
  }

  /** Whatever a person does at whatever moment, the page has an answer: refusals are answers, failures are not. */
  async #page(link: string, init?: RequestInit): Promise<{ status: number; text: string }> {
    const answer = await this.#fetch(link, init);
    if (answer.status >= 500) throw new Error(`a page answered ${answer.status}: ${answer.text}`);
    return answer;
  }

  /** Throws on anything but a success: these requests are all good ones. */
  async #send(path: string, credential: string, body?: Json): Promise<{ json: unknown; headers: Headers }> {
    const headers = { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const { status, headers: received, text } = await this.#fetch(path, init);
    if (status !== 200 && status !== 201) throw new Error(`${path} answered ${status}: ${text}`);
    return { json: JSON.parse(text), headers: received };
  }

  async #fetch(
    path: string,
    init: RequestInit = {},
    limitMs = ANSWER_LIMIT_MS,
  ): Promise<{ status: number; headers: Headers; text: string }> {
    try {
      const answer = await fetch(`${this.url}${path}`, { ...init, signal: AbortSignal.timeout(limitMs) });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError')
        throw new TimedOut(`${path} was not answered within ${limitMs / 1_000} seconds`, { cause: error });
      throw new Unanswered(path, { cause: error });
    }
  }
}
