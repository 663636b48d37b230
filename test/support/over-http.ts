/** Requests to the whole Worker as operator, caller or agent. */
import { exports } from 'cloudflare:workers';

/** As vitest.config.ts binds it. */
export const ADMIN_TOKEN = 'a'.repeat(64);

export type Answer = { status: number; headers: Headers; body: Record<string, unknown> };

/** Sends JSON where there is a body; the answer's body is `{}` where it is none. */
export async function ask(
  credential: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await exports.default.fetch(`https://toolgate.test${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${credential}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = new TextDecoder().decode(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.includes('json') === true && !text.includes('\n');
  const read = isJson ? (JSON.parse(text) as Record<string, unknown>) : { text };
  return { status: response.status, headers: response.headers, body: read };
}

export const asOperator = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  ask(ADMIN_TOKEN, method, path, body, headers);

/** A caller made over HTTP with one approver, allowed to read and refund orders but for `changes`. */
export async function makeCaller(
  changes: Record<string, unknown> = {},
): Promise<{ caller_id: string; api_key: string }> {
  const { status, body } = await asOperator('POST', '/admin/callers', {
    name: 'Shop',
    allowed_tools: ['get_order', 'refund_order'],
    approvers: ['ana@shop.test'],
    ...changes,
  });
  if (status !== 201) throw new Error(`no caller: ${JSON.stringify(body)}`);
  return { caller_id: String(body['caller_id']), api_key: String(body['api_key']) };
}

/** A session of CUS-1 opened over HTTP. */
export async function openSessionOf(apiKey: string): Promise<{ session_id: string; token: string }> {
  const { status, body } = await ask(apiKey, 'POST', '/v1/sessions', { customer_id: 'CUS-1' });
  if (status !== 201) throw new Error(`no session: ${JSON.stringify(body)}`);
  return { session_id: String(body['session_id']), token: String(body['token']) };
}
