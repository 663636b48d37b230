import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import { ask, asOperator, makeCaller, openSessionOf } from '../support/over-http.ts';
import { enterSessions, objectsThat } from '../support/session-rows.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const newCaller = (changes: Record<string, unknown> = {}) => ({
  name: 'Shop',
  allowed_tools: ['get_order', 'refund_order'],
  approvers: ['ana@shop.test'],
  ...changes,
});

async function policyOf(callerId: string): Promise<Record<string, unknown> | undefined> {
  const { body } = await asOperator('GET', '/admin/callers');
  const callers = body['callers'] as { caller_id: string; policy: Record<string, unknown> }[];
  return callers.find(({ caller_id }) => caller_id === callerId)?.policy;
}

describe('/admin', () => {
  it.each(['/admin/callers', '/admin/audit', '/admin/nothing'])('shows %s only to the operator', async (path) => {
    const { api_key } = await makeCaller();
    const { status, headers } = await ask(api_key, 'GET', path);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="toolgate"');
  });
});

describe('POST /admin/callers', () => {
  it('makes a caller with a key and the careful defaults', async () => {
    const { status, body } = await asOperator('POST', '/admin/callers', newCaller());
    expect(status).toBe(201);
    expect(body).toEqual({
      caller_id: expect.stringMatching(/^[a-z0-9]{16}$/) as unknown,
      api_key: expect.stringMatching(`^tgk_${String(body['caller_id'])}_[A-Za-z0-9_-]{43}$`) as unknown,
      policy: {
        allowed_tools: ['get_order', 'refund_order'],
        approvers: ['ana@shop.test'],
        customer_scope: 'required',
        max_refund_cents: 50_000,
        max_session_refund_cents: null,
        confirm_above_cents: 0,
        limits: {},
        customer_pattern: String.raw`^[\x21-\x7e]{1,128}$`,
        max_steps: 10,
        max_duplicate_calls: 3,
        approval_ttl_seconds: 86_400,
        identical_effects: 'replay',
      },
    });
    await openSessionOf(String(body['api_key']));
  });

  it.each([
    [
      'an unknown tool',
      { allowed_tools: ['get_order', 'drop_table'] },
      'allowed_tools names a tool that does not exist: drop_table',
    ],
    [
      'a risky tool and nobody to ask',
      { approvers: [] },
      'approvers must have at least one address, because refund_order is risky',
    ],
    ['one tool twice', { allowed_tools: ['get_order', 'get_order'] }, 'allowed_tools names a tool twice'],
    ['one approver twice', { approvers: ['ana@shop.test', 'ANA@shop.test'] }, 'approvers holds an address twice'],
    ['a caller without approvers', { approvers: undefined }, 'approvers is required'],
    ['an invisible name', { name: 'Sh\u200bop' }, 'name must have 1 to 60 characters and no invisible ones'],
  ])('refuses %s and says so', async (_what, changes, detail) => {
    const { status, body } = await asOperator('POST', '/admin/callers', newCaller(changes));
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: 'https://toolgate.test/docs/problems/invalid-body', detail });
  });

  it.each([
    { approvers: ['ana@shop.test\r\nBcc: eve@evil.test'] },
    { approvers: ['ána@shop.test'] },
    { approvers: ['Ana <ana@shop.test>'] },
    { approvers: Array.from({ length: 11 }, (_, index) => `a${index}@shop.test`) },
    { name: '' },
    { name: 'Sh\nop' },
    { name: 'Shop\u202Emoc' },
    { name: 'x'.repeat(61) },
    { max_steps: 1_001 },
    { max_duplicate_calls: 0 },
    { approval_ttl_seconds: 59 },
    { max_refund_cents: 25.9 },
    { confirm_above_cents: -1 },
    { customer_scope: 'none' },
    { max_stepz: 3 },
  ])('refuses %j', async (changes) => {
    expect((await asOperator('POST', '/admin/callers', newCaller(changes))).status).toBe(422);
  });

  it('takes a name of 60 characters, whatever they weigh', async () => {
    expect((await asOperator('POST', '/admin/callers', newCaller({ name: '🛒'.repeat(60) }))).status).toBe(201);
  });
});

