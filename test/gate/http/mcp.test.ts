import { describe, expect, it, vi } from 'vitest';
import { toOutcome, type Outcome, type Refusal } from '../../../src/gate/outcome.ts';
import { observationText } from '../../../src/gate/observation/text.ts';
import type { CallAnswer, CallRequest } from '../../../src/gate/session/rpc.ts';
import { allTools } from '../../support/tools.ts';
import { doneAt } from '../../support/agent-app.ts';
import { mcpApp, message, notification, orderCall } from '../../support/mcp-app.ts';

const CALL_ID = 'toolgate/call_id';
const ORDER = { name: 'get_order', arguments: { order_id: 'ORD-1001' } };

type Reply = {
  jsonrpc: string;
  id?: unknown;
  result?: Record<string, unknown> & { tools?: { name: string }[]; _meta?: Record<string, unknown> };
  error?: { code: number; message: string; data?: Outcome };
};
const reply = (response: Response): Promise<Reply> => response.json();

/** The session's answer to a call that the gate refuses. */
const refused =
  (refusal: Refusal) =>
  (step: number, { call_id, tool }: CallRequest): CallAnswer => ({
    ...(doneAt(step, { call_id, tool } as CallRequest) as Extract<CallAnswer, { outcome: Outcome }>),
    outcome: toOutcome({ call_id, tool, step }, { ok: false, refusal }),
  });

