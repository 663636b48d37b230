/** Pauses over HTTP (docs/specification.md#pauses): nothing is applied after the answer, and reads go on. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  approves,
  attemptsOf,
  HOUR_MS,
  later,
  moveOn,
  parks,
  standStill,
  statesIn,
  wordOf,
} from '../support/effects.ts';
import { elsewhere, network, reachDouble, stripe } from '../support/elsewhere.ts';
import { watchD1 } from '../support/faults.ts';
import { linkOf } from '../support/approver.ts';
import { alarmOf, runAlarm } from '../support/inside.ts';
import { asOperator } from '../support/over-http.ts';
import { enterSessions, objectsThat } from '../support/session-rows.ts';
import { ledgerOf, newAgent, newCaller, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

const UNASKED = { confirm_above_cents: 50_000 };

beforeEach(standStill);
afterEach(async () => {
  for (const { id } of await listed()) await asOperator('DELETE', `/admin/pauses/${id}`);
  moveOn();
});

type Listed = { id: string; scope: string; reason: string; at: string; actor: string };
const listed = async (): Promise<Listed[]> => (await asOperator('GET', '/admin/pauses')).body['pauses'] as Listed[];
async function pause(scope: string): Promise<string> {
  const { status, body } = await asOperator('POST', '/admin/pauses', { scope, reason: 'Chargebacks rise.' });
  expect(status).toBe(201);
  return String(body['id']);
}
const lift = (id: string) => asOperator('DELETE', `/admin/pauses/${id}`);
const scopesOf = ({ caller_id }: Agent): string[] => ['all', `caller:${caller_id}`, 'tool:refund_order'];
const codeOf = async (agent: Agent, order: string): Promise<string> =>
  outcomeOf(await agent.call('refund_order', refund(order))).code;

describe('POST /admin/pauses', () => {
  it.each([0, 1, 2])('refuses effects with PAUSED, lets reads go on, and is lifted (scope %i)', async (place) => {
    const [order, agent] = [await newOrder(), await newAgent(UNASKED)];
    const id = await pause(scopesOf(agent)[place] ?? '');
    const told = outcomeOf(await agent.call('refund_order', refund(order)));
    expect(told).toMatchObject({ code: 'PAUSED', next: 'stop_and_tell_user' });
    expect(outcomeOf(await agent.call('get_order', { order_id: order })).code).toBe('OK');
    expect(await ledgerOf(order)).toMatchObject({ applied: 0 });
    await lift(id);
    expect(await codeOf(agent, order)).toBe('OK');
  });

  it('concerns no other caller and no other tool', async () => {
    const [order, agent, other] = [await newOrder(), await newAgent(UNASKED), await newAgent(UNASKED)];
    await pause(`caller:${other.caller_id}`);
    await pause('tool:refund_payment');
    expect(await codeOf(agent, order)).toBe('OK');
  });

  it('is known to sessions that are opened later, and asks nobody', async () => {
    await pause('all');
    const agent = await newAgent();
    expect(await codeOf(agent, await newOrder())).toBe('PAUSED');
    expect(await statesIn(agent)).toEqual([]);
  });

  it.each([0, 1, 2])('stops an effect that was claimed before and had not been told (scope %i)', async (place) => {
    const [order, agent] = [await newOrder(), await newAgent(UNASKED)];
    const d1 = watchD1();
    const sending = d1.stop('send', 'before');
    const call = agent.call('refund_order', refund(order));
    await sending.reached();
    await pause(scopesOf(agent)[place] ?? '');
    sending.release();
    expect(outcomeOf(await call).code).toBe('PAUSED');
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 1 });
  });

  it('is listed with who paused what, when and why, and leaves rows of the operator log', async () => {
    const id = await pause('tool:refund_order');
    const at = new Date().toISOString();
    expect(await listed()).toEqual([
      { id, scope: 'tool:refund_order', reason: 'Chargebacks rise.', at, actor: 'token' },
    ]);
    await lift(id);
    const { results } = await env.DB.prepare(
      'SELECT action, target FROM operator_log WHERE target = ? ORDER BY id DESC LIMIT 2',
    )
      .bind('tool:refund_order')
      .all();
    expect(results).toEqual([
      { action: 'pause.lift', target: 'tool:refund_order' },
      { action: 'pause.set', target: 'tool:refund_order' },
    ]);
    expect((await lift(id)).status).toBe(404);
  });

  it('leaves the rows of a paused caller under its id', async () => {
    const caller_id = await newCaller();
    await lift(await pause(`caller:${caller_id}`));
    const { results } = await env.DB.prepare(
      "SELECT action, target, detail FROM operator_log WHERE caller_id = ? AND action LIKE 'pause%' ORDER BY id",
    )
      .bind(caller_id)
      .all();
    const detail = JSON.stringify({ reason: 'Chargebacks rise.' });
    expect(results).toEqual([
      { action: 'pause.set', target: null, detail },
      { action: 'pause.lift', target: null, detail },
    ]);
  });

  it('is lifted once, with one row, by two requests at the same time', async () => {
    const caller_id = await newCaller();
    const id = await pause(`caller:${caller_id}`);
    const answers = await Promise.all([lift(id), lift(id)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404]));
    const lifts = env.DB.prepare(
      "SELECT count(*) AS n FROM operator_log WHERE caller_id = ? AND action = 'pause.lift'",
    );
    expect(await lifts.bind(caller_id).first('n')).toBe(1);
  });

  it('tells 500 sessions itself, however many callers have them, and leaves the rest to the queue', async () => {
    const forgetSessions = () => env.DB.prepare('DELETE FROM sessions').run();
    await forgetSessions();
    for (const caller of [await newCaller(), await newCaller()]) await enterSessions(caller, 400);
    const told = vi.fn(() => Promise.resolve());
    objectsThat(told);
    const queued = vi
      .spyOn(env.QUEUE, 'sendBatch')
      .mockResolvedValue(undefined as never)
      .mockClear();
    await pause('all');
    expect(told).toHaveBeenCalledTimes(500);
    expect(queued.mock.calls.flatMap(([messages]) => [...messages])).toHaveLength(300);
    await forgetSessions();
  });

  it.each([
    [{ scope: 'everything', reason: 'x' }, 'scope'],
    [{ scope: 'tool:no_such_tool', reason: 'x' }, 'scope names a tool that does not exist'],
    [{ scope: 'caller:nobody', reason: 'x' }, 'scope names a caller that does not exist'],
    [{ scope: 'all' }, 'reason'],
    [{ scope: 'all', reason: '\u202e' }, 'reason'],
  ])('refuses %j with 422', async (body, field) => {
    const answer = await asOperator('POST', '/admin/pauses', body);
    expect([answer.status, answer.body['detail']]).toEqual([422, expect.stringContaining(field)]);
    expect(await listed()).toEqual([]);
  });
});

describe('an approval under a pause', () => {
  it('cannot be approved, stays pending, and can be rejected', async () => {
    const agent = await newAgent();
    const id = await parks(agent, refund(await newOrder()));
    const paused = await pause('all');
    expect(wordOf(await approves(agent, id))).toBe('paused');
    expect(await statesIn(agent)).toEqual(['pending']);
    expect(wordOf(await approves(agent, id, { decision: 'reject' }))).toBe('rejected');
    await lift(paused);
  });

  it('says on its page that it is paused, as long as it is', async () => {
    const agent = await newAgent();
    const order = await newOrder();
    const id = await parks(agent, refund(order));
    const isPaused = async (): Promise<unknown> => {
      const answer = await agent.stub().view(await linkOf({ agent, id, order }));
      return 'view' in answer && answer.view.paused;
    };
    expect(await isPaused()).toBe(false);
    const other = await pause('tool:refund_payment');
    expect(await isPaused()).toBe(false);
    const paused = await pause('tool:refund_order');
    expect(await isPaused()).toBe(true);
    for (const each of [other, paused]) await lift(each);
    expect(await isPaused()).toBe(false);
  });

  it('expires while it is paused', async () => {
    const agent = await newAgent({ approval_ttl_seconds: 60 });
    const id = await parks(agent, refund(await newOrder()));
    await pause('all');
    later(61_000);
    expect(wordOf(await approves(agent, id))).toBe('already_decided');
    expect(await statesIn(agent)).toEqual(['expired']);
  });

  /** Approved, and stopped on its way to the ledger while the pause comes. */
  async function approvedThenPaused() {
    const [order, agent] = [await newOrder(), await newAgent()];
    const id = await parks(agent, refund(order));
    const d1 = watchD1();
    const sending = d1.stop('send', 'before');
    const decided = approves(agent, id);
    await sending.reached();
    const paused = await pause('tool:refund_order');
    sending.release();
    expect(wordOf(await decided)).toBe('approved');
    return { order, agent, paused };
  }

  it('waits once it is approved, and is carried out when the pause is lifted within the hour', async () => {
    const { order, agent, paused } = await approvedThenPaused();
    await runAlarm(agent.object);
    expect([await statesIn(agent), await attemptsOf(agent)]).toEqual([['approved'], []]);
    await lift(paused);
    await runAlarm(agent.object);
    expect(await statesIn(agent)).toEqual(['executed']);
    expect(await ledgerOf(order)).toMatchObject({ applied: 1 });
  });

  it('is resumed by an identical call once the pause is lifted, and not before', async () => {
    const { order, agent, paused } = await approvedThenPaused();
    expect(await codeOf(agent, order)).toBe('UPSTREAM_UNAVAILABLE');
    expect([await statesIn(agent), await attemptsOf(agent)]).toEqual([['approved'], []]);
    await lift(paused);
    expect(await codeOf(agent, order)).toBe('OK');
    expect(await ledgerOf(order)).toMatchObject({ applied: 1 });
  });

  it('is resumed at once when the pause is lifted, however often it was tried before', async () => {
    const { agent, paused } = await approvedThenPaused();
    for (let tries = 0; tries < 10; tries += 1) await runAlarm(agent.object);
    expect(await alarmOf(agent.object)).toBeGreaterThan(Date.now() + 60_000);
    await lift(paused);
    expect(await alarmOf(agent.object)).toBeLessThanOrEqual(Date.now());
  });

  it('is void after its hour', async () => {
    const { order, agent } = await approvedThenPaused();
    later(HOUR_MS + 1);
    await runAlarm(agent.object);
    expect(await statesIn(agent)).toEqual(['failed']);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 0, applied: 0, voids: 1 });
  });
});

describe('an effect in another system under a pause', () => {
  beforeEach(reachDouble);

  it('is not sent, and what is unknown is looked up but not sent again', async () => {
    const ready = await elsewhere();
    network.planned = [
      () => Promise.reject(new TypeError('fetch failed')),
      () => Promise.reject(new TypeError('fetch failed')),
    ];
    await ready.begin();
    const posted = stripe.posted.length;
    const id = await pause('tool:refund_payment');
    later(10_000);
    await runAlarm(ready.agent.object);
    expect(await statesIn(ready.agent)).toEqual(['claimed']);
    expect((await (await elsewhere()).begin()).code).toBe('PAUSED');
    expect(stripe.posted).toHaveLength(posted);
    await lift(id);
    later(60_000);
    await runAlarm(ready.agent.object);
    expect(await statesIn(ready.agent)).toEqual(['executed']);
    expect(stripe.refundedOf(ready.payment)).toBe(2_590);
  });
});