describe('GET /admin/callers', () => {
  it('shows no key and no hash of one', async () => {
    const { caller_id, api_key } = await makeCaller();
    const { body } = await asOperator('GET', '/admin/callers');
    expect(body['callers']).toContainEqual(expect.objectContaining({ caller_id, name: 'Shop', version: 1 }));
    expect(JSON.stringify(body)).not.toContain(api_key.slice(-43));
    expect(JSON.stringify(body)).not.toMatch(/[0-9a-f]{64}/);
  });
});

describe('PATCH /admin/callers/{id}', () => {
  it('merges, and keeps what is absent', async () => {
    const { caller_id } = await makeCaller({ max_session_refund_cents: 9_000 });
    const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, { max_steps: 3, name: 'New' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ caller_id, name: 'New', version: 2, sessions: { told: 0, queued: 0 } });
    expect(await policyOf(caller_id)).toMatchObject({ max_steps: 3, max_session_refund_cents: 9_000 });
  });

  it('takes a session limit away with null', async () => {
    const { caller_id } = await makeCaller({ max_session_refund_cents: 9_000 });
    await asOperator('PATCH', `/admin/callers/${caller_id}`, { max_session_refund_cents: null });
    expect(await policyOf(caller_id)).toMatchObject({ max_session_refund_cents: null });
  });

  it('refuses what does not fit the rest of the policy, and changes nothing', async () => {
    const { caller_id } = await makeCaller();
    expect((await asOperator('PATCH', `/admin/callers/${caller_id}`, { approvers: [] })).status).toBe(422);
    expect(await policyOf(caller_id)).toMatchObject({ approvers: ['ana@shop.test'] });
  });

  it('holds in open sessions once it has answered', async () => {
    const { caller_id, api_key } = await makeCaller();
    const { token } = await openSessionOf(api_key);
    const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, { allowed_tools: ['get_order'] });
    expect([status, body['sessions']]).toEqual([200, { told: 1, queued: 0 }]);
    const called = await ask(token, 'POST', '/v1/calls', { tool: 'refund_order', arguments: {} });
    expect(called.body).toMatchObject({ code: 'TOOL_NOT_ALLOWED' });
  });

  it('loses neither of two changes at once', async () => {
    const { caller_id } = await makeCaller();
    await Promise.all([
      asOperator('PATCH', `/admin/callers/${caller_id}`, { max_steps: 3 }),
      asOperator('PATCH', `/admin/callers/${caller_id}`, { max_duplicate_calls: 5 }),
    ]);
    expect(await policyOf(caller_id)).toMatchObject({ max_steps: 3, max_duplicate_calls: 5 });
  });

  it('leaves a session that cannot be reached to the queue and says so', async () => {
    const { caller_id } = await makeCaller();
    await enterSessions(caller_id, 1);
    objectsThat(() => Promise.reject(new Error('gone')));
    const sent = vi.spyOn(env.QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, { max_steps: 3 });
    expect([status, body['sessions']]).toEqual([202, { told: 0, queued: 1 }]);
    const message = { type: 'tell', object: sessionObjectName(caller_id, 'chat-0'), caller_id };
    expect(sent.mock.calls).toEqual([[[{ body: message }]]]);
  });

  it('tells 500 sessions itself and leaves the rest to the queue', async () => {
    const { caller_id } = await makeCaller();
    await enterSessions(caller_id, 701);
    objectsThat(() => Promise.resolve());
    const sent = vi.spyOn(env.QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, { max_steps: 3 });
    expect([status, body['sessions']]).toEqual([202, { told: 500, queued: 201 }]);
    expect(sent.mock.calls.map(([batch]) => [...batch].length)).toEqual([100, 100, 1]);
  });

  it('knows no unknown and no revoked caller', async () => {
    const { caller_id } = await makeCaller();
    await asOperator('DELETE', `/admin/callers/${caller_id}`);
    expect((await asOperator('PATCH', `/admin/callers/${caller_id}`, { max_steps: 3 })).status).toBe(404);
    expect((await asOperator('PATCH', '/admin/callers/nobody', { max_steps: 3 })).status).toBe(404);
  });
});

