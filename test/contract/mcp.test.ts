/** docs/specification.md#mcp, as the protocol's own client meets it over HTTP. Black box. */
import { ProtocolError, type Client as McpClient } from '@modelcontextprotocol/client';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refundOverMcp } from '../../examples/mcp-client.ts';
import { approveOnPage, linkInMail } from '../../scripts/demo-approval.ts';
import { ORDERS, type Caller, type Json, type Session } from './client.ts';
import { sharedWorker } from './shared-worker.ts';
import { connectMcp, MCP_VERSIONS } from './mcp-client.ts';

const ORDER = { order_id: ORDERS.mcp };
const REFUND = { ...ORDER, amount_cents: 1_000, currency: 'BRL', reason: 'damaged' };
const CALL_ID = 'toolgate/call_id';

const http = sharedWorker();
let shop: Caller;
beforeAll(async () => {
  shop = await http.newCaller();
});

/** What the model reads of a result. */
function observed(result: Awaited<ReturnType<McpClient['callTool']>>): Json {
  const [block] = result.content;
  if (block?.type !== 'text') throw new Error('no text');
  const [, body = ''] = /^<tool_observation name="\w+" id="[\w.:-]+">(.*)<\/tool_observation>$/.exec(block.text) ?? [];
  return JSON.parse(body) as Json;
}

describe.each(MCP_VERSIONS)('an MCP client of %s', (version) => {
  let session: Session;
  let mcp: McpClient;
  beforeEach(async () => {
    session = await http.newSession({}, shop);
    mcp = await connectMcp(http.worker.url, session.token, version);
    return () => mcp.close();
  });

  it('agrees on its version and meets a server that offers only tools', () => {
    expect(mcp.getNegotiatedProtocolVersion()).toBe(version);
    expect(mcp.getServerVersion()).toMatchObject({ name: 'toolgate' });
    expect(mcp.getServerCapabilities()).toEqual({ tools: {} });
  });

  it('lists the tools of its session by name, with what they answer and how careful to be', async () => {
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name, annotations }) => ({ name, annotations }))).toEqual([
      { name: 'calculator', annotations: { readOnlyHint: true } },
      { name: 'get_approval', annotations: { readOnlyHint: true } },
      { name: 'get_order', annotations: { readOnlyHint: true } },
      {
        name: 'refund_order',
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      },
    ]);
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: 'object' });
      const forms = (outputSchema?.['anyOf'] ?? [outputSchema]) as object[];
      for (const form of forms) expect(form).toMatchObject({ additionalProperties: false });
    }
  });

  it('calls a tool: data for the program, the framed text for the model', async () => {
    await mcp.listTools();
    const result = await mcp.callTool({ name: 'get_order', arguments: ORDER, _meta: { [CALL_ID]: 'c1' } });
    const data = { ...ORDER, total_cents: 12_000, currency: 'BRL' };
    expect(result.isError).toBeUndefined();
    expect(result.structuredContent).toMatchObject(data);
    expect(observed(result)).toMatchObject({ call_id: 'c1', ok: true, code: 'OK', step: 1, data });
    expect(result._meta).toMatchObject({ [CALL_ID]: 'c1' });
  });

  it.each([
    ['INVALID_ARGUMENTS', { order_id: 'ORD-1' }],
    ['ORDER_NOT_FOUND', { order_id: 'ORD-9999' }],
  ])('reads %s as a result that tells the model what to do', async (code, args) => {
    const result = await mcp.callTool({ name: 'get_order', arguments: args });
    expect(result).toMatchObject({ isError: true, _meta: { [CALL_ID]: expect.stringMatching(/^call_/) as string } });
    expect(result.structuredContent).toBeUndefined();
    expect(observed(result)).toMatchObject({ ok: false, code, next: 'fix_and_retry', step: 1 });
  });

  it.each([
    ['UNKNOWN_TOOL', 'no_such_tool'],
    ['TOOL_NOT_ALLOWED', 'count_documents'],
  ])('gets %s as an error of the protocol, which takes a step and leaves a row', async (code, name) => {
    const refusal: unknown = await mcp.callTool({ name, arguments: {} }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ProtocolError);
    expect(refusal).toMatchObject({ code: -32_602, data: { ok: false, code, tool: name, step: 1 } });
    const { json, headers } = await http.call(session.token, { tool: 'get_order', arguments: ORDER });
    expect(json['step']).toBe(2);
    expect(headers.get('toolgate-audit')).toMatch(/^2:/);
  });

  it("gets a refund approved by the mail's link, and reads what came of it under the same call id", async () => {
    const call = { name: 'refund_order', arguments: REFUND, _meta: { [CALL_ID]: 'refund-1' } };
    const asked = await mcp.callTool(call);
    expect(asked).toMatchObject({ isError: true, _meta: { [CALL_ID]: 'refund-1' } });
    const { code, approval } = observed(asked) as { code: string; approval: { id: string; status: string } };
    expect({ code, status: approval.status }).toEqual({ code: 'CONFIRMATION_REQUIRED', status: 'pending' });

    await approveOnPage(await linkInMail(http.worker, approval.id), '10.00');

    const done = await mcp.callTool(call);
    expect(done.structuredContent).toMatchObject({ ...ORDER, refunded_cents: 1_000 });
    expect(observed(done)).toMatchObject({ call_id: 'refund-1', step: 1, ok: true, replayed: true });
    expect(observed(await mcp.callTool({ name: 'get_order', arguments: ORDER }))).toMatchObject({ step: 2 });
  });
});

