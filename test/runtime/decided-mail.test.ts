import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { decide, parkedRefund, reject } from '../support/approver.ts';
import { moveOn, standStill } from '../support/effects.ts';
import { runAlarm } from '../support/inside.ts';

beforeEach(standStill);
afterEach(moveOn);

const decidedMessages = (): object[] =>
  vi
    .mocked(env.QUEUE.sendBatch)
    .mock.calls.flatMap(([messages]) => [...messages].map(({ body }) => body as { type: string }))
    .filter(({ type }) => type === 'decided');

describe('a decision', () => {
  it.each([
    ['approval', decide],
    ['rejection', (parked: Parameters<typeof decide>[0]) => reject(parked)],
  ])('by %s tells the other approver who was mailed, once and without a link', async (_, act) => {
    const parked = await parkedRefund();
    const { agent, id } = parked;
    const about = (approver: number) =>
      ({ type: 'approval', object: agent.object, approval_id: id, approver }) as const;
    for (const approver of [0, 1]) await agent.stub().delivered(about(approver), 'sent');
    await act(parked);
    await runAlarm(agent.object);
    await runAlarm(agent.object);
    const message = { type: 'decided', object: agent.object, approval_id: id, approver: 1 } as const;
    expect(decidedMessages()).toEqual([message]);
    const task = await agent.stub().mailTask(message);
    expect(task).toMatchObject({ kind: 'decided', to: 'bo@shop.test', approval_id: id });
    expect(task).not.toHaveProperty('link');
  });

  it('tells no approver who was not mailed', async () => {
    const parked = await parkedRefund();
    await decide(parked);
    await runAlarm(parked.agent.object);
    expect(decidedMessages()).toEqual([]);
  });
});
