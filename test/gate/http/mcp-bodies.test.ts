import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/gate/json.ts';
import { doneAt } from '../../support/agent-app.ts';
import { mcpApp, message, notification, orderCall } from '../../support/mcp-app.ts';

type Item = JsonObject & { result?: { content?: { text: string }[] }; error?: JsonObject };
const items = (response: Response): Promise<Item[]> => response.json();

describe('POST /mcp with a request of its own origin, form and size', () => {
  it.each(['https://evil.example', 'null', 'http://toolgate.test', 'https://toolgate.test.evil.example', ''])(
    'does not let a page of %j try, whatever credential it has',
    async (origin) => {
      const { send, asked } = await mcpApp();
      for (const authorization of ['Bearer none', undefined]) {
        const sending = { headers: { origin }, ...(authorization === undefined ? {} : { authorization }) };
        const response = await send(orderCall(), sending);
        expect(response.status).toBe(403);
        expect(await response.json()).toMatchObject({ type: 'https://toolgate.test/docs/problems/forbidden' });
      }
      expect(asked).toStrictEqual([]);
    },
  );

  it('lets a page of its own origin', async () => {
    const { send } = await mcpApp();
    expect((await send(orderCall(), { headers: { origin: 'https://toolgate.test' } })).status).toBe(200);
  });

  it('has nothing to GET', async () => {
    const { get } = await mcpApp();
    const response = await get('/mcp');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it('asks for the credential before it reads', async () => {
    const { send } = await mcpApp();
    expect((await send('{', { authorization: 'Bearer none' })).status).toBe(401);
  });

  it.each([
    ['text', 'text/plain'],
    ['a media type that only looks like JSON', 'text/application/json'],
    ['none', ''],
  ])('does not take a content type of %s', async (_, type) => {
    const { send } = await mcpApp();
    expect((await send(orderCall(), { headers: { 'content-type': type } })).status).toBe(415);
  });

  it.each([
    ['nothing', '', 400],
    ['text around the value', `${JSON.stringify(orderCall())} 1`, 400],
    ['a name twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}', 400],
    [
      'a name twice in the arguments',
      JSON.stringify(orderCall()).replace('{"order_id"', '{"order_id":"x","order_id"'),
      400,
    ],
    ['half a surrogate pair', JSON.stringify(message('ping', {}, '\ud800')), 400],
    ['nesting beyond 64', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 400],
  ])('does not take a body of %s', async (_, body, status) => {
    const { send, asked } = await mcpApp();
    const response = await send(body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(asked).toStrictEqual([]);
  });

  it.each([
    ['null', null, undefined],
    ['a text', 'ping', undefined],
    ['a number', 1, undefined],
    ['no method', { jsonrpc: '2.0', id: 1 }, undefined],
    ['another JSON-RPC', { jsonrpc: '1.0', id: 'a', method: 'ping' }, 'a'],
    ['a member more', { ...message('ping'), tool: 'x' }, 7],
    ['a null id', message('tools/call', {}, null), undefined],
    ['an id of another type', message('tools/call', {}, [1]), undefined],
    ['a fraction for an id', message('tools/call', {}, 1.5), undefined],
    ['parameters that are a list', { ...message('tools/call'), params: ['get_order'] }, 7],
    ['metadata that is a text', message('tools/call', { name: 'get_order', _meta: 'x' }), 7],
  ])('answers %s as no message of the protocol, with the id that could be read', async (_, body, id) => {
    const { send, asked } = await mcpApp();
    const response = await send(JSON.stringify(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toStrictEqual({
      jsonrpc: '2.0',
      ...(id === undefined ? {} : { id }),
      error: { code: -32_600, message: expect.any(String) as string },
    });
    expect(asked).toStrictEqual([]);
  });

  it.each([
    ['another method', { 'Mcp-Method': 'tools/list' }],
    ['another tool', { 'Mcp-Name': 'refund_order' }],
    ['another version', { 'MCP-Protocol-Version': '2025-11-25' }],
  ])('does not propose a call whose headers name %s', async (_, headers) => {
    const { request, asked } = await mcpApp();
    const response = await request('tools/call', { name: 'get_order', arguments: {} }, { headers });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: 7, error: { code: -32_020 } });
    expect(asked).toStrictEqual([]);
  });

  it.each(['1900-01-01', '2027-01-01', 'x'])('does not speak %s', async (version) => {
    const { send, request, asked } = await mcpApp();
    const headers = { 'MCP-Protocol-Version': version };
    expect((await send(orderCall(), { headers })).status).toBe(400);
    const _meta = { 'io.modelcontextprotocol/protocolVersion': version };
    const response = await request('tools/call', { name: 'get_order', _meta }, { headers });
    const { error } = await response.json<{ error: { code: number; data: { supported: string[] } } }>();
    expect(error.code).toBe(-32_022);
    // All that are spoken, and not only the current one.
    const spoken = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
    expect(error.data.supported).toEqual(expect.arrayContaining(spoken));
    expect(asked).toStrictEqual([]);
  });
});

describe('POST /mcp with a batch', () => {
  const calls = (count: number): JsonObject[] => Array.from({ length: count }, (_, index) => orderCall(index));

  it('answers its requests in their order, one after another, and its notifications not at all', async () => {
    const { send, asked } = await mcpApp();
    const batch = [orderCall(2), notification('notifications/initialized'), message('ping', {}, 'a'), orderCall(1)];
    const response = await send(batch);
    expect((await items(response)).map(({ id }) => id)).toStrictEqual([2, 'a', 1]);
    expect(asked).toHaveLength(2);
    expect(response.headers.get('toolgate-audit')).toBe('2:hash2');
  });

  it('answers every call, however often an id is used', async () => {
    const { send, asked } = await mcpApp();
    const answers = await items(await send([orderCall(1), orderCall(1), orderCall(1)]));
    expect(answers.map(({ id, result }) => ({ id, ok: result !== undefined }))).toStrictEqual(
      [1, 1, 1].map((id) => ({ id, ok: true })),
    );
    expect(new Set(asked.map(({ call_id }) => call_id)).size).toBe(3);
  });

  it('answers notifications without calls with an empty body', async () => {
    const { send } = await mcpApp();
    const response = await send([notification('notifications/initialized'), notification('notifications/cancelled')]);
    expect({ status: response.status, text: await response.text() }).toStrictEqual({ status: 202, text: '' });
  });

  it('judges each message by itself', async () => {
    const { send, asked } = await mcpApp();
    const answers = await items(await send([1, orderCall(1), message('no/such', {}, 2)]));
    expect(answers).toMatchObject([
      { error: { code: -32_600 } },
      { id: 1, result: {} },
      { id: 2, error: { code: -32_601 } },
    ]);
    expect(answers[0]).not.toHaveProperty('id');
    expect(asked).toHaveLength(1);
  });

  it('names the most messages where it holds more', async () => {
    const { send } = await mcpApp();
    expect(await (await send(calls(129))).json()).toMatchObject({ detail: 'body must hold at most 128 messages' });
  });

  it.each<[string, JsonValue[]]>([
    ['nothing', []],
    ['a batch', [orderCall(1), [orderCall(2)]]],
    ['the handshake', [message('initialize', {}), orderCall(1)]],
  ])('does not take one that holds %s', async (_, batch) => {
    const { send, asked } = await mcpApp();
    const response = await send(batch);
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 400,
      body: { error: { code: -32_600 } },
    });
    expect(asked).toStrictEqual([]);
  });

  it.each(['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'])('does not take one of %s', async (version) => {
    const { send, asked } = await mcpApp();
    const response = await send([orderCall()], { headers: { 'MCP-Protocol-Version': version } });
    expect(response.status).toBe(400);
    expect(asked).toStrictEqual([]);
  });

  it('takes one of 2025-03-26', async () => {
    const { send } = await mcpApp();
    expect((await send([orderCall()], { headers: { 'MCP-Protocol-Version': '2025-03-26' } })).status).toBe(200);
  });

  it('does not smuggle a request of 2026-07-28 in', async () => {
    const { send, asked } = await mcpApp();
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    expect(await items(await send([message('tools/call', { name: 'get_order', _meta })]))).toMatchObject([
      { id: 7, error: { code: -32_020 } },
    ]);
    expect(asked).toStrictEqual([]);
  });

  it('keeps what was done when the session ends in between', async () => {
    const { send } = await mcpApp((step, call) => (step < 2 ? doneAt(step, call) : { refused: 'unauthorized' }));
    const response = await send(calls(3));
    expect(response.status).toBe(200);
    const answers = await items(response);
    expect(answers).toMatchObject([
      { id: 0, result: { structuredContent: { step: 1 } } },
      { id: 1, result: { isError: true } },
      { id: 2, result: { isError: true } },
    ]);
    expect(answers[2]?.result?.content?.[0]?.text).toContain('"code":"SESSION_ENDED"');
  });

  it('is refused as a whole where the session takes no call of it', async () => {
    const { send, asked } = await mcpApp(() => ({ refused: 'session_exhausted' }));
    expect((await send(calls(3))).status).toBe(429);
    expect(asked).toHaveLength(1);
  });
});
