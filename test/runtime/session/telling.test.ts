import { env } from 'cloudflare:workers';
import { runDurableObjectAlarm } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { newAgent, newOrder, outcomeOf, refund } from '../../support/session.ts';

describe('sendOutbox', () => {
  it('tells D1 again where an answer was lost and the session is as it was told before', async () => {
    const agent = await newAgent();
    const alarm = () => runDurableObjectAlarm(env.SESSION.getByName(agent.object));
    const toldOpen = () =>
      env.DB.prepare('SELECT open_records FROM sessions WHERE uid = ?').bind(agent.uid).first('open_records');
    await alarm();
    const asked = outcomeOf(await agent.call('refund_order', refund(await newOrder())));

    const batch = env.DB.batch.bind(env.DB);
    vi.spyOn(env.DB, 'batch').mockImplementationOnce(async (statements) => {
      await batch(statements);
      throw new Error('D1_ERROR: Network connection lost.');
    });
    await alarm();
    expect(await toldOpen()).toBe(1);

    expect(await agent.stub().withdraw(asked.approval?.id ?? '', 'req')).toBe('done');
    await alarm();
    expect(await toldOpen()).toBe(0);
  });
});
