import { vi, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditIn, changePolicy, runAlarm } from '../support/inside.ts';
import { decide, parkedRefund, reject, type Parked } from '../support/approver.ts';
import { later, moveOn, standStill } from '../support/effects.ts';
import { ask, asOperator, makeCaller } from '../support/over-http.ts';
import { codeOf, sendAs, tokenOf } from '../support/reached.ts';
import { newAgent, newOrder, refund, type Agent } from '../support/session.ts';

beforeEach(standStill);
afterEach(moveOn);

const DAY_MS = 86_400_000;

const get = async (agent: Agent, approval_id: unknown, more: Record<string, unknown> = {}) =>
  sendAs(await tokenOf(agent), '/v1/calls', { tool: 'get_approval', arguments: { approval_id, ...more } });

const mcp = async (agent: Agent, args: Record<string, unknown>) =>
  (
    await sendAs(await tokenOf(agent), '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'get_approval', arguments: args },
    })
  ).body['result'] as { isError?: true; structuredContent?: unknown; content: { text: string }[] };

describe('get_approval', () => {
  it('tells the present truth of an action, takes no step and leaves no row', async () => {
    const parked = await parkedRefund();
    const { agent, id } = parked;
    const pending = await get(agent, id);
    expect(pending.body).toMatchObject({
      tool: 'get_approval',
      step: null,
      ok: false,
      code: 'CONFIRMATION_REQUIRED',
      next: 'wait_for_approval',
      approval: { id, status: 'pending', arguments: refund(parked.order) },
    });
    expect(pending.headers.get('toolgate-audit')).toBeNull();
    expect(pending.headers.get('ratelimit')).toBe('"steps";r=9');
    await decide(parked);
    expect((await get(agent, id)).body).toMatchObject({
      tool: 'get_approval',
      step: null,
      ok: true,
      code: 'OK',
      data: { order_id: parked.order, refunded_cents: 2590 },
      approval: { id, status: 'executed' },
    });
    expect((await auditIn(agent.object)).map(({ kind }) => kind)).toEqual(['call', 'decision']);
  });

  it.each([
    ['rejected', 'CONFIRMATION_REJECTED', (parked: Parked) => reject(parked, 'No photo.')],
    ['expired', 'APPROVAL_EXPIRED', async () => later(DAY_MS)],
    ['failed', 'WITHDRAWN', ({ agent, id }: Parked) => agent.stub().withdraw(id, 'req')],
    [
      'failed',
      'POLICY_LIMIT',
      async (parked: Parked) => {
        await changePolicy(parked.agent, { max_refund_cents: 1 });
        await decide(parked);
      },
    ],
  ])('says of a %s action that it is over: %s', async (status, code, end) => {
    const parked = await parkedRefund();
    await end(parked);
    const { body } = await get(parked.agent, parked.id);
    expect(body).toMatchObject({ ok: false, code, next: 'stop_and_tell_user', approval: { status } });
    const poll = await ask(await tokenOf(parked.agent), 'GET', `/v1/approvals/${parked.id}`);
    expect(poll.body).toMatchObject({ status, outcome: { code, next: 'stop_and_tell_user' } });
  });

  it('answers after the budget is spent and after the session is exhausted', async () => {
    const parked = await parkedRefund({ max_steps: 1 });
    const token = await tokenOf(parked.agent);
    expect(codeOf(await sendAs(token, '/v1/calls', { tool: 'get_order' }))).toBe('STEP_LIMIT');
    expect((await get(parked.agent, parked.id)).body).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    for (let call = 0; call < 101; call += 1) await sendAs(token, '/v1/calls', { tool: 'get_order' });
    expect(codeOf(await sendAs(token, '/v1/calls', { tool: 'get_order' }))).toBe(429);
    expect((await get(parked.agent, parked.id)).body).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
  });

  it('refuses a malformed id, a wait of 26 seconds, and arguments that are no object', async () => {
    const { agent, id } = await parkedRefund();
    expect((await get(agent, 'apr_1')).body).toMatchObject({ code: 'INVALID_ARGUMENTS', step: null });
    expect((await get(agent, id, { wait_seconds: 26 })).body).toMatchObject({ code: 'INVALID_ARGUMENTS' });
    const body = { tool: 'get_approval', arguments: '{"approval_id":' };
    expect(codeOf(await sendAs(await tokenOf(agent), '/v1/calls', body))).toBe('INVALID_JSON');
  });

  it('finds neither an approval of another session nor an unknown one', async () => {
    const { id } = await parkedRefund();
    const other = await newAgent();
    for (const unknown of [id, `apr_${'0'.repeat(32)}`])
      expect((await get(other, unknown)).body).toMatchObject({ code: 'APPROVAL_NOT_FOUND', next: 'fix_and_retry' });
    expect(await auditIn(other.object)).toEqual([]);
  });

  it('is offered where a tool may need a person, and nowhere else', async () => {
    const risky = await newAgent();
    const listed = await ask(await tokenOf(risky), 'GET', '/v1/tools');
    expect((listed.body['tools'] as { name: string }[]).map(({ name }) => name)).toEqual([
      'get_approval',
      'get_order',
      'refund_order',
    ]);
    expect((await sendAs(await tokenOf(risky), '/v1/calls', { tool: 'none' })).body).toMatchObject({
      available: ['get_approval', 'get_order', 'refund_order'],
    });
    const reader = await newAgent({ allowed_tools: ['get_order'] });
    expect((await get(reader, `apr_${'0'.repeat(32)}`)).body).toMatchObject({ code: 'TOOL_NOT_ALLOWED', step: 1 });
  });

  it('cannot be named in a policy', async () => {
    const { caller_id } = await makeCaller();
    const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, {
      allowed_tools: ['refund_order', 'get_approval'],
    });
    expect({ status, detail: body['detail'] }).toEqual({
      status: 422,
      detail: 'allowed_tools must not name get_approval: risky tools bring it',
    });
  });

  it('waits for a decision', async () => {
    vi.useRealTimers();
    const parked = await parkedRefund();
    const waiting = get(parked.agent, parked.id, { wait_seconds: 25 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await decide(parked);
    expect((await waiting).body['approval']).toMatchObject({ id: parked.id });
    expect(['OK', 'CONFIRMATION_REQUIRED']).toContain((await waiting).body['code']);
  });

  it('is 429 past sixty polls a minute, over MCP an error that the model can read', async () => {
    const { agent, id } = await parkedRefund();
    for (let poll = 0; poll < 60; poll += 1) await agent.stub().approval(agent.uid, id, 0);
    expect((await get(agent, id)).status).toBe(429);
    const { isError, content } = await mcp(agent, { approval_id: id });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('Wait a minute');
  });
});

describe('an agent that asks over MCP', () => {
  it('learns of the refund after a person approved it', async () => {
    const parked = await parkedRefund();
    expect((await mcp(parked.agent, { approval_id: parked.id })).isError).toBe(true);
    await decide(parked);
    expect((await mcp(parked.agent, { approval_id: parked.id })).structuredContent).toMatchObject({
      refunded_cents: 2590,
    });
  });
});

describe('a repetition', () => {
  it('of a pending action is never a loop, and still takes its step', async () => {
    const agent = await newAgent();
    const order = await newOrder();
    const token = await tokenOf(agent);
    const codes: unknown[] = [];
    for (let call = 0; call < 11; call += 1)
      codes.push(codeOf(await sendAs(token, '/v1/calls', { tool: 'refund_order', arguments: refund(order) })));
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 'CONFIRMATION_REQUIRED'), 'STEP_LIMIT']);
    await runAlarm(agent.object);
  });
});
