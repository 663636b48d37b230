/** What a client that does not wait for its answer leaves behind: nothing half done. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import worker from '../../src/index.ts';
import { ADMIN_TOKEN, asOperator, makeCaller } from '../support/over-http.ts';
import { enterSessions, objectsThat } from '../support/session-rows.ts';

beforeEach(() => void vi.spyOn(console, 'log').mockReturnValue());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a change of a caller', () => {
  it('reaches every open session though its client has gone', async () => {
    const { caller_id } = await makeCaller();
    await enterSessions(caller_id, 60);
    const told = vi.fn(() => scheduler.wait(20));
    objectsThat(told);
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const request = new Request(`https://toolgate.test/admin/callers/${caller_id}`, { method: 'DELETE', headers });
    const context = createExecutionContext();
    void worker.fetch(request, env, context);
    // The platform lets go on what was handed over like this, and cancels the rest when the client goes.
    await waitOnExecutionContext(context);
    expect(told).toHaveBeenCalledTimes(60);
  });

  it('is left to the queue where telling takes longer than 15 seconds', async () => {
    const { caller_id } = await makeCaller();
    await enterSessions(caller_id, 60);
    vi.useFakeTimers({ toFake: ['Date'] });
    objectsThat(async () => void vi.setSystemTime(Date.now() + 601));
    const sent = vi.spyOn(env.QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
    const { status, body } = await asOperator('PATCH', `/admin/callers/${caller_id}`, { max_steps: 3 });
    expect([status, body['sessions']]).toEqual([202, { told: 25, queued: 35 }]);
    expect(sent.mock.calls.map(([batch]) => [...batch].length)).toEqual([35]);
  });
});

describe('a rotation that ends all sessions', () => {
  it('counts as missed whom it has not reached in 15 seconds, and shows the key', async () => {
    const { caller_id } = await makeCaller();
    await enterSessions(caller_id, 60);
    vi.useFakeTimers({ toFake: ['Date'] });
    objectsThat(async () => void vi.setSystemTime(Date.now() + 601));
    const body = { grace_seconds: 0, end_sessions: true };
    const answer = await asOperator('POST', `/admin/callers/${caller_id}/rotate`, body);
    expect([answer.status, answer.body]).toMatchObject([202, { sessions: { ended: 25, missed: 35 } }]);
    expect(answer.body['api_key']).toMatch(/^tgk_/);
  });
});
