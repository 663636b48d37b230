/** Parked refunds as their approvers and agents reach them over HTTP: links as mails hold them, tokens as hosts hold them. */
import { env, exports } from 'cloudflare:workers';
import { signSessionToken } from '../../src/auth/tokens.ts';
import { readConfig, type Config } from '../../src/env.ts';
import type { Parked } from './approver.ts';
import type { Agent } from './session.ts';

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
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** What the page's own form posts when the whole of it is filled in. */
export const APPROVAL = { decision: 'approve', phrase: '25.90', note: '', refunded_cents: '0' };

export const submit = (
  link: string,
  form: Record<string, string> = APPROVAL,
  headers: Record<string, string> = {},
): Promise<Seen> =>
  visit(link, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: String(new URLSearchParams(form)),
  });

/** A page without what is random in each. */
export const unnonced = ({ status, text }: Seen): string => `${status} ${text.replaceAll(/nonce="[^"]*"/g, '')}`;
