/** Shapes that older or other clients of a provider write: read like the current one, or told to the host; never silence. */
import { describe, expect, it } from 'vitest';
import { refundOf, unattended } from '../../support/unattended.ts';

const args = refundOf(2590);
const text = JSON.stringify(args);

describe('gemini', () => {
  it('reads calls in snake case', async () => {
    const { answer, moved } = await unattended();
    const parts = [{ function_call: { id: 'fc_1', name: 'refund_order', args }, function_response: null }];
    const { results, outcomes } = await answer('gemini', {
      candidates: [{ content: { parts }, finish_reason: 'STOP' }],
    });
    expect(outcomes).toMatchObject([{ code: 'OK' }]);
    expect(results).toMatchObject([{ functionResponse: { id: 'fc_1', name: 'refund_order' } }]);
    expect(moved()).toStrictEqual([2590]);
  });

  it('proposes both where a part holds a call in each case', async () => {
    const { answer } = await unattended();
    const read = { name: 'get_order', args: { order_id: 'ORD-1001' } };
    const parts = [{ functionCall: read, function_call: read }];
    expect((await answer('gemini', { parts })).outcomes).toMatchObject([{ step: 1 }, { step: 2 }]);
  });

  it.each([
    { promptFeedback: { blockReason: 'SAFETY' } },
    { promptFeedback: { blockReason: 'SAFETY' }, candidates: [] },
    { prompt_feedback: { block_reason: 'SAFETY' }, candidates: null },
    { candidates: [] },
  ])('finds no calls where the prompt was blocked: %j', async (body) => {
    const { answer, rows } = await unattended();
    expect(await answer('gemini', body)).toStrictEqual({ results: [], outcomes: [] });
    expect(rows()).toStrictEqual([]);
  });

  it.each([{ candidates: null }, { promptFeedback: null }, { promptFeedback: {}, candidates: 'none' }])(
    'does not take %j for a blocked prompt',
    async (body) => {
      const { send } = await unattended();
      expect((await send('/v1/calls/gemini', body)).status).toBe(422);
    },
  );
});

describe('openai-chat', () => {
  const function_call = { name: 'refund_order', arguments: text };

  it.each([
    { choices: [{ message: { role: 'assistant', content: null, function_call }, finish_reason: 'function_call' }] },
    { role: 'assistant', content: null, function_call },
  ])('reads the legacy function_call and answers with a function message: %j', async (body) => {
    const { answer, moved } = await unattended();
    const { results, outcomes, problems } = await answer('openai-chat', body);
    expect(outcomes).toMatchObject([{ code: 'OK' }]);
    expect(results.map(({ content: _read, ...rest }) => rest)).toStrictEqual([
      { role: 'function', name: 'refund_order' },
    ]);
    expect(results[0]?.['content']).toContain('"code":"OK"');
    expect(problems).toBeUndefined();
    expect(moved()).toStrictEqual([2590]);
  });

  it('takes a function_call that is not an object as a call without a name, and null as no call', async () => {
    const { answer } = await unattended();
    const bodyOf = (legacy: unknown) => ({ choices: [{ message: { function_call: legacy } }] });
    expect((await answer('openai-chat', bodyOf('refund_order'))).outcomes).toMatchObject([{ code: 'UNKNOWN_TOOL' }]);
    expect((await answer('openai-chat', bodyOf(null))).outcomes).toStrictEqual([]);
  });

  it.each([args, 7, null, [args]])('says that arguments must be a string where %j came', async (other) => {
    const { answer, moved } = await unattended();
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'refund_order', arguments: other } }];
    const { outcomes } = await answer('openai-chat', { tool_calls });
    expect(outcomes).toMatchObject([
      {
        code: 'INVALID_JSON',
        message: 'The arguments are not one JSON object: this format needs a string that holds one JSON object.',
      },
    ]);
    expect(moved()).toStrictEqual([]);
  });

  it('keeps refused arguments of another type from being a retry of the same ones as a string', async () => {
    const { answer, moved } = await unattended();
    const body = (written: unknown) => ({
      tool_calls: [{ id: 'call_1', function: { name: 'refund_order', arguments: written } }],
    });
    const key = { 'idempotency-key': 'turn-1' };
    await answer('openai-chat', body(text), key);
    expect((await answer('openai-chat', body(args), key)).outcomes).toMatchObject([{ code: 'INVALID_JSON', step: 2 }]);
    expect(moved()).toStrictEqual([2590]);
  });
});

describe('an item without the id that its format needs', () => {
  it.each([
    {
      provider: 'anthropic',
      body: {
        content: [
          { type: 'tool_use', id: 'toolu_1', name: 'get_order', input: { order_id: 'ORD-1001' } },
          { type: 'text', text: 'and' },
          { type: 'tool_use', toolUseId: 'tooluse_2', name: 'refund_order', input: args },
        ],
      },
      member: 'id',
    },
    {
      provider: 'openai',
      body: {
        output: [
          { type: 'function_call', call_id: 'call_1', name: 'get_order', arguments: '{"order_id":"ORD-1001"}' },
          { type: 'function_call', id: 'fc_2', name: 'refund_order', arguments: text },
        ],
      },
      member: 'call_id',
    },
    {
      provider: 'openai-chat',
      body: {
        tool_calls: [
          { id: 'call_1', function: { name: 'get_order', arguments: '{"order_id":"ORD-1001"}' } },
          { id: 7, function: { name: 'refund_order', arguments: text } },
        ],
      },
      member: 'id',
    },
    {
      provider: 'gemini-interactions',
      body: {
        steps: [
          { type: 'function_call', id: 'a1', name: 'get_order', arguments: { order_id: 'ORD-1001' } },
          { type: 'function_call', id: null, name: 'refund_order', arguments: args },
        ],
      },
      member: 'id',
    },
  ])('gets its outcome from $provider, and the answer says which it is', async ({ provider, body, member }) => {
    const { answer } = await unattended();
    const { results, outcomes, problems } = await answer(provider, body);
    expect(outcomes).toMatchObject([{ code: 'OK' }, { code: 'OK' }]);
    expect(results).toHaveLength(2);
    expect(problems).toStrictEqual([
      { item: 1, problem: `"${member}" must be a string; without it no result can be paired` },
    ]);
  });

  it.each([
    { provider: 'gemini', body: { parts: [{ functionCall: { name: 'refund_order', args } }] } },
    {
      provider: 'ollama',
      body: { message: { tool_calls: [{ function: { name: 'refund_order', arguments: args } }] } },
    },
  ])('is no problem for $provider, which pairs by name and order', async ({ provider, body }) => {
    const { answer } = await unattended();
    expect(await answer(provider, body)).not.toHaveProperty('problems');
  });
});
