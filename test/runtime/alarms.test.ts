/** The object's one alarm: what is due is never put off by something else that fails, hangs or comes by. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  codeOf,
  HOUR_MS,
  later,
  moveOn,
  parks,
  provenInD1,
  standStill,
  statesIn,
  watchQueue,
} from '../support/effects.ts';
import { everyObjectDies, hangs, isRefused, watchD1 } from '../support/faults.ts';
import { alarmOf, runAlarm } from '../support/inside.ts';
import { newAgent, newOrder, refund } from '../support/session.ts';

beforeEach(standStill);
afterEach(moveOn);

/** A session with an attempt that the ledger neither takes nor voids, tried often enough that the alarm backs off. */
async function backingOff() {
  const agent = await newAgent({ confirm_above_cents: 2999 });
  const d1 = watchD1();
  for (const kind of ['send', 'void'] as const) d1.fault(kind, isRefused);
  expect(await codeOf(agent.call('refund_order', refund(await newOrder())))).toBe('UPSTREAM_UNAVAILABLE');
  for (let runs = 0; runs < 8; runs += 1) await runAlarm(agent.object);
  expect(await alarmOf(agent.object)).toBe(Date.now() + 300_000);
  return { agent, d1 };
}

describe('the alarm', () => {
  it('asks at once for an approval that was parked while it ran, though the ledger makes it back off', async () => {
    const { agent, d1 } = await backingOff();
    const asked = watchQueue();
    const voiding = d1.stop('void', 'before', isRefused);
    const running = runAlarm(agent.object);
    await voiding.reached();
    const id = await parks(agent, refund(await newOrder(), { amount_cents: 3000 }));
    voiding.release();
    await running;
    expect(await alarmOf(agent.object)).toBe(Date.now());
    await runAlarm(agent.object);
    expect(asked).toEqual([`${id} 0`, `${id} 1`]);
  });

  it('is set by nothing while it runs, because the platform runs it again after a death', async () => {
    const agent = await newAgent();
    await agent.call('no_such_tool', {});
    const reporting = watchD1().stop('report', 'before');
    const running = runAlarm(agent.object);
    await reporting.reached();
    expect(await alarmOf(agent.object)).toBe(null);
    reporting.release();
    await running;
    expect(await alarmOf(agent.object)).toBeGreaterThan(Date.now() + 30 * 24 * HOUR_MS);
  });

  it('stays four seconds ahead of an agent that made two batches in a row, and goes to rest after it', async () => {
    const agent = await newAgent();
    await runAlarm(agent.object);
    for (const _ of [1, 2]) {
      later(4_000);
      await agent.call('no_such_tool', {});
      await runAlarm(agent.object);
    }
    expect(await alarmOf(agent.object)).toBe(Date.now() + 4_000);
    later(4_000);
    await runAlarm(agent.object);
    expect(await alarmOf(agent.object)).toBeGreaterThan(Date.now() + 30 * 24 * HOUR_MS);
  });

  it('is left where it is by the cron after a restart, and armed where the platform gave it up', async () => {
    const agent = await newAgent();
    for (const _ of [1, 2]) {
      await agent.call('no_such_tool', {});
      await runAlarm(agent.object);
      later(60_000);
    }
    const rest = await alarmOf(agent.object);
    await everyObjectDies();
    await agent.stub().wake();
    expect(await alarmOf(agent.object)).toBe(rest);
    await runInDurableObject(env.SESSION.getByName(agent.object), (_, { storage }) => storage.deleteAlarm());
    await agent.stub().wake();
    expect(await alarmOf(agent.object)).toBe(Date.now() + 4_000);
    expect(await provenInD1(agent)).toHaveLength(2);
  });

  it('is put off by no wake of the cron', async () => {
    const { agent } = await backingOff();
    const due = Date.now() + 300_000;
    later(299_000);
    await agent.stub().wake();
    expect(await alarmOf(agent.object)).toBe(due);
  });

  it('leaves a report behind that hangs, and sends it again', async () => {
    const agent = await newAgent();
    const d1 = watchD1();
    d1.fault('report', hangs, 1);
    await agent.call('no_such_tool', {});
    await runAlarm(agent.object);
    // One to each database, of which one hangs.
    expect(d1.trips.filter(({ kind }) => kind === 'report')).toHaveLength(2);
    expect(await provenInD1(agent)).toHaveLength(1);
  });

  it('settles one record though another hangs', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const d1 = watchD1();
    d1.fault('send', isRefused);
    for (const _ of [1, 2]) await agent.call('refund_order', refund(await newOrder()));
    d1.fault('void', hangs, 1);
    await runAlarm(agent.object);
    expect((await statesIn(agent)).toSorted()).toEqual(['claimed', 'failed']);
    await provenInD1(agent);
    expect(await statesIn(agent)).toEqual(['failed', 'failed']);
  });
});
