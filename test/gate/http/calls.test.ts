import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallAnswer, CallRequest } from '../../../src/gate/session/rpc.ts';
import { agentApp, doneAt } from '../../support/agent-app.ts';

/** The route over a session that notes what it hears. */
async function callsRoute(answer: (request: CallRequest) => CallAnswer = (request) => doneAt(3, request)) {
  const heard: CallRequest[] = [];
  const call = async (request: CallRequest): Promise<CallAnswer> => {
    heard.push(request);
    return answer(request);
  };
  const { post } = await agentApp({ call, tools: async () => [] });
  const send = (body: unknown, headers?: Record<string, string>) => post('/v1/calls', body, undefined, headers);
  return { heard, send };
}

const slugOf = async (response: Response): Promise<string> =>
  (await response.json<{ type: string }>()).type.replace(/^.*\//, '');

describe('calls', () => {
  beforeEach(() => {
    vi.spyOn(console, 'log').mockImplementation(() => undefined);
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
  });
  afterEach(() => void vi.restoreAllMocks());

  it('shows the budget and the audit row in headers', async () => {
    const { headers } = await (await callsRoute()).send({ tool: 'get_order' });
    expect(headers.get('ratelimit-policy')).toBe('"steps";q=10');
    expect(headers.get('ratelimit')).toBe('"steps";r=7');
    expect(headers.get('toolgate-audit')).toBe('3:hash3');
  });

  describe('the log line of the request', () => {
    const linesOf = (): string[] => vi.mocked(console.log).mock.calls.map(([line]) => String(line));
    const replayed = (request: CallRequest): CallAnswer => {
      const answer = doneAt(3, request);
      return 'outcome' in answer ? { ...answer, outcome: { ...answer.outcome, replayed: true } } : answer;
    };

    it('is left to the session object, which wrote the row', async () => {
      await (await callsRoute()).send({ tool: 'get_order' });
      expect(linesOf()).toEqual([]);
    });

    it.each([
      ['the answer was replayed', replayed],
      ['the call left no row', (request: CallRequest) => ({ ...doneAt(3, request), audit: null })],
      ['the call was refused', () => ({ refused: 'session_exhausted' }) as const],
    ])('is written if %s', async (_why, answer) => {
      const { headers, status } = await (await callsRoute(answer)).send({ tool: 'get_order' });
      expect(linesOf().map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({ event: 'request', request_id: headers.get('x-request-id'), status }),
      ]);
    });

    it('is written if one of several calls has no line', async () => {
      const { post } = await agentApp({
        call: async (request) => (request.tool === 'a' ? doneAt(1, request) : replayed(request)),
        tools: async () => [],
      });
      const use = (name: string) => ({ type: 'tool_use', id: name, name, input: {} });
      await post('/v1/calls/anthropic', { content: [use('a'), use('a')] });
      expect(linesOf()).toEqual([]);
      await post('/v1/calls/anthropic', { content: [use('b'), use('a')] });
      expect(linesOf()).toHaveLength(1);
    });
  });

  it('asks as the session of the token, with the request id of the answer', async () => {
    const { heard, send } = await callsRoute();
    const { headers } = await send({ tool: 'get_order', call_id: 'c1' });
    expect(heard[0]).toMatchObject({ uid: 'uid_1', call_id: 'c1', request_id: headers.get('x-request-id') });
  });

  it('passes the trace of the request on, if its header is valid', async () => {
    const { heard, send } = await callsRoute();
    const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';
    await send({ tool: 'get_order' }, { traceparent: `00-${trace_id}-00f067aa0ba902b7-01` });
    await send({ tool: 'get_order' }, { traceparent: trace_id });
    expect(heard.map((call) => call.trace_id)).toEqual([trace_id, undefined]);
  });

  it.each([['{}'], [{ a: 1 }], [null], [7], [true], [['{}']]])('passes arguments on as they are: %j', async (args) => {
    const { heard, send } = await callsRoute();
    expect((await send({ tool: 'get_order', arguments: args })).status).toBe(200);
    expect(heard[0]?.arguments).toEqual(args);
  });

  it('leaves absent arguments absent', async () => {
    const { heard, send } = await callsRoute();
    await send({ tool: 'get_order' });
    expect(heard[0]?.arguments).toBeUndefined();
  });

  it.each(['', 'constructor', '../../x', '<b>', 'get_order\u0000'])(
    'lets the stages judge the tool name %j',
    async (tool) => {
      const { heard, send } = await callsRoute();
      expect((await send({ tool })).status).toBe(200);
      expect(heard[0]?.tool).toBe(tool);
    },
  );

  it.each([
    ['!', '!'],
    ['~', '~'],
    ['128 characters', 'x'.repeat(128)],
  ])('takes the call id %s', async (_name, call_id) => {
    expect((await (await callsRoute()).send({ tool: 'a', call_id })).status).toBe(200);
  });

  it.each([
    ['of nothing', ''],
    ['of a space', ' '],
    ['with a space', 'a b'],
    ['beyond ASCII', 'é'],
    ['with a line end', 'a\n'],
    ['of 129 characters', 'x'.repeat(129)],
    ['that is a number', 7],
    ['that is null', null],
  ])('refuses a call id %s', async (_name, call_id) => {
    const { heard, send } = await callsRoute();
    expect((await send({ tool: 'a', call_id })).status).toBe(422);
    expect(heard).toEqual([]);
  });

  it.each([{}, { tool: 1 }, { tool: 'a', confirm: true }, { tool: 'a', session_id: 'other' }, '[]', 'null'])(
    'refuses the body %j without asking the session',
    async (body) => {
      const { heard, send } = await callsRoute();
      expect(await slugOf(await send(body))).toBe('invalid-body');
      expect(heard).toEqual([]);
    },
  );

  it.each([
    ['unauthorized', 401, 'unauthorized'],
    ['session_exhausted', 429, 'session-exhausted'],
    ['too_many_retries', 429, 'too-many-requests'],
  ] as const)('answers %s of the session with %i', async (refused, status, slug) => {
    const response = await (await callsRoute(() => ({ refused }))).send({ tool: 'a' });
    expect({ status: response.status, slug: await slugOf(response) }).toEqual({ status, slug });
  });

  it('does not tell the model to wait for a call id that is used up', async () => {
    const response = await (await callsRoute(() => ({ refused: 'too_many_retries' }))).send({ tool: 'a' });
    expect(response.headers.has('retry-after')).toBe(false);
  });

  it('answers a session that cannot be reached with an outcome, and claims no step and no audit row', async () => {
    const response = await (
      await callsRoute(() => {
        throw new Error('object was reset');
      })
    ).send({ tool: 'a', call_id: 'c1' });
    expect(response.headers.has('toolgate-audit')).toBe(false);
    expect(response.headers.has('ratelimit')).toBe(false);
    expect(await response.json()).toMatchObject({ call_id: 'c1', code: 'UPSTREAM_UNAVAILABLE', step: null });
  });
});
