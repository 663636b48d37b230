import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { app } from '../support/tools.ts';

const ORIGIN = 'https://toolgate.test';
const CALLS = `${ORIGIN}/v1/calls`;
const MIB = 1024 * 1024;

const bindings = (changes: Record<string, unknown> = {}) => ({
  PUBLIC_URL: ORIGIN,
  ADMIN_TOKEN: 'a'.repeat(64),
  TOOLGATE_SECRET: 'b'.repeat(64),
  MAIL_FROM: 'gate@toolgate.test',
  FAILED_CREDENTIALS: { limit: async () => ({ success: true }) },
  ...changes,
});

const brokenD1 = {
  prepare: () => {
    throw new Error('no such table: approvals, asked for ORD-1001');
  },
};

const read = async (response: Response) => {
  const body = await response.json<{ type: string; title: string; status: number }>();
  return { status: response.status, slug: body.type.replace(`${ORIGIN}/docs/problems/`, ''), body };
};

describe('app', () => {
  let logged: string[];
  beforeEach(() => {
    logged = [];
    const note = (line: unknown) => void logged.push(String(line));
    vi.spyOn(console, 'log').mockImplementation(note);
    vi.spyOn(console, 'error').mockImplementation(note);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  const lastLine = () => JSON.parse(logged.at(-1) ?? '{}') as Record<string, unknown>;

  describe('while a variable is missing or short', () => {
    const unconfigured = bindings({ TOOLGATE_SECRET: 'short' });

    it.each(['/', '/readyz', '/v1/calls', '/admin/callers', '/docs/problems', '/approvals/apr_1', '/nowhere'])(
      'answers %s with 503',
      async (path) => {
        const { status, body } = await read(await app.request(ORIGIN + path, {}, unconfigured));
        expect({ status, type: body.type }).toEqual({ status: 503, type: `${ORIGIN}/docs/problems/not-configured` });
      },
    );

    it('answers with a relative type while it does not know its own name', async () => {
      const { body } = await read(await app.request(CALLS, {}, bindings({ PUBLIC_URL: 'toolgate.test' })));
      expect(body.type).toBe('/docs/problems/not-configured');
    });

    it('names what is missing in the log only', async () => {
      const response = await app.request(`${ORIGIN}/readyz`, {}, unconfigured);
      expect(await response.text()).not.toContain('TOOLGATE_SECRET');
      expect(lastLine()['reason']).toBe(
        'TOOLGATE_SECRET: missing or not at least 32 bytes in hex or base64, as openssl rand -hex 32 makes them',
      );
    });

    it('is healthy', async () => {
      expect((await app.request(`${ORIGIN}/healthz`, {}, unconfigured)).status).toBe(200);
    });
  });

  it('serves its own Host with the default port written out', async () => {
    const headers = { Host: 'toolgate.test:443' };
    expect((await app.request(CALLS, { method: 'POST', headers }, bindings())).status).toBe(401);
  });

  it.each([
    ['a foreign URL host', 'https://evil.test/v1/calls', {}],
    ['plain http', 'http://toolgate.test/v1/calls', {}],
    ['a foreign Host header', CALLS, { Host: 'evil.test' }],
    ['another port', CALLS, { Host: 'toolgate.test:8443' }],
    ["another scheme's port", CALLS, { Host: 'toolgate.test:80' }],
    ['a longer name', CALLS, { Host: 'toolgate.test.evil.test' }],
  ])('does not serve %s', async (_name, url, headers) => {
    expect(await read(await app.request(url, { method: 'POST', headers }, bindings()))).toMatchObject({
      status: 421,
      slug: 'misdirected',
    });
    expect(lastLine()['reason']).toBe(url.startsWith('http:') ? 'foreign_scheme' : 'foreign_host');
  });

  it('is healthy under any host', async () => {
    expect((await app.request('http://10.0.0.7/healthz', {}, bindings())).status).toBe(200);
  });

  it('is ready once both databases have their newest tables', async () => {
    const good = { prepare: () => ({ bind: () => ({ all: async () => ({ results: [] }) }) }) };
    const ask = async (databases: Record<string, unknown>) =>
      (await app.request(`${ORIGIN}/readyz`, {}, bindings(databases))).status;
    expect(await ask({ DB: good, AUDIT: good })).toBe(200);
    expect(await ask({ DB: good, AUDIT: brokenD1 })).toBe(503);
    expect(await ask({ DB: brokenD1, AUDIT: good })).toBe(503);
  });

  it('answers an outage with 503 and the id that finds it in the log, without the message', async () => {
    const response = await app.request(`${ORIGIN}/readyz`, {}, bindings({ DB: brokenD1, AUDIT: brokenD1 }));
    expect(await read(response)).toMatchObject({ status: 503, slug: 'unavailable' });
    expect(response.headers.get('retry-after')).toBe('5');
    const error = logged.find((line) => line.includes('"event":"error"'));
    expect(error).toContain(response.headers.get('x-request-id'));
    expect(logged.join('')).not.toContain('ORD-1001');
  });

  it.each([
    ['GET', '/v1/calls', 'POST'],
    ['HEAD', '/v1/calls', 'POST'],
    ['OPTIONS', '/v1/sessions', 'POST'],
    ['PUT', '/v1/sessions/chat-1', 'DELETE'],
    ['POST', '/v1/tools', 'GET, HEAD'],
    ['DELETE', '/healthz', 'GET, HEAD'],
  ])('answers %s %s with 405 and what is allowed', async (method, path, allowed) => {
    const response = await app.request(ORIGIN + path, { method }, bindings());
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({ status: 405, allow: allowed });
  });

  it.each(['/', '/v1', '/v1/calls//', '/V1/calls', '/v1/sessions/a/b', '/%ff'])('knows nothing at %s', async (path) => {
    expect(await read(await app.request(ORIGIN + path, { method: 'GET' }, bindings()))).toMatchObject({
      status: 404,
      slug: 'not-found',
    });
  });

  it.each(['/healthz', '/nowhere', '/docs/problems', '/v1/calls'])('protects the answer of %s', async (path) => {
    const { headers } = await app.request(ORIGIN + path, {}, bindings());
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('makes its own request id and ignores one that is sent', async () => {
    const headers = { 'X-Request-Id': 'mine', 'CF-Ray': 'mine' };
    const response = await app.request(`${ORIGIN}/healthz`, { headers }, bindings());
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('logs one line a request, with the pattern of the route and the reason', async () => {
    const url = `${ORIGIN}/v1/approvals/apr_secret?t=token`;
    const headers = { Authorization: 'Bearer credential', 'CF-Connecting-IP': '192.0.2.7', 'User-Agent': 'agent/1' };
    const response = await app.request(url, { headers }, bindings());
    expect(logged).toHaveLength(1);
    expect(lastLine()).toEqual({
      event: 'request',
      request_id: response.headers.get('x-request-id'),
      method: 'GET',
      route: '/v1/approvals/:id',
      status: 401,
      duration_ms: expect.any(Number) as number,
      reason: 'bad_session_token',
    });
  });

  it.each([
    ['no credential', {}],
    ['another scheme', { Authorization: 'Basic YTpi' }],
    ['two credentials', { Authorization: 'Bearer a, Bearer b' }],
    ['no token', { Authorization: 'Bearer ' }],
    ['a bad token', { Authorization: 'Bearer a.b.c' }],
  ])('has one wording for %s', async (_name, headers) => {
    const response = await app.request(CALLS, { method: 'POST', headers }, bindings());
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="toolgate"');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual({
      type: `${ORIGIN}/docs/problems/unauthorized`,
      title: 'A valid credential is needed',
      status: 401,
    });
  });

  it('looks up no caller for a malformed API key', async () => {
    const open = async (key: string) => {
      const headers = { Authorization: `Bearer ${key}` };
      return (await app.request(`${ORIGIN}/v1/sessions`, { method: 'POST', headers }, bindings({ DB: brokenD1 })))
        .status;
    };
    const key = `tgk_${'a'.repeat(16)}_${'A'.repeat(43)}`;
    for (const malformed of [key.slice(0, -1), `${key}A`, key.toUpperCase(), 'guess'])
      expect(await open(malformed)).toBe(401);
    expect(await open(key)).toBe(503);
  });

  it('counts failed credentials per client address and slows them down', async () => {
    const limit = vi.fn(async () => ({ success: false }));
    const headers = { 'CF-Connecting-IP': '192.0.2.7', Authorization: 'Bearer a.b.c' };
    const response = await app.request(CALLS, { method: 'POST', headers }, bindings({ FAILED_CREDENTIALS: { limit } }));
    expect(limit).toHaveBeenCalledExactlyOnceWith({ key: '192.0.2.7' });
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await read(response)).toMatchObject({ status: 429, slug: 'too-many-requests' });
  });

  it('counts no request without a credential: nothing was guessed', async () => {
    const limit = vi.fn(async () => ({ success: false }));
    const response = await app.request(CALLS, { method: 'POST' }, bindings({ FAILED_CREDENTIALS: { limit } }));
    expect(response.status).toBe(401);
    expect(limit).not.toHaveBeenCalled();
  });

  describe('a body that it does not read', () => {
    /** What was taken of it, and whether it was cut. It ends after `bytes`; without them it never sends any. */
    async function refused(bytes?: number, changes: RequestInit = {}): Promise<object> {
      const seen = { taken: 0, cut: false };
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (bytes === undefined) return new Promise(() => undefined);
          if (seen.taken >= bytes) return controller.close();
          seen.taken += MIB;
          controller.enqueue(new Uint8Array(MIB));
        },
        cancel: () => void (seen.cut = true),
      });
      const init = { method: 'POST', body, duplex: 'half', ...changes } as RequestInit;
      const { status } = await app.request(`${ORIGIN}/admin/callers`, init, bindings());
      return { status, ...seen };
    }

    it('is taken all the same, or the refusal would be lost with its connection', async () => {
      expect(await refused(16 * MIB)).toEqual({ status: 401, taken: 16 * MIB, cut: false });
    });

    it('is taken to its end where it was read in part', async () => {
      const headers = { authorization: `Bearer ${'a'.repeat(64)}`, 'content-type': 'application/json' };
      expect(await refused(4 * MIB, { headers })).toEqual({ status: 413, taken: 4 * MIB, cut: false });
    });

    it('is cut beyond 16 MiB', async () => {
      // One more is pulled ahead.
      expect(await refused(100 * MIB)).toEqual({ status: 401, taken: 18 * MIB, cut: true });
    });

    it('is cut after ten seconds', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const answer = refused();
      await vi.advanceTimersByTimeAsync(9_999);
      expect(await Promise.race([answer, Promise.resolve('none yet')])).toBe('none yet');
      await vi.advanceTimersByTimeAsync(1);
      expect(await answer).toEqual({ status: 401, taken: 0, cut: true });
    });
  });
});
