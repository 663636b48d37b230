import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import { observationText } from '../../../src/gate/observation/text.ts';
import type { Outcome } from '../../../src/gate/outcome.ts';
import type { CallAnswer, CallRequest } from '../../../src/gate/session/rpc.ts';
import { agentApp, doneAt } from '../../support/agent-app.ts';

type Answer = { results: JsonObject[]; outcomes: Outcome[] };

const use = (id: string, name = 'get_order') => ({ type: 'tool_use', id, name, input: { order_id: 'ORD-1001' } });
const uses = (count: number) => Array.from({ length: count }, (_, index) => use(`toolu_${index}`));

/** A session that answers with `play`, and what it was asked. */
async function played(play: (step: number, call: CallRequest) => CallAnswer = doneAt, live = true) {
  const asked: CallRequest[] = [];
  let running = 0;
  const together: number[] = [];
  const http = await agentApp({
    call: async (call) => {
      asked.push(call);
      running += 1;
      together.push(running);
      await Promise.resolve();
      running -= 1;
      return play(asked.length, call);
    },
    tools: async () => (live ? ['get_order'] : null),
  });
  return { ...http, asked, together };
}

const answerOf = async (response: Response): Promise<Answer> => {
  expect(response.status).toBe(200);
  return response.json();
};

describe('POST /v1/calls/{provider}', () => {
  it('answers every call in its order, with the outcome and what the model reads of it', async () => {
    const { post } = await played();
    const { results, outcomes } = await answerOf(
      await post('/v1/calls/anthropic', { content: [use('toolu_1'), { type: 'text', text: 'and' }, use('toolu_2')] }),
    );
    expect(outcomes.map(({ step }) => step)).toStrictEqual([1, 2]);
    expect(results).toStrictEqual([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: observationText(outcomes[0] as Outcome) },
      { type: 'tool_result', tool_use_id: 'toolu_2', content: observationText(outcomes[1] as Outcome) },
    ]);
  });

  it('marks the result of a refused call as an error', async () => {
    const { post } = await played((step, call) => {
      const answer = doneAt(step, call);
      return 'outcome' in answer
        ? { ...answer, outcome: { ...answer.outcome, ok: false, code: 'UNKNOWN_TOOL' } }
        : answer;
    });
    const { results } = await answerOf(await post('/v1/calls/anthropic', { content: uses(1) }));
    expect(results[0]).toMatchObject({ is_error: true });
  });

  it('runs the calls one after another', async () => {
    const { post, together } = await played();
    await post('/v1/calls/anthropic', { content: uses(20) });
    expect(together).toStrictEqual(Array.from({ length: 20 }, () => 1));
  });

  it('gives every call a new id of its own, however often the provider repeats its ids', async () => {
    const { post, asked } = await played();
    const { results, outcomes } = await answerOf(
      await post('/v1/calls/anthropic', { content: [use('toolu_1'), use('toolu_1')] }),
    );
    expect(new Set(asked.map(({ call_id }) => call_id)).size).toBe(2);
    expect(asked.map(({ call_id }) => call_id)).not.toContain('toolu_1');
    expect(outcomes.map(({ call_id }) => call_id)).toStrictEqual(asked.map(({ call_id }) => call_id));
    expect(results.map((result) => result['tool_use_id'])).toStrictEqual(['toolu_1', 'toolu_1']);
  });

  it('proposes a malformed item for the stages to refuse', async () => {
    const { post, asked } = await played();
    await post('/v1/calls/anthropic', { content: [{ type: 'tool_use', input: 'order 1001' }] });
    expect(asked).toMatchObject([{ tool: '', arguments: '"order 1001"' }]);
  });

  it("shows the last call's standing", async () => {
    const { post } = await played();
    const response = await post('/v1/calls/anthropic', { content: uses(3) });
    expect(response.headers.get('ratelimit')).toBe('"steps";r=7');
    expect(response.headers.get('toolgate-audit')).toBe('3:hash3');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('answers a response without calls with empty lists', async () => {
    const { post, asked } = await played();
    const response = await post('/v1/calls/anthropic', { content: [{ type: 'text', text: 'Hello.' }] });
    expect(await answerOf(response)).toStrictEqual({ results: [], outcomes: [] });
    expect(asked).toStrictEqual([]);
  });

  it('keeps what was done when the session ends in between', async () => {
    const { post } = await played((step, call) => (step < 3 ? doneAt(step, call) : { refused: 'unauthorized' }));
    const { results, outcomes } = await answerOf(await post('/v1/calls/anthropic', { content: uses(4) }));
    expect(outcomes.map(({ code, step }) => [code, step])).toStrictEqual([
      ['OK', 1],
      ['OK', 2],
      ['SESSION_ENDED', null],
      ['SESSION_ENDED', null],
    ]);
    expect(results.map((result) => result['tool_use_id'])).toStrictEqual(['toolu_0', 'toolu_1', 'toolu_2', 'toolu_3']);
    expect(new Set(outcomes.map(({ call_id }) => call_id)).size).toBe(4);
  });

  it('keeps what was done when the session takes no more calls', async () => {
    const { post } = await played((step, call) => (step < 2 ? doneAt(step, call) : { refused: 'session_exhausted' }));
    const { outcomes } = await answerOf(await post('/v1/calls/anthropic', { content: uses(2) }));
    expect(outcomes.map(({ code }) => code)).toStrictEqual(['OK', 'STEP_LIMIT']);
  });

  it('answers 429 where the session takes no call at all', async () => {
    const { post } = await played(() => ({ refused: 'session_exhausted' }));
    const response = await post('/v1/calls/anthropic', { content: uses(2) });
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ type: 'https://toolgate.test/docs/problems/session-exhausted' });
  });

  it.each(['mcp', 'bedrock', 'constructor', '__proto__', 'OpenAI', '%00', '%'])(
    'knows no provider %s',
    async (name) => {
      const { post, asked } = await played();
      expect((await post(`/v1/calls/${name}`, { content: uses(1) })).status).toBe(404);
      expect(asked).toHaveLength(0);
    },
  );

  it('asks for the credential first', async () => {
    const { post } = await played();
    expect((await post('/v1/calls/nobody', '{', 'Bearer none')).status).toBe(401);
  });

  it.each([
    ['no member', {}, 422],
    ['a member of another type', { content: 'text' }, 422],
    ['no object', [use('toolu_1')], 422],
    ['a name twice', '{"content":[],"content":[]}', 400],
    ['a name twice in the input', '{"content":[{"type":"tool_use","input":{"a":1,"a":2}}]}', 400],
    ['half a surrogate pair', '{"content":[{"type":"text","text":"\\ud800"}]}', 400],
  ])('does not take a body with %s', async (_, body, status) => {
    const { post, asked } = await played();
    expect((await post('/v1/calls/anthropic', body)).status).toBe(status);
    expect(asked).toHaveLength(0);
  });

  it('names the member it looked for', async () => {
    const { post } = await played();
    const response = await post('/v1/calls/openai-chat', {});
    expect(await response.json()).toMatchObject({ detail: 'body must hold choices[0].message or tool_calls[]' });
  });
});
