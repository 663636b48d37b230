/** What every route of calls refuses: too many bytes, too many calls, and the token of a session that has ended. */
import { describe, expect, it } from 'vitest';
import type { CallRequest } from '../../../src/gate/session/rpc.ts';
import { agentApp, doneAt } from '../../support/agent-app.ts';
import { orderCall } from '../../support/mcp-app.ts';
import { providerBodies } from '../../support/provider-bodies.ts';

const KIB = 1024;
const ARGUMENTS = { order_id: 'ORD-1001' };
const MOST_CALLS = 128;

const inARow = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** The routes that take several calls at once. */
const several = [
  ...providerBodies.map(({ provider, argumentsAre, item, body }) => ({
    path: `/v1/calls/${provider}`,
    bytes: KIB * KIB,
    calls: (count: number): unknown =>
      body(
        inARow(count).map((index) =>
          item({
            id: `call_${index}`,
            name: 'get_order',
            arguments: argumentsAre === 'text' ? JSON.stringify(ARGUMENTS) : ARGUMENTS,
          }),
        ),
      ),
  })),
  { path: '/mcp', bytes: KIB * KIB, calls: (count: number): unknown => inARow(count).map((index) => orderCall(index)) },
];
const all = [
  { path: '/v1/calls', bytes: 64 * KIB, calls: (): unknown => ({ tool: 'get_order', arguments: ARGUMENTS }) },
  ...several,
];

/** The app over a session that does what it is asked, or has ended. */
async function played({ hasEnded = false } = {}) {
  const asked: CallRequest[] = [];
  const { post } = await agentApp({
    call: async (call) => (hasEnded ? { refused: 'unauthorized' } : doneAt(asked.push(call), call)),
    tools: async () => (hasEnded ? null : ['get_order']),
  });
  return { post, asked };
}

describe.each(all)('POST $path', ({ path, bytes, calls }) => {
  it(`takes a body of exactly ${bytes / KIB} KiB and refuses one byte more`, async () => {
    const { post, asked } = await played();
    const body = JSON.stringify(calls(1)).padEnd(bytes);
    expect((await post(path, body)).status).toBe(200);
    expect(asked).toHaveLength(1);
    expect((await post(path, `${body} `)).status).toBe(413);
    expect(asked).toHaveLength(1);
  });

  it('refuses the token of a session that has ended', async () => {
    const { post } = await played({ hasEnded: true });
    expect((await post(path, calls(1))).status).toBe(401);
  });
});

describe.each(several)('POST $path', ({ path, calls }) => {
  it(`takes ${MOST_CALLS} calls and refuses ${MOST_CALLS + 1} before any runs`, async () => {
    const { post, asked } = await played();
    expect((await post(path, calls(MOST_CALLS + 1))).status).toBe(422);
    expect(asked).toHaveLength(0);
    expect((await post(path, calls(MOST_CALLS))).status).toBe(200);
    expect(asked).toHaveLength(MOST_CALLS);
  });

  it('refuses the token of an ended session although no call is in the body', async () => {
    const { post } = await played({ hasEnded: true });
    expect((await post(path, calls(0))).status).toBe(401);
  });
});