describe('POST /mcp', () => {
  const send = (token: string, body: unknown, headers: Record<string, string> = {}) =>
    http.send('/mcp', { credential: token, body, headers });
  const message = (id: number, name: string, args: unknown): Json => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  });

  it('lists the tools in equal bytes to every caller, in any order of the policy', async () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const caller = await http.newCaller({ allowed_tools: ['refund_order', 'get_order', 'calculator'] });
    const [one, two] = [await http.newSession({}, shop), await http.newSession({}, caller)];
    const { status, text } = await send(one.token, list);
    expect(status).toBe(200);
    expect((await send(one.token, list)).text).toBe(text);
    expect((await send(two.token, list)).text).toBe(text);
  });

  it('runs the calls of a batch in their order, each with its step', async () => {
    const { token } = await http.newSession({}, shop);
    const batch = [message(3, 'get_order', ORDER), message(3, 'no_such_tool', {}), message(1, 'get_order', 'ORD-1001')];
    const answer = await send(token, batch);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject([
      { id: 3, result: { structuredContent: ORDER } },
      { id: 3, error: { code: -32_602, data: { code: 'UNKNOWN_TOOL', step: 2 } } },
      { id: 1, result: { isError: true } },
    ]);
    expect(answer.text).toContain('INVALID_JSON');
    expect(answer.headers.get('ratelimit')).toBe('"steps";r=7');
  });

  it('takes the token of a session until it ends', async () => {
    const { session_id, token } = await http.newSession({}, shop);
    await http.send(`/v1/sessions/${session_id}`, { method: 'DELETE', credential: shop.api_key });
    for (const method of ['initialize', 'tools/list', 'tools/call'])
      expect((await send(token, { jsonrpc: '2.0', id: 1, method })).status).toBe(401);
    const call = { jsonrpc: '2.0', method: 'tools/call', params: { _meta: { 'toolgate/call_id': '' } } };
    for (const noCall of [call, { ...call, id: 1 }, []]) expect((await send(token, noCall)).status).toBe(401);
    for (const path of ['/v1/tools?provider=x', '/v1/approvals/apr_x?wait=99'])
      expect((await http.send(path, { credential: token })).status).toBe(401);
  });

  it.each([
    ['an API key', 401, () => send(shop.api_key, message(1, 'get_order', ORDER))],
    [
      'a page of elsewhere',
      403,
      (token: string) => send(token, message(1, 'get_order', ORDER), { Origin: 'https://evil.example' }),
    ],
    ['a client that wants a stream', 405, (token: string) => http.send('/mcp', { credential: token })],
    ['half a body', 400, (token: string) => send(token, '{"jsonrpc":"2.0"')],
    ['a packed body', 415, (token: string) => send(token, '{}', { 'Content-Encoding': 'gzip' })],
    ['more than a mebibyte', 413, (token: string) => send(token, { pad: 'x'.repeat(2 ** 20) })],
  ])('refuses %s with %i and takes no step', async (_, status, refused) => {
    const { token } = await http.newSession({}, shop);
    expect((await refused(token)).status).toBe(status);
    expect((await http.call(token, { tool: 'get_order', arguments: ORDER })).json['step']).toBe(1);
  });
});

describe('refundOverMcp', () => {
  it('lists the tools and asks for a refund, and with the same id asks after it', async () => {
    const { token } = await http.newSession({}, shop);
    const { tools, result } = await refundOverMcp(http.worker.url, token, 'refund-1001-a');
    expect(tools.map(({ name }) => name)).toContain('refund_order');
    expect(observed(result)).toMatchObject({ call_id: 'refund-1001-a', code: 'CONFIRMATION_REQUIRED', step: 1 });
    const again = await refundOverMcp(http.worker.url, token, 'refund-1001-a');
    expect(observed(again.result)).toMatchObject({ code: 'CONFIRMATION_REQUIRED', step: 1 });
  });
});
