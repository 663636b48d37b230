/** Attacks with a body that is sent only after its credential, which was good at first, is good no more. */
import { createExecutionContext } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import worker from '../../src/index.ts';
import { signSessionToken } from '../../src/gate/auth/tokens.ts';
import { withoutAlarms } from '../support/inside.ts';
import { ask, asOperator, makeCaller, openSessionOf } from '../support/over-http.ts';
import { configOf } from '../support/reached.ts';
import { ledgerOf, newAgent, newOrder, refund } from '../support/session.ts';

beforeEach(() => {
  withoutAlarms();
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The answer to a body that leaves when `meanwhile` is done; its headers left before. */
async function statusOf(path: string, credential: string, body: unknown, meanwhile: () => unknown): Promise<number> {
  const slow = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await meanwhile();
      controller.enqueue(new TextEncoder().encode(JSON.stringify(body)));
      controller.close();
    },
  });
  const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' };
  const response = await exports.default.fetch(`https://toolgate.test${path}`, { method: 'POST', headers, body: slow });
  await response.arrayBuffer();
  return response.status;
}

describe('a body that outlives its session token', () => {
  const callOf = (args: object): [path: string, body: object][] => [
    ['/v1/calls', { tool: 'refund_order', arguments: args }],
    [
      '/v1/calls/openai',
      { output: [{ type: 'function_call', call_id: 'c', name: 'refund_order', arguments: JSON.stringify(args) }] },
    ],
    ['/v1/calls/openai', { output: [] }],
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'refund_order', arguments: args } }],
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ];

  it.each(callOf({}).map(([path, body], place) => ({ path, body: JSON.stringify(body), place })))(
    'is 401 and no call: $path $body',
    async ({ path, place }) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const order = await newOrder();
      const agent = await newAgent({ confirm_above_cents: 50_000 });
      const expiresAt = (Math.floor(Date.now() / 1_000) + 60) * 1_000;
      const { caller_id, session_id, uid } = agent;
      const claims = { caller: caller_id, session: session_id, uid, expiresAt };
      const token = await signSessionToken(configOf(), claims);
      const [, body] = callOf(refund(order))[place] ?? [];
      const verify = vi.spyOn(crypto.subtle, 'verify');
      const expire = async (): Promise<void> => {
        // The stream may be pulled before anybody reads it: the token must have been found good first.
        await vi.waitUntil(() => verify.mock.settledResults.at(-1)?.value === true, 10_000);
        vi.setSystemTime(expiresAt);
      };
      expect(await statusOf(path, token, body, expire)).toBe(401);
      expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 0 });
      expect(await statusOf(path, token, body, () => undefined)).toBe(401);
    },
  );
});

describe('a body that outlives its API key', () => {
  it('neither joins a session nor extends it', async () => {
    const { caller_id, api_key } = await makeCaller();
    const { session_id } = await openSessionOf(api_key);
    const kept = env.DB.prepare('SELECT uid, expires_at FROM sessions WHERE caller_id = ?').bind(caller_id);
    const before = (await kept.all()).results;
    const found = vi.spyOn(Object.getPrototypeOf(kept) as D1PreparedStatement, 'all');
    const rotate = async (): Promise<void> => {
      await vi.waitUntil(() => found.mock.settledResults.length > 0, 10_000);
      await asOperator('POST', `/admin/callers/${caller_id}/rotate`, { grace_seconds: 0 });
    };
    const again = { session_id, customer_id: 'CUS-1', ttl_seconds: 86_400 };
    expect(await statusOf('/v1/sessions', api_key, again, rotate)).toBe(401);
    vi.restoreAllMocks();
    expect((await kept.all()).results).toEqual(before);
  });

  it('opens no session beside those that were ended with the key', async () => {
    const { caller_id, api_key } = await makeCaller();
    const all = vi.spyOn(Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement, 'all');
    const rotate = async (): Promise<void> => {
      // The key must have been found good first.
      await vi.waitUntil(() => all.mock.settledResults.length > 0, 10_000);
      await asOperator('POST', `/admin/callers/${caller_id}/rotate`, { grace_seconds: 0, end_sessions: true });
    };
    expect(await statusOf('/v1/sessions', api_key, { customer_id: 'CUS-1' }, rotate)).toBe(401);
    const sessions = env.DB.prepare('SELECT uid FROM sessions WHERE caller_id = ?').bind(caller_id);
    expect((await sessions.all()).results).toEqual([]);
  });
});

describe('a body that breaks off under its reader', () => {
  it.each(['/v1/calls', '/v1/calls/openai', '/mcp'])('is no outage: %s', async (path) => {
    const errors = vi.spyOn(console, 'error').mockReturnValue();
    const { token } = await openSessionOf((await makeCaller()).api_key);
    const pieces = [new TextEncoder().encode('{"tool":')];
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.error(new Error('gone'));
        else controller.enqueue(piece);
      },
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const request = new Request(`https://toolgate.test${path}`, { method: 'POST', headers, body: broken });
    const { status } = await worker.fetch(request, env, createExecutionContext());
    expect(status).toBe(400);
    expect(errors).not.toHaveBeenCalled();
  });
});

describe('a body that is wrong', () => {
  it.each([
    ['/v1/calls', '{', {}],
    ['/v1/calls', '{}', { 'content-type': 'text/plain' }],
    ['/v1/calls', 'x'.repeat(65_537), {}],
    ['/v1/calls/openai', '{}', {}],
    ['/v1/calls/nobody', '{}', {}],
    ['/mcp', '[', {}],
    ['/mcp', JSON.stringify(Array.from({ length: 129 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))), {}],
  ])('is a bad credential first where its session has ended: %s', async (path, body, changes) => {
    const { api_key } = await makeCaller();
    const { session_id, token } = await openSessionOf(api_key);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...changes };
    const send = async () => {
      const response = await exports.default.fetch(`https://toolgate.test${path}`, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status;
    };
    expect([400, 404, 413, 415, 422]).toContain(await send());
    await ask(api_key, 'DELETE', `/v1/sessions/${session_id}`);
    expect(await send()).toBe(401);
  });

  it('stays what it is where the session cannot be asked: a 503 would have it sent again', async () => {
    const { token } = await openSessionOf((await makeCaller()).api_key);
    const tools = vi.fn(() => Promise.reject(new Error('overloaded')));
    vi.spyOn(env.SESSION, 'getByName').mockReturnValue({ tools } as unknown as ReturnType<
      typeof env.SESSION.getByName
    >);
    const { status, headers } = await ask(token, 'POST', '/v1/calls', { tool: 1 });
    expect([status, headers.has('retry-after')]).toEqual([422, false]);
    expect(tools).toHaveBeenCalledTimes(1);
  });
});
