/** Attacks on who somebody is: other people's sessions, approvals and links, and one's own twice. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sessionObjectName, signSessionToken } from '../../src/gate/auth/tokens.ts';
import { parkedRefund, statusOf } from '../support/approver.ts';
import { configOf, submit, tokenOf, visit } from '../support/reached.ts';
import { auditIn, dumpOf, objectsWithStorage, withoutAlarms } from '../support/inside.ts';
import { ask, makeCaller } from '../support/over-http.ts';
import { ledgerOf, newAgent, newOrder, refund } from '../support/session.ts';

beforeEach(() => {
  withoutAlarms();
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });
const HOUR_MS = 3_600_000;

/** What the client sees of an answer, but for the ids that each has. */
const seen = async (answer: ReturnType<typeof visit>): Promise<string> => {
  const { status, headers, text } = await answer;
  return `${status} ${headers.get('content-type')} ${headers.get('www-authenticate')} ${text}`;
};

describe("a session token that is not the session's", () => {
  it('is the same 401 for every fault on every route, and no object stores anything', async () => {
    const [mine, theirs] = [await newAgent(), await newAgent()];
    const expiresAt = Date.now() + HOUR_MS;
    const claims = { caller: mine.caller_id, session: mine.session_id, uid: mine.uid, expiresAt };
    const sign = (changes: object, config = configOf()) => signSessionToken(config, { ...claims, ...changes });
    const forged = [
      await sign({ uid: theirs.uid }),
      await sign({ session: theirs.session_id }),
      await sign({ caller: theirs.caller_id }),
      await sign({ caller: 'nobody0000000000', session: 'none', uid: 'none' }),
      await sign({ expiresAt: Date.now() - 1_000 }),
      await sign({}, configOf({ TOOLGATE_SECRET: 'd'.repeat(64), TOOLGATE_SECRET_PREVIOUS: 'd'.repeat(64) })),
      await sign({}, configOf({ PUBLIC_URL: 'https://other.test' })),
    ];
    const before = {
      objects: await objectsWithStorage(),
      mine: await dumpOf(mine.object),
      theirs: await dumpOf(theirs.object),
    };
    const call = { method: 'POST', body: '{"tool":"get_order"}' };
    const answers = new Set<string>();
    for (const token of forged) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      answers.add(await seen(visit('/v1/calls', { ...call, headers })));
      answers.add(await seen(visit('/v1/tools', { headers })));
      answers.add(await seen(visit('/v1/approvals/apr_x', { headers })));
      answers.add(await seen(visit('/v1/calls/openai', { ...call, headers, body: '{"output":[]}' })));
    }
    expect([...answers]).toEqual([expect.stringMatching(/^401 application\/problem\+json Bearer realm="toolgate" /)]);
    expect({
      objects: await objectsWithStorage(),
      mine: await dumpOf(mine.object),
      theirs: await dumpOf(theirs.object),
    }).toEqual(before);
  });
});

describe("somebody else's session and approval", () => {
  it('are to a caller and an agent what there is not', async () => {
    const [shop, stranger] = [await makeCaller(), await makeCaller()];
    const opened = await ask(shop.api_key, 'POST', '/v1/sessions', { session_id: 'chat', customer_id: 'CUS-1' });
    expect(opened.status).toBe(201);
    const before = await objectsWithStorage();
    const end = (key: string, id: string) => seen(visit(`/v1/sessions/${id}`, { method: 'DELETE', ...bearer(key) }));
    expect(await end(stranger.api_key, 'chat')).toBe(await end(stranger.api_key, 'unknown'));
    expect((await end(stranger.api_key, 'chat')).slice(0, 3)).toBe('404');

    const parked = await parkedRefund();
    const look = async (token: string, id: string) => seen(visit(`/v1/approvals/${id}`, bearer(token)));
    const foreign = await tokenOf(await newAgent());
    expect(await look(foreign, parked.id)).toBe(await look(foreign, 'apr_unknown'));
    expect((await look(foreign, parked.id)).slice(0, 3)).toBe('404');
    expect((await look(await tokenOf(parked.agent), parked.id)).slice(0, 3)).toBe('200');
    // The objects that were opened here, and none for a name that was only asked for.
    expect((await objectsWithStorage()).length).toBe(before.length + 2);
  });

  it('of the same name is another: its own budget, its own records', async () => {
    const [one, two] = [await makeCaller(), await makeCaller()];
    for (const { api_key } of [one, two]) {
      const body = { session_id: 'chat:1', customer_id: 'CUS-1' };
      const { token } = (await ask(api_key, 'POST', '/v1/sessions', body)).body;
      const { body: outcome } = await ask(String(token), 'POST', '/v1/calls', { tool: 'get_order', call_id: 'c1' });
      expect(outcome).toMatchObject({ step: 1, code: 'INVALID_ARGUMENTS' });
    }
  });
});

