/** docs/specification.md#sessions and docs/specification.md#asking-about-an-approval, from outside. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { slugOf, type Answer, type Caller, type Session } from './client.ts';
import { sharedWorker } from './shared-worker.ts';

const ORDER = { order_id: 'ORD-1001' };
const refusal = (answer: Answer) => ({ status: answer.status, slug: slugOf(answer), detail: answer.json['detail'] });
const naming = (status: number, slug: string, field: string) => ({
  status,
  slug,
  detail: expect.stringContaining(field) as string,
});

const client = sharedWorker();
let shop: Caller;
beforeAll(async () => {
  shop = await client.newCaller({ max_steps: 20 });
});

describe('POST /v1/sessions', () => {
  it('opens a session with its token, its end and its policy, and shows no address', async () => {
    const body = { session_id: 'chat:1', customer_id: 'CUS-1', requested_by: 'bo@shop.test', ttl_seconds: 60 };
    const before = Date.now();
    const { status, json, text } = await client.open(shop, body);
    expect({ status, ...json }).toEqual({
      status: 201,
      session_id: 'chat:1',
      token: expect.any(String) as string,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      policy: {
        tools: ['calculator', 'get_order', 'refund_order'],
        max_steps: 20,
        max_duplicate_calls: 3,
        max_refund_cents: 50_000,
        max_session_refund_cents: null,
        confirm_above_cents: 0,
        limits: {},
        customer_id: 'CUS-1',
        approvers: 1,
      },
    });
    expect(text).not.toContain('@');
    const lives = Date.parse(String(json['expires_at'])) - before;
    expect(lives).toBeGreaterThan(55_000);
    expect(lives).toBeLessThanOrEqual(65_000);
  });

  it('makes a name up, and another each time', async () => {
    const [one, two] = [await client.newSession({}, shop), await client.newSession({}, shop)];
    expect(one.session_id).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
    expect(one.session_id).not.toBe(two.session_id);
  });

  it('rejoins with what is absent kept, and never resets the budget', async () => {
    const { session_id, token } = await client.newSession({ max_steps: 5, tools: ['get_order'] }, shop);
    await client.call(token, { tool: 'get_order', arguments: ORDER });
    const again = await client.open(shop, { session_id, max_refund_cents: 100 });
    expect({ status: again.status, policy: again.json['policy'] }).toMatchObject({
      status: 200,
      policy: { max_steps: 5, tools: ['get_order'], max_refund_cents: 100 },
    });
    const outcome = await client.call(String(again.json['token']), { tool: 'get_order', arguments: ORDER });
    expect(outcome.json['step']).toBe(2);
  });

  it.each([
    ['tools', ['count_documents']],
    ['tools', ['no_such_tool']],
    ['max_steps', 21],
    ['max_refund_cents', 50_001],
  ])('refuses %s wider than the policy and names it', async (field, value) => {
    expect(refusal(await client.open(shop, { [field]: value }))).toEqual(naming(403, 'policy-widened', field));
  });

  it('refuses a rejoin that widens the session', async () => {
    const { session_id } = await client.newSession({ max_steps: 5, max_session_refund_cents: 100 }, shop);
    for (const wider of [{ max_steps: 6 }, { max_session_refund_cents: 101 }]) {
      const [field = ''] = Object.keys(wider);
      const answer = await client.open(shop, { session_id, ...wider });
      expect(refusal(answer)).toEqual(naming(403, 'policy-widened', field));
    }
  });

  it.each([
    ['customer_id', 'CUS-2'],
    ['requested_by', 'cy@shop.test'],
  ])('keeps %s as it was at opening', async (field, value) => {
    const { session_id } = await client.newSession({ customer_id: 'CUS-1', requested_by: 'bo@shop.test' }, shop);
    const answer = await client.open(shop, { session_id, [field]: value });
    expect(refusal(answer)).toEqual(naming(409, 'session-conflict', field));
  });

  it('demands a customer where the caller is scoped to one', async () => {
    const scoped = await client.newCaller({ customer_scope: 'required' });
    expect(refusal(await client.open(scoped))).toEqual(naming(422, 'invalid-body', 'customer_id'));
    expect((await client.open(scoped, { customer_id: 'CUS-1' })).status).toBe(201);
  });

  it.each([
    ['tools', 'get_order'],
    ['session_id', 'a b'],
    ['session_id', ''],
    ['session_id', 'x'.repeat(129)],
    ['customer_id', 'CUS 1'],
    ['customer_id', ''],
    ['customer_id', 'x'.repeat(129)],
    ['customer_id', 'CUS-١'],
    ['requested_by', 'nobody'],
    ['max_steps', 0],
    ['max_steps', '5'],
    ['max_steps', null],
    ['max_refund_cents', 1.5],
    ['max_session_refund_cents', -1],
    ['ttl_seconds', 59],
    ['ttl_seconds', 86_401],
    ['confirm_above_cents', 1_000],
  ])('refuses %s of %j and names it', async (field, value) => {
    expect(refusal(await client.open(shop, { [field]: value }))).toEqual(naming(422, 'invalid-body', field));
  });

  it('gives two callers two sessions under one name', async () => {
    const [mine, theirs] = [await client.newCaller(), await client.newCaller()];
    const body = { session_id: 'same' };
    expect([(await client.open(mine, body)).status, (await client.open(theirs, body)).status]).toEqual([201, 201]);
  });
});

describe('DELETE /v1/sessions/{id}', () => {
  const end = (caller: Caller, id: string) =>
    client.send(`/v1/sessions/${encodeURIComponent(id)}`, { method: 'DELETE', credential: caller.api_key });

  it('ends the session: its tokens are no good and its name is taken', async () => {
    const { session_id, token } = await client.newSession({}, shop);
    const { status, json } = await end(shop, session_id);
    expect({ status, ...json }).toEqual({
      status: 200,
      session_id,
      ended_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    expect((await client.call(token, { tool: 'get_order', arguments: ORDER })).status).toBe(401);
    expect(refusal(await client.open(shop, { session_id }))).toMatchObject({ status: 409, slug: 'session-conflict' });
  });

  it.each(['unknown', 'a b', '../admin', '%'])('knows no session %j', async (id) => {
    expect((await end(shop, id)).status).toBe(404);
  });

  it('answers a foreign session as an unknown one, and leaves it alone', async () => {
    const { session_id, token } = await client.newSession({}, shop);
    const stranger = await client.newCaller();
    expect((await end(stranger, session_id)).text).toBe((await end(stranger, 'unknown')).text);
    expect((await client.call(token, { tool: 'get_order', arguments: ORDER })).status).toBe(200);
  });
});

describe('GET /v1/approvals/{id}', () => {
  const ask = async (session: Session, amount_cents: number): Promise<string> => {
    const args = { ...ORDER, amount_cents, currency: 'BRL', reason: 'damaged' };
    const { json } = await client.call(session.token, { tool: 'refund_order', arguments: args, call_id: 'c1' });
    return (json['approval'] as { id: string }).id;
  };
  const look = ({ token }: Session, id: string, query = '', headers: Record<string, string> = {}) =>
    client.send(`/v1/approvals/${id}${query}`, { credential: token, headers });

  /** Rejects as the approver of the mail does, and answers the status. */
  async function reject(id: string, note: string): Promise<number> {
    const text = await vi.waitFor(
      async () => {
        const mail = (await client.worker.mails()).find(({ subject }) => subject.includes(id));
        if (mail === undefined) throw new Error('no mail yet');
        return mail.text;
      },
      { timeout: 15_000, interval: 200 },
    );
    const link = /http\S+\/approvals\/\S+/.exec(text)?.[0] ?? '';
    const body = new URLSearchParams({ decision: 'reject', phrase: '1.00', note }).toString();
    const headers = { Origin: client.worker.url, 'Content-Type': 'application/x-www-form-urlencoded' };
    return (await client.send(link.replace(client.worker.url, ''), { body, headers })).status;
  }

  it('shows a pending approval, as JSON and as what the model reads', async () => {
    const session = await client.newSession({}, shop);
    const id = await ask(session, 100);
    const { json, text } = await look(session, id);
    expect(json).toEqual({
      id,
      status: 'pending',
      tool: 'refund_order',
      arguments: { ...ORDER, amount_cents: 100, currency: 'BRL', reason: 'damaged' },
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      delivery: { asked: 1, sent: expect.any(Number) as number, undeliverable: 0 },
    });
    expect(text).not.toMatch(/@|t=/);
    const shown = await look(session, id, '', { Accept: 'text/plain' });
    expect(shown.text).toMatch(/^<tool_observation name="refund_order" id="c1">.*"code":"CONFIRMATION_REQUIRED"/);
  });

  it('answers a wait as soon as a person decides, with the cleaned note', async () => {
    const session = await client.newSession({}, shop);
    const id = await ask(session, 100);
    const waiting = look(session, id, '?wait=25');
    expect(await reject(id, 'see https://evil.test first')).toBe(303);
    const { json } = await waiting;
    expect(json).toMatchObject({
      status: 'rejected',
      decided_at: expect.stringMatching(/Z$/) as string,
      note: 'see [link] first',
      outcome: { ok: false, code: 'CONFIRMATION_REJECTED', next: 'stop_and_tell_user' },
    });
  });

  it('answers a wait without a decision when the time is over', async () => {
    const session = await client.newSession({}, shop);
    const started = Date.now();
    expect((await look(session, await ask(session, 100), '?wait=1')).json['status']).toBe('pending');
    expect(Date.now() - started).toBeGreaterThan(900);
  });

  it.each(['26', '-1', '1.5', '', 'x', '1e1', '025'])('refuses to wait %j seconds', async (wait) => {
    const session = await client.newSession({}, shop);
    expect(refusal(await look(session, 'apr_x', `?wait=${wait}`))).toEqual(
      naming(422, 'invalid-body', 'query: wait must be whole seconds, 0 to 25'),
    );
  });

  it('answers a foreign approval as an unknown one', async () => {
    const id = await ask(await client.newSession({}, shop), 100);
    const stranger = await client.newSession({}, shop);
    const [foreign, unknown] = [await look(stranger, id), await look(stranger, 'apr_x')];
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(unknown.text);
  });

  it('takes nothing but a session token', async () => {
    const id = await ask(await client.newSession({}, shop), 100);
    for (const credential of [shop.api_key, client.worker.adminToken])
      expect((await client.send(`/v1/approvals/${id}`, { credential })).status).toBe(401);
  });
});
