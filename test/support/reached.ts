/** Sessions and parked refunds as agents and approvers reach them over HTTP: tokens as hosts hold them, links as mails hold them. */
import { env, exports } from 'cloudflare:workers';
import { signSessionToken } from '../../src/gate/auth/tokens.ts';
import { readConfig, type Config } from '../../src/gate/env.ts';
import type { Parked } from './approver.ts';
import type { Answer } from './over-http.ts';
import { newAgent, type Agent } from './session.ts';

export const ORIGIN = 'https://toolgate.test';

/** The Worker's own configuration, changed as another deployment's might be. */
export function configOf(changes: Record<string, string> = {}): Config {
  const reading = readConfig({ ...env, ...changes });
  if (!reading.ok) throw new Error('the variables are not good');
  return reading.config;
}

export const tokenOf = ({ caller_id, session_id, uid }: Agent): Promise<string> =>
  signSessionToken(configOf(), { caller: caller_id, session: session_id, uid, expiresAt: Date.now() + 3_600_000 });

/** The link in the mail to one approver, and its token. */
export async function mailedLink({ agent, id }: Parked, approver = 0): Promise<{ link: string; token: string }> {
  const task = await agent.stub().mailTask({ type: 'approval', object: agent.object, approval_id: id, approver });
  if (task?.kind !== 'approval') throw new Error('nobody is asked');
  return { link: task.link, token: new URL(task.link).searchParams.get('t') ?? '' };
}

export type Seen = { status: number; headers: Headers; text: string };

/** Redirects are not followed. A path is the deployment's own, a URL may be any. */
export async function visit(where: string, init: RequestInit = {}): Promise<Seen> {
  const url = where.startsWith('/') ? `${ORIGIN}${where}` : where;
  const response = await exports.default.fetch(new Request(url, { redirect: 'manual', ...init }));
  return {
    status: response.status,
    headers: response.headers,
    text: new TextDecoder().decode(await response.arrayBuffer()),
  };
}

/** What a person fills in to approve a refund of 25.90. */
export const APPROVAL = { decision: 'approve', phrase: '25.90', note: '' };

/** What the page shows, as its own form holds it; nothing where there is no form. */
async function shownOn(link: string): Promise<string> {
  const { text } = await visit(link);
  return /name="shown" value="([^"]*)"/.exec(text)?.[1] ?? '';
}

/** Posts the page's form with what it holds now, unless `form` says otherwise. */
export async function submit(
  link: string,
  form: Record<string, string> = APPROVAL,
  headers: Record<string, string> = {},
): Promise<Seen> {
  const filled = { shown: form['shown'] ?? (await shownOn(link)), ...form };
  return visit(link, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: String(new URLSearchParams(filled)),
  });
}

/** A page without what is random in each. */
export const unnonced = ({ status, text }: Seen): string => `${status} ${text.replaceAll(/nonce="[^"]*"/g, '')}`;

const ALL_TOOLS = [
  'calculator',
  'count_documents',
  'get_order',
  'lookup_document',
  'refund_order',
  'search_transactions',
];

/** A session of all tools that no budget ends, and calls of its agent; a text is sent as it is. */
export async function freeAgent(): Promise<{ agent: Agent; token: string; call: (body: unknown) => Promise<Answer> }> {
  const agent = await newAgent({ allowed_tools: ALL_TOOLS, max_steps: 1_000, max_duplicate_calls: 1_000 });
  const token = await tokenOf(agent);
  return { agent, token, call: (body) => sendAs(token, '/v1/calls', body) };
}

export async function sendAs(credential: string, path: string, body: unknown, method = 'POST'): Promise<Answer> {
  const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const seen = await visit(path, { method, headers, body: text });
  return { ...seen, body: seen.text === '' ? {} : (JSON.parse(seen.text) as Record<string, unknown>) };
}

/** The code of an outcome, or the status of a request that was no call. */
export const codeOf = ({ status, body }: Answer): unknown => (status === 200 ? body['code'] : status);