describe('names that look alike', () => {
  it('are sessions of their own', async () => {
    const { caller_id, api_key } = await makeCaller();
    const names = ['a', 'A', 'a:', 'a:a', ':a', 'a.', '.', '..', '__proto__', 'constructor', 'a-b', 'a_b', '0', '00'];
    for (const session_id of names) {
      const { status, body } = await ask(api_key, 'POST', '/v1/sessions', { session_id, customer_id: 'CUS-1' });
      expect({ session_id, status }).toEqual({ session_id, status: 201 });
      const call = await ask(String(body['token']), 'POST', '/v1/calls', { tool: 'get_order', call_id: 'c' });
      expect({ session_id, step: call.body['step'] }).toEqual({ session_id, step: 1 });
    }
    const parts = [
      [caller_id, 'a:b'],
      [`${caller_id}:a`, 'b'],
      [`${caller_id}","a`, 'b'],
      [caller_id, '","a'],
    ];
    const made = new Set([...parts.map(([caller = '', name = '']) => sessionObjectName(caller, name))]);
    expect(made.size).toBe(parts.length);
  });

  it('of tools and of arguments are keys of their own, however they run together', async () => {
    const agent = await newAgent({ allowed_tools: ['get_order', 'lookup_document', 'calculator'], max_steps: 30 });
    const calls: [string, unknown][] = [
      ['get_order', { order_id: 'ORD-1001' }],
      ['lookup_document', { doc_id: 'ord-1001' }],
      ['lookup_document', { doc_id: 'ord-10011' }],
      ['calculator', { expression: '1' }],
      ['calculator', { expression: '11' }],
      ['calculator', { expression: ' 1' }],
      ['calculator', { expression: '1 ' }],
    ];
    for (const [tool, args] of calls) await agent.call(tool, args);
    // Written otherwise, the first is the same call.
    await agent.call('get_order', '{ "order_id" : "\\u004fRD-1001" }');
    const keys = (await auditIn(agent.object)).map(({ key }) => key);
    expect(new Set(keys).size).toBe(calls.length);
    expect(keys.at(-1)).toBe(keys[0]);
  });

  it("of ids do not lead from one tool's call to another's result", async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder();
    await agent.call('refund_order', refund(order), 'c1');
    const reused = await agent.call('get_order', { order_id: order }, 'c1');
    expect(reused).toMatchObject({ outcome: { ok: false, code: 'CALL_ID_REUSED' } });
    expect(JSON.stringify(reused)).not.toContain('refunded_cents');
  });
});

describe('an agent', () => {
  it('reaches no decision with any credential of its side', async () => {
    const parked = await parkedRefund();
    const { api_key } = await makeCaller();
    const before = await dumpOf(parked.agent.object);
    for (const credential of [await tokenOf(parked.agent), api_key]) {
      const headers = { authorization: `Bearer ${credential}` };
      for (const where of [`/approvals/${parked.id}`, `/approvals/${parked.id}?t=${credential}`]) {
        expect((await visit(where, { headers })).status).toBe(404);
        expect((await submit(where, undefined, headers)).status).toBe(404);
      }
      for (const action of ['resend', 'withdraw', 'approve'])
        expect((await visit(`/admin/approvals/${parked.id}/${action}`, { method: 'POST', headers })).status).toBe(401);
      const posted = await visit(`/v1/approvals/${parked.id}`, { method: 'POST', headers, body: 'decision=approve' });
      expect(posted.status).toBe(405);
    }
    expect(await dumpOf(parked.agent.object)).toBe(before);
  });

  it('confirms nothing by saying so', async () => {
    const parked = await parkedRefund();
    const token = await tokenOf(parked.agent);
    const args = refund(parked.order);
    for (const member of ['confirmed', 'approved', 'confirm', 'approval_id', 'force']) {
      const inArguments = { tool: 'refund_order', arguments: { ...args, [member]: true } };
      expect((await ask(token, 'POST', '/v1/calls', inArguments)).body).toMatchObject({ code: 'INVALID_ARGUMENTS' });
      const beside = { tool: 'refund_order', arguments: args, [member]: parked.id };
      expect((await ask(token, 'POST', '/v1/calls', beside)).status).toBe(422);
    }
    expect(await statusOf(parked)).toBe('pending');
    expect(await ledgerOf(parked.order)).toMatchObject({ refunded_cents: 0, applied: 0 });
  });

  it.each(['ana@shop.test', 'ANA@shop.TEST', 'Ana@Shop.Test'])(
    'asked by %s has nobody of that name decide',
    async (requested_by) => {
      const { api_key } = await makeCaller({ approvers: ['aNa@shop.test', 'bo@shop.test'] });
      const opened = await ask(api_key, 'POST', '/v1/sessions', { customer_id: 'CUS-1', requested_by });
      const args = refund(await newOrder());
      const { body } = await ask(String(opened.body['token']), 'POST', '/v1/calls', {
        tool: 'refund_order',
        arguments: args,
      });
      const { id } = body['approval'] as { id: string };
      const { body: shown } = await ask(String(opened.body['token']), 'GET', `/v1/approvals/${id}`);
      expect(shown).toMatchObject({ status: 'pending', delivery: { asked: 1 } });
    },
  );

  it('asked by the only approver parks nothing', async () => {
    const { api_key } = await makeCaller({ approvers: ['ana@shop.test'] });
    const opened = await ask(api_key, 'POST', '/v1/sessions', { customer_id: 'CUS-1', requested_by: 'Ana@shop.test' });
    const call = { tool: 'refund_order', arguments: refund(await newOrder()) };
    const { body } = await ask(String(opened.body['token']), 'POST', '/v1/calls', call);
    expect(body).toMatchObject({ code: 'POLICY_LIMIT', next: 'stop_and_tell_user' });
  });
});
