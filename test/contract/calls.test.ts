/** docs/specification.md#credentials and docs/specification.md#requests-and-problems: what holds for every request, and calls, from outside. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ORDERS, slugOf, type Caller, type Session } from './client.ts';
import { sharedWorker } from './shared-worker.ts';

const KIB = 1024;
const SLUGS = [
  ...['invalid-json', 'unauthorized', 'forbidden', 'policy-widened', 'not-found', 'session-conflict'],
  ...['body-too-large', 'unsupported-media-type', 'invalid-body', 'too-many-requests', 'session-exhausted'],
  ...['method-not-allowed', 'misdirected', 'not-configured', 'unavailable'],
];

const ORDER = { order_id: ORDERS.calls };
const BIG_REFUND = {
  tool: 'refund_order',
  arguments: { ...ORDER, amount_cents: 11_000, currency: 'BRL', reason: 'damaged' },
};

const client = sharedWorker();
let caller: Caller;
beforeAll(async () => {
  caller = await client.newCaller();
});

describe('a request', () => {
  let session: Session;
  beforeAll(async () => {
    session = await client.newSession({}, caller);
  });

  /** The routes that take a JSON body, each with its credential and its limit. */
  const routes = () => [
    { path: '/admin/callers', credential: client.worker.adminToken, limit: 64 * KIB },
    { path: '/v1/sessions', credential: caller.api_key, limit: 64 * KIB },
    { path: '/v1/calls', credential: session.token, limit: 64 * KIB },
    { path: '/v1/calls/openai', credential: session.token, limit: 1024 * KIB },
  ];

  it('is judged by credential, then content type, then length, then body', async () => {
    for (const { path, credential, limit } of routes()) {
      const huge = { body: `{"a":1,"a":"${'x'.repeat(limit)}"}`, headers: { 'Content-Type': 'text/plain' } };
      const answers = [
        await client.send(path, huge),
        await client.send(path, { ...huge, credential }),
        await client.send(path, { body: huge.body, credential }),
        await client.send(path, { body: '{"a":1,"a":2}', credential }),
        await client.send(path, { body: '[]', credential }),
      ];
      const slugs = answers.map(slugOf);
      expect({ path, slugs }).toEqual({
        path,
        slugs: ['unauthorized', 'unsupported-media-type', 'body-too-large', 'invalid-json', 'invalid-body'],
      });
      expect(answers.map(({ status }) => status)).toEqual([401, 415, 413, 400, 422]);
    }
  });

  it('is refused with any Content-Encoding', async () => {
    const headers = { 'Content-Encoding': 'gzip' };
    const answer = await client.send('/v1/calls', { credential: session.token, body: { tool: 'get_order' }, headers });
    expect(answer.status).toBe(415);
  });

  it('may hold exactly the limit', async () => {
    const limit = 64 * KIB;
    const text = `{"tool":"${'x'.repeat(limit - '{"tool":""}'.length)}"}`;
    const { status, json } = await client.send('/v1/calls', { credential: session.token, body: text });
    expect({ status, code: json['code'] }).toEqual({ status: 200, code: 'UNKNOWN_TOOL' });
  });

  it('takes no step when it is not a proposed call', async () => {
    const { token } = await client.newSession();
    for (const body of [
      '{',
      '[]',
      '{"tool":1}',
      '{"tool":"get_order","tool":"get_order"}',
      '{"tool":"a","call_id":" "}',
    ])
      await client.send('/v1/calls', { credential: token, body });
    expect((await client.call(token, { tool: 'get_order', arguments: '{' })).json['step']).toBe(1);
  });

  it('has strict JSON inside an arguments object too', async () => {
    const bodies = ['{"a":1,"a":2}', String.raw`{"a":"\udead"}`, '{"a":1.00000000000000000001}', '{"a":1e999}'];
    for (const args of bodies) {
      const body = `{"tool":"get_order","arguments":${args}}`;
      expect(slugOf(await client.send('/v1/calls', { credential: session.token, body }))).toBe('invalid-json');
    }
  });

  it('with a bad credential gets the same answer for every fault', async () => {
    const other = await client.newCaller();
    const unknown = `tgk_${'a'.repeat(16)}_${'A'.repeat(43)}`;
    const mixed = `tgk_${caller.caller_id}_${other.api_key.slice(-43)}`;
    const keys = [undefined, '', 'x', unknown, mixed, `${caller.api_key}x`, session.token, client.worker.adminToken];
    const answers = await Promise.all(
      keys.map((key) => client.send('/v1/sessions', { body: {}, ...(key === undefined ? {} : { credential: key }) })),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.json).toMatchObject({ status: 401, type: `${client.worker.url}/docs/problems/unauthorized` });
    for (const { headers } of answers) expect(headers.get('www-authenticate')).toBe('Bearer realm="toolgate"');
  });

  it('with a credential of another kind reaches nothing', async () => {
    const asked = [
      ['/v1/calls', caller.api_key],
      ['/v1/calls', client.worker.adminToken],
      ['/admin/callers', caller.api_key],
      ['/admin/callers', session.token],
    ] as const;
    for (const [path, credential] of asked)
      expect((await client.send(path, { credential, body: {} })).status).toBe(401);
  });

  it('takes the scheme in any case', async () => {
    const headers = { Authorization: `bEARER ${caller.api_key}` };
    expect((await client.send('/v1/sessions', { body: {}, headers })).status).toBe(201);
  });

  it('with failing credentials is slowed down per client address, and good ones are not', async () => {
    const headers = { 'CF-Connecting-IP': '192.0.2.7' };
    const failures = [];
    for (let count = 0; count < 130; count += 1)
      failures.push(await client.send('/v1/sessions', { body: {}, headers, credential: 'guess' }));
    const limited = failures.find(({ status }) => status === 429);
    expect(failures[0]?.status).toBe(401);
    expect(limited && slugOf(limited)).toBe('too-many-requests');
    expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await client.send('/v1/sessions', { body: {}, headers, credential: caller.api_key })).status).toBe(201);
    expect((await client.send('/v1/sessions', { body: {}, credential: 'guess' })).status).toBe(401);
  });

  it('gets no-store and no CORS headers with every answer', async () => {
    const origin = { Origin: 'https://evil.test', 'Access-Control-Request-Method': 'POST' };
    const answers = [
      await client.call(session.token, { tool: 'get_order' }, origin),
      await client.open(caller),
      await client.send('/v1/calls', { method: 'OPTIONS', headers: origin }),
      await client.send('/admin/callers', { credential: client.worker.adminToken }),
    ];
    for (const { headers } of answers) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('of another method is told which ones there are', async () => {
    const answer = await client.send('/v1/calls', { method: 'DELETE' });
    expect({ slug: slugOf(answer), allow: answer.headers.get('allow') }).toEqual({
      slug: 'method-not-allowed',
      allow: 'POST',
    });
  });

  it('is told of readiness and health without a credential', async () => {
    expect((await client.send('/healthz')).status).toBe(200);
    expect((await client.send('/readyz')).status).toBe(200);
  });

  it('finds each problem type explained where its type says', async () => {
    const index = await client.send('/docs/problems');
    for (const slug of SLUGS) {
      const { status, headers, text } = await client.send(`/docs/problems/${slug}`);
      expect({ slug, status, type: headers.get('content-type') }).toEqual({
        slug,
        status: 200,
        type: 'text/html; charset=UTF-8',
      });
      expect(text).toContain(`<code>${slug}</code>`);
      expect(index.text).toContain(`/docs/problems/${slug}`);
    }
    expect((await client.send('/docs/problems/constructor')).status).toBe(404);
  });
});

