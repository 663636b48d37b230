/** When a session is forgotten, what keeps it, and what remains (docs/specification.md#sessions and docs/specification.md#audit). */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { linkOf, parkedRefund, reject } from '../support/approver.ts';
import { AHEAD, auditIn, beforeNextBatch, rowsIn, runAlarm, tablesIn } from '../support/inside.ts';
import { KEY_HASH, newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

const at = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: ms });

/** What is left of the session after its alarm ran `ms` after opening. */
async function leftAfter(agent: Agent, ms: number): Promise<string[]> {
  at(AHEAD + ms);
  await runAlarm(agent.object);
  const tables = await tablesIn(agent.object);
  const counts = await Promise.all(tables.map((table) => rowsIn(agent.object, `SELECT 1 FROM ${table} LIMIT 1`)));
  return tables.filter((_, place) => (counts[place]?.length ?? 0) > 0);
}

/** A session opened at {@link AHEAD} with a token of one hour, and one call a day later. */
async function usedAgent(): Promise<Agent> {
  at(AHEAD);
  const agent = await newAgent();
  at(AHEAD + DAY_MS);
  await agent.call('nothing', {});
  return agent;
}
const rejoin = ({ caller_id, session_id, stub }: Agent) =>
  stub().open({ caller_id, session_id, key_hash: KEY_HASH, ttl_seconds: 3600 });

describe('a session', () => {
  it('is forgotten 30 days after its last call, but for the head of its chain', async () => {
    const agent = await usedAgent();
    expect(await leftAfter(agent, 31 * DAY_MS - SECOND_MS)).toEqual(['session', 'log']);
    const [row] = await auditIn(agent.object);
    expect(await leftAfter(agent, 31 * DAY_MS)).toEqual(['heads']);
    expect(await agent.stub().heads()).toEqual([{ uid: agent.uid, seq: 1, hash: row?.hash }]);
    expect(await runAlarm(agent.object)).toBe(false);
  });

  it('that was rejoined is remembered 30 days from then, its new token included', async () => {
    const agent = await usedAgent();
    at(AHEAD + 3 * DAY_MS);
    await rejoin(agent);
    expect(await leftAfter(agent, 33 * DAY_MS + HOUR_MS - SECOND_MS)).toEqual(['session', 'log']);
    expect(await leftAfter(agent, 33 * DAY_MS + HOUR_MS)).toEqual(['heads']);
  });

  it('is remembered while a link can be viewed', async () => {
    at(AHEAD);
    const parked = await parkedRefund({ approval_ttl_seconds: 604_800 });
    const proof = await linkOf(parked);
    await reject(parked);
    expect(await leftAfter(parked.agent, 37 * DAY_MS - SECOND_MS)).toEqual(['session', 'log', 'record']);
    expect(await parked.agent.stub().view(proof)).toMatchObject({ view: { status: 'rejected' } });
    expect(await leftAfter(parked.agent, 37 * DAY_MS)).toEqual(['heads']);
    expect(await parked.agent.stub().view(proof)).toEqual({ refused: 'bad_link' });
  });

  it('is remembered until its rows are confirmed', async () => {
    const agent = await usedAgent();
    const batch = vi.spyOn(env.AUDIT, 'batch').mockRejectedValue(new Error('D1 DB is overloaded'));
    expect(await leftAfter(agent, 60 * DAY_MS)).toEqual(['session', 'log']);
    batch.mockRestore();
    expect(await leftAfter(agent, 60 * DAY_MS)).toEqual(['heads']);
    const stored = await env.AUDIT.prepare('SELECT count(*) AS rows FROM audit WHERE uid = ?')
      .bind(agent.uid)
      .first('rows');
    expect(stored).toBe(1);
  });

  it('is remembered while an effect is unknown', async () => {
    at(AHEAD);
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const prepare = env.DB.prepare.bind(env.DB);
    const attempts = vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
      if (sql.includes('attempts')) throw new Error('D1 DB is overloaded');
      return prepare(sql);
    });
    const order = await newOrder();
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('UPSTREAM_UNAVAILABLE');
    expect(await leftAfter(agent, 60 * DAY_MS)).toEqual(['session', 'log', 'record']);
    attempts.mockRestore();
    // Settling leaves a row, which is activity of its own.
    expect(await leftAfter(agent, 60 * DAY_MS)).toEqual(['session', 'log', 'record']);
    expect(await leftAfter(agent, 90 * DAY_MS)).toEqual(['heads']);
  });

  it('of the same name is another afterwards: a new uid, no steps taken, no token of before', async () => {
    const agent = await usedAgent();
    await agent.call('nothing', {});
    await leftAfter(agent, 40 * DAY_MS);
    const again = await newAgent({}, { caller_id: agent.caller_id, session_id: agent.session_id });
    expect(again.uid).not.toBe(agent.uid);
    expect(await agent.call('nothing', {})).toEqual({ refused: 'unauthorized' });
    expect(outcomeOf(await again.call('nothing', {})).step).toBe(1);
    const [row] = await auditIn(again.object);
    expect(row).toMatchObject({ seq: 1, uid: again.uid });
    expect((await again.stub().heads()).map(({ uid, seq }) => ({ uid, seq }))).toEqual([
      { uid: agent.uid, seq: 2 },
      { uid: again.uid, seq: 1 },
    ]);
  });

  it('is opened again if it is forgotten while it is rejoined', async () => {
    const agent = await usedAgent();
    at(AHEAD + 31 * DAY_MS);
    beforeNextBatch(() => runAlarm(agent.object));
    const answer = await rejoin(agent);
    expect(answer).toMatchObject({ opened: 'new' });
    expect('uid' in answer && answer.uid).not.toBe(agent.uid);
  });
});