describe('POST /admin/callers/{id}/rotate', () => {
  const opens = async (key: string) => (await ask(key, 'POST', '/v1/sessions', { customer_id: 'CUS-1' })).status;

  it('gives a new key and keeps the old one for its grace', async () => {
    const { caller_id, api_key } = await makeCaller();
    const { status, body } = await asOperator('POST', `/admin/callers/${caller_id}/rotate`, { grace_seconds: 60 });
    expect(status).toBe(200);
    expect([await opens(api_key), await opens(String(body['api_key']))]).toEqual([201, 201]);
  });

  it('ends the old key at once without grace', async () => {
    const { caller_id, api_key } = await makeCaller();
    await asOperator('POST', `/admin/callers/${caller_id}/rotate`, { grace_seconds: 0 });
    expect(await opens(api_key)).toBe(401);
    // By any clock: an opening may have read the time before, and come to the ledger after.
    const keys = env.DB.prepare('SELECT expires_at FROM caller_keys WHERE caller_id = ? ORDER BY expires_at');
    expect((await keys.bind(caller_id).raw()).flat()).toEqual([null, 0]);
  });

  it('ends open sessions where asked to', async () => {
    const { caller_id, api_key } = await makeCaller();
    const { token } = await openSessionOf(api_key);
    const rotation = { grace_seconds: 0, end_sessions: true };
    const { body } = await asOperator('POST', `/admin/callers/${caller_id}/rotate`, rotation);
    expect(body['sessions']).toEqual({ ended: 1, missed: 0 });
    expect((await ask(token, 'GET', '/v1/tools')).status).toBe(401);
  });

  it('shows the new key even where the open sessions cannot be read: it is shown once', async () => {
    const { caller_id } = await makeCaller();
    const prepare = env.DB.prepare.bind(env.DB);
    vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
      if (sql.includes('FROM sessions')) throw new Error('D1_ERROR: Network connection lost.');
      return prepare(sql);
    });
    const rotation = { grace_seconds: 60, end_sessions: true };
    const { status, body } = await asOperator('POST', `/admin/callers/${caller_id}/rotate`, rotation);
    vi.restoreAllMocks();
    expect(status).toBe(202);
    expect(body['sessions']).toEqual({ ended: 0, missed: 1 });
    expect(await opens(String(body['api_key']))).toBe(201);
  });

  it.each([{}, { grace_seconds: 604_801 }, { grace_seconds: 0, end_session: true }])('refuses %j', async (body) => {
    const { caller_id } = await makeCaller();
    expect((await asOperator('POST', `/admin/callers/${caller_id}/rotate`, body)).status).toBe(422);
  });
});

describe('DELETE /admin/callers/{id}', () => {
  it('closes keys and open sessions before it answers, and may be repeated', async () => {
    const { caller_id, api_key } = await makeCaller();
    const { token } = await openSessionOf(api_key);
    const { status, body } = await asOperator('DELETE', `/admin/callers/${caller_id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ caller_id, version: 2, sessions: { told: 1, queued: 0 } });
    expect((await ask(api_key, 'POST', '/v1/sessions', { customer_id: 'CUS-1' })).status).toBe(401);
    expect((await ask(token, 'POST', '/v1/calls', { tool: 'get_order' })).status).toBe(401);
    expect((await asOperator('DELETE', `/admin/callers/${caller_id}`)).status).toBe(200);
  });

  it('knows no unknown caller', async () => {
    expect((await asOperator('DELETE', '/admin/callers/nobody')).status).toBe(404);
  });
});