describe('POST /v1/calls', () => {
  it('answers with the outcome, the budget and the audit row', async () => {
    const { token } = await client.newSession({ max_steps: 10 }, caller);
    const { status, headers, json } = await client.call(token, { tool: 'get_order', arguments: ORDER, call_id: 'c1' });
    expect({ status, ...json }).toEqual({
      status: 200,
      call_id: 'c1',
      tool: 'get_order',
      ok: true,
      code: 'OK',
      step: 1,
      replayed: false,
      data: { ...ORDER, total_cents: 12_000, refunded_cents: 0, currency: 'BRL' },
    });
    expect(headers.get('ratelimit-policy')).toBe('"steps";q=10');
    expect(headers.get('ratelimit')).toBe('"steps";r=9');
    expect(headers.get('toolgate-audit')).toMatch(/^\d+:[0-9a-f]{64}$/);
  });

  it.each([
    ['UNKNOWN_TOOL', 'fix_and_retry', { tool: 'Get_Order\u001b[2J' }],
    ['TOOL_NOT_ALLOWED', 'stop_and_tell_user', { tool: 'count_documents' }],
    ['INVALID_JSON', 'fix_and_retry', { tool: 'get_order', arguments: '{"order_id":"ORD-1001"} {}' }],
    ['INVALID_JSON', 'fix_and_retry', { tool: 'get_order', arguments: null }],
    ['INVALID_JSON', 'fix_and_retry', { tool: 'get_order', arguments: [ORDER] }],
    ['INVALID_ARGUMENTS', 'fix_and_retry', { tool: 'get_order' }],
    ['INVALID_ARGUMENTS', 'fix_and_retry', { tool: 'get_order', arguments: '' }],
    ['ORDER_NOT_FOUND', 'fix_and_retry', { tool: 'get_order', arguments: { order_id: 'ORD-9999' } }],
    ['POLICY_LIMIT', 'stop_and_tell_user', BIG_REFUND],
  ])('answers %s with HTTP 200 and tells the model to %s', async (code, next, body) => {
    const { token } = await client.newSession({ max_refund_cents: 10_000 }, caller);
    const { status, json } = await client.call(token, body);
    expect({ status, json }).toMatchObject({ status: 200, json: { ok: false, code, next, step: 1 } });
    expect(json['tool']).toMatch(/^[A-Za-z0-9_.:?-]{1,40}$/);
  });

  it.each(['text/plain', 'text/plain, */*;q=0.1'])('answers Accept: %s with the model text', async (accept) => {
    const { token } = await client.newSession({}, caller);
    const body = { tool: 'get_order', arguments: ORDER, call_id: 'a"b' };
    const { headers, text } = await client.call(token, body, { Accept: accept });
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(text).toBe(
      '<tool_observation name="get_order" id="a_b">{"call_id":"a\\"b","code":"OK","data":{"currency":"BRL",' +
        `"order_id":"${ORDERS.calls}","refunded_cents":0,"total_cents":12000},"ok":true,"step":1,"tool":"get_order"}</tool_observation>`,
    );
  });

  it.each(['*/*', 'application/json, text/plain, */*', 'image/png'])('answers Accept: %s with JSON', async (accept) => {
    const { token } = await client.newSession({}, caller);
    const { headers } = await client.call(token, { tool: 'get_order', arguments: ORDER }, { Accept: accept });
    expect(headers.get('content-type')).toBe('application/json');
  });

  it('closes a session that is called a hundred times past its budget', async () => {
    const { token } = await client.newSession({ max_steps: 1 }, caller);
    const codes = [];
    for (let count = 0; count < 101; count += 1) codes.push((await client.call(token, { tool: 'x' })).json['code']);
    expect([...new Set(codes)]).toEqual(['UNKNOWN_TOOL', 'STEP_LIMIT']);
    const closed = await client.call(token, { tool: 'x' });
    expect({ status: closed.status, slug: slugOf(closed) }).toEqual({ status: 429, slug: 'session-exhausted' });
  });
});