describe('POST /mcp', () => {
  it('tells which server of which protocol it is', async () => {
    const { request } = await mcpApp();
    const { result } = await reply(await request('server/discover'));
    expect(result).toMatchObject({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    expect(result?.['capabilities']).toStrictEqual({ tools: {} });
  });

  it('lists the allowed tools in the same order each time, and lets only the asking client cache them', async () => {
    const names = allTools.map(({ name }) => name);
    const { request } = await mcpApp(doneAt, names);
    const { request: again } = await mcpApp(doneAt, names.toReversed());
    const response = await request('tools/list');
    const text = await response.clone().text();
    const { result } = await reply(response);
    expect(result?.tools?.map(({ name }) => name)).toStrictEqual(names);
    expect(result).toMatchObject({ cacheScope: 'private', ttlMs: 0 });
    expect(await (await again('tools/list')).text()).toBe(text);
  });

  it.each([
    ['a cursor', { cursor: 'x' }],
    ['a cursor of another type', { cursor: 1 }],
  ])('knows no page of %s', async (_, params) => {
    const { request } = await mcpApp();
    expect(await reply(await request('tools/list', params))).toMatchObject({ error: { code: -32_602 } });
  });

  it('answers a call with its data, its text and its standing', async () => {
    const { request, asked } = await mcpApp();
    const response = await request('tools/call', ORDER);
    expect(asked).toMatchObject([{ tool: 'get_order', arguments: ORDER.arguments, uid: 'uid_1' }]);
    const call_id = asked[0]?.call_id ?? '';
    const outcome: Outcome = {
      call_id,
      tool: 'get_order',
      ok: true,
      code: 'OK',
      step: 1,
      replayed: false,
      data: { step: 1 },
    };
    const { id, result } = await reply(response);
    expect(id).toBe(7);
    expect(result).toMatchObject({
      content: [{ type: 'text', text: observationText(outcome) }],
      structuredContent: { step: 1 },
      _meta: { [CALL_ID]: call_id },
    });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('ratelimit')).toBe('"steps";r=9');
    expect(response.headers.get('toolgate-audit')).toBe('1:hash1');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('gives each call an id of its own, with any JSON-RPC id', async () => {
    const { request, asked } = await mcpApp();
    await request('tools/call', ORDER);
    await request('tools/call', ORDER);
    const ids = asked.map(({ call_id }) => call_id);
    expect(new Set([...ids, '7']).size).toBe(3);
  });

  it("takes the host's call id and returns it", async () => {
    const { request, asked } = await mcpApp();
    const { result } = await reply(await request('tools/call', { ...ORDER, _meta: { [CALL_ID]: 'c!~1' } }));
    expect(asked).toMatchObject([{ call_id: 'c!~1' }]);
    expect(result?._meta).toMatchObject({ [CALL_ID]: 'c!~1' });
  });

  it.each([[''], ['a b'], ['é'], ['x'.repeat(129)], [1], [null], [{}], [['c1']]])(
    'refuses the call id %j before anything is proposed',
    async (call_id) => {
      const { request, asked } = await mcpApp();
      const { error } = await reply(await request('tools/call', { ...ORDER, _meta: { [CALL_ID]: call_id } }));
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining(CALL_ID) as string });
      expect(asked).toStrictEqual([]);
    },
  );

  it.each([
    ['absent arguments', {}, undefined],
    ['null', { arguments: null }, null],
    ['a list', { arguments: [1] }, [1]],
    ['a number', { arguments: 5 }, 5],
    ['a text, which is JSON within JSON,', { arguments: '{"a":1}' }, '"{\\"a\\":1}"'],
    ['a member of a prototype', { arguments: { constructor: 1 } }, { constructor: 1 }],
  ])('leaves %s to the stages', async (_, params, proposed) => {
    const { request, asked } = await mcpApp();
    expect((await request('tools/call', { name: 'get_order', ...params })).status).toBe(200);
    expect(asked.map((call) => call.arguments)).toStrictEqual([proposed]);
  });

  it('hides no member from the stages by its name', async () => {
    const { send, asked } = await mcpApp();
    const body = JSON.stringify(message('tools/call', { name: 'get_order', arguments: { proto: { order_id: 'x' } } }));
    await send(body.replace('"proto"', '"__proto__"'));
    expect(JSON.stringify(asked[0]?.arguments)).toBe('{"__proto__":{"order_id":"x"}}');
  });

  it.each([[undefined], [null], [5], [{}]])(
    'proposes a call of the tool %j, which the stages do not find',
    async (name) => {
      const { send, asked } = await mcpApp();
      await send(message('tools/call', { ...(name === undefined ? {} : { name }), arguments: {} }));
      expect(asked).toMatchObject([{ tool: '' }]);
    },
  );

  it.each<Refusal>([{ code: 'UNKNOWN_TOOL', available: ['get_order'] }, { code: 'TOOL_NOT_ALLOWED' }])(
    'answers $code as the protocol does, with the outcome as data',
    async (refusal) => {
      const { request, asked } = await mcpApp(refused(refusal));
      const { error, result } = await reply(await request('tools/call', ORDER));
      expect(result).toBeUndefined();
      expect(error).toMatchObject({ code: -32_602, data: { code: refusal.code, call_id: asked[0]?.call_id } });
      expect(error?.message).toBe(error?.data?.message);
    },
  );

  it.each<Refusal>([
    { code: 'STEP_LIMIT', max_steps: 10 },
    { code: 'INVALID_JSON', reason: 'the text is a JSON list; send one JSON object' },
    { code: 'LOOP_DETECTED', max_duplicate_calls: 3 },
    { code: 'TOOL_CODE', tool_code: 'ORDER_NOT_FOUND', message: 'No such order.' },
    { code: 'INTERNAL_ERROR', error_id: 'e1' },
  ])('answers $code as a result that is an error', async (refusal) => {
    const { request, asked } = await mcpApp(refused(refusal));
    const { result } = await reply(await request('tools/call', ORDER));
    const [call] = asked;
    const outcome = toOutcome({ call_id: call?.call_id ?? '', tool: 'get_order', step: 1 }, { ok: false, refusal });
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: observationText(outcome) }] });
    expect(result).not.toHaveProperty('structuredContent');
    expect(result?._meta).toMatchObject({ [CALL_ID]: call?.call_id });
  });

  it.each(['ping', 'initialize', 'tools/list', 'tools/call', 'notifications/initialized', 'no/such'])(
    'does not take the token of an ended session for %s',
    async (method) => {
      const { send } = await mcpApp(() => ({ refused: 'unauthorized' }), null);
      const response = await send(message(method, method === 'tools/call' ? ORDER : {}));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="toolgate", error="invalid_token"');
    },
  );

  it.each([
    ['session_exhausted', 'session-exhausted'],
    ['too_many_retries', 'too-many-requests'],
  ] as const)('answers a session that refuses with %s as a problem', async (reason, slug) => {
    const { request, send } = await mcpApp(() => ({ refused: reason }));
    for (const response of [await request('tools/call', ORDER), await send(orderCall())]) {
      expect(response.status).toBe(429);
      expect(await response.json()).toMatchObject({ type: `https://toolgate.test/docs/problems/${slug}` });
    }
  });

  it('answers a fault of its own as an outage, and says nothing of it', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    // Half a surrogate pair is no text that could be rendered.
    const { request } = await mcpApp(refused({ code: 'TOOL_CODE', tool_code: 'X', message: 'secret \ud800' }));
    const response = await request('tools/call', ORDER);
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('secret');
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });

  it.each(['resources/list', 'prompts/get', 'completion/complete', 'constructor', '', 'tools/call/'])(
    'knows no method %j',
    async (method) => {
      const { send, request, asked } = await mcpApp();
      expect(await reply(await send(message(method)))).toMatchObject({ id: 7, error: { code: -32_601 } });
      const response = await request(method);
      expect({ status: response.status, ...(await reply(response)) }).toMatchObject({ status: 404, id: 7 });
      expect(asked).toStrictEqual([]);
    },
  );

  it.each(['notifications/initialized', 'notifications/cancelled', 'tools/call'])(
    'takes the notification %s and does nothing',
    async (method) => {
      const { send, asked } = await mcpApp();
      const response = await send(notification(method));
      expect({ status: response.status, text: await response.text() }).toStrictEqual({ status: 202, text: '' });
      expect(asked).toStrictEqual([]);
    },
  );
});
