/** The audit's database is full or away: the gate goes on, and rows wait in their objects (docs/reliability.md#availability). */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { approves, attemptsOf, later, parks, provenInD1, statesIn } from '../support/effects.ts';
import { answersOverloaded, watchD1 } from '../support/faults.ts';
import { alarmOf, auditIn, revokeUnheard, runAlarm, withoutAlarms } from '../support/inside.ts';
import { ask, asOperator, makeCaller, openSessionOf } from '../support/over-http.ts';
import { ledgerOf, newAgent, newOrder, outcomeOf, refund } from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Every statement to the audit's database fails like this until the returned function is called. */
function breakAudit(message: string): () => void {
  const failing = () => {
    throw new Error(message);
  };
  const spies = [
    vi.spyOn(env.AUDIT, 'batch').mockImplementation(failing),
    vi.spyOn(env.AUDIT, 'prepare').mockImplementation(failing),
  ];
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

describe.each([
  ['full', 'D1_ERROR: Exceeded maximum DB size: SQLITE_FULL'],
  ['away', 'D1_ERROR: Network connection lost.'],
  ['without its tables', 'D1_ERROR: no such table: audit: SQLITE_ERROR'],
])('an audit database that is %s', (_, message) => {
  it('stops no effect and no decision; their rows wait and arrive later', async () => {
    const heal = breakAudit(message);
    const agent = await newAgent({ confirm_above_cents: 2_590 });
    const order = await newOrder();
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('OK');
    const id = await parks(agent, refund(order, { amount_cents: 2_591 }));
    await runAlarm(agent.object);
    expect(await approves(agent, id, { refunded_cents: 2_590 })).toEqual({ decided: 'approved' });
    await runAlarm(agent.object);
    expect(await ledgerOf(order)).toEqual({ refunded_cents: 5_181, applied: 2, voids: 0 });
    const listed = env.DB.prepare('SELECT status FROM approvals WHERE approval_id = ?').bind(id);
    expect(await listed.first('status')).toBe('executed');
    expect((await auditIn(agent.object)).map(({ arguments: text }) => text === null)).toEqual([false, false, true]);
    heal();
    const rows = await provenInD1(agent);
    expect(rows).toHaveLength(3);
    expect((await auditIn(agent.object))[0]?.arguments).toContain(order);
  });

  it('delays no void of an unknown effect', async () => {
    breakAudit(message);
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder();
    for (let failures = 0; failures < 8; failures += 1) {
      later(5 * 60_000);
      await agent.call('nothing', {});
      await runAlarm(agent.object);
    }
    const d1 = watchD1();
    d1.fault('send', answersOverloaded);
    await revokeUnheard(agent);
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('UPSTREAM_UNAVAILABLE');
    expect(await alarmOf(agent.object)).toBeLessThanOrEqual(Date.now() + 5_000);
    await runAlarm(agent.object);
    expect(await statesIn(agent)).toEqual(['failed']);
    expect(await attemptsOf(agent)).toMatchObject([{ applied: 0, code: 'CALLER_REVOKED' }]);
  });

  it('delays no revocation, and the gate says that it is not ready', async () => {
    const { caller_id, api_key } = await makeCaller();
    const { token } = await openSessionOf(api_key);
    const heal = breakAudit(message);
    expect((await asOperator('DELETE', `/admin/callers/${caller_id}`)).status).toBe(200);
    expect((await ask(token, 'POST', '/v1/calls', { tool: 'get_order' })).status).toBe(401);
    expect((await asOperator('GET', '/readyz')).status).toBe(503);
    heal();
    expect((await asOperator('GET', '/readyz')).status).toBe(200);
  });
});
