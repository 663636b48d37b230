/** docs/specification.md#incomplete-responses: a call runs only if the provider says that its response is complete. */
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/gate/json.ts';
import { refundOf, unattended } from '../../support/unattended.ts';

const args = refundOf(2590);
const text = JSON.stringify(args);

const use = { type: 'tool_use', id: 'toolu_1', name: 'refund_order', input: args };
const item = { type: 'function_call', call_id: 'call_1', name: 'refund_order', arguments: text };
const message = {
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'refund_order', arguments: text } }],
};
const content = { role: 'model', parts: [{ functionCall: { name: 'refund_order', args } }] };
const step = { type: 'function_call', id: 'a1', name: 'refund_order', arguments: args };
const ollama = {
  message: { role: 'assistant', tool_calls: [{ function: { name: 'refund_order', arguments: args } }] },
};

type Marked = (value: JsonValue) => JsonObject;
const chat: Marked = (finish_reason) => ({ choices: [{ message, finish_reason }] });
const anthropic: Marked = (stop_reason) => ({ content: [use], stop_reason });
const gemini: Marked = (finishReason) => ({ candidates: [{ content, finishReason }] });
const geminiInSnakeCase: Marked = (finish_reason) => ({ candidates: [{ content, finish_reason }] });
const response: Marked = (status) => ({ output: [item], status });
const outputItem: Marked = (status) => ({ output: [{ ...item, status }], status: 'completed' });
const outputMessage: Marked = (status) => ({ output: [item, { type: 'message', content: [], status }] });
const interaction: Marked = (status) => ({ steps: [step], status });
const interactionStep: Marked = (status) => ({ steps: [{ ...step, status }] });
const doneReason: Marked = (done_reason) => ({ ...ollama, done: true, done_reason });
const done: Marked = (value) => ({ ...ollama, done: value });

type Row = { provider: string; marked: Marked; where: string; good: JsonValue[]; bad: string[] };
const MARKS: Row[] = [
  {
    provider: 'anthropic',
    marked: anthropic,
    where: 'stop_reason',
    good: ['tool_use', 'end_turn', 'stop_sequence'],
    bad: ['max_tokens', 'refusal', 'pause_turn', 'model_context_window_exceeded'],
  },
  {
    provider: 'gemini',
    marked: gemini,
    where: 'finishReason',
    good: ['STOP'],
    bad: ['MALFORMED_FUNCTION_CALL', 'SAFETY', 'MAX_TOKENS', 'UNEXPECTED_TOOL_CALL'],
  },
  { provider: 'gemini', marked: geminiInSnakeCase, where: 'finish_reason', good: ['STOP'], bad: ['MAX_TOKENS'] },
  {
    provider: 'openai-chat',
    marked: chat,
    where: 'finish_reason',
    good: ['tool_calls', 'stop', 'function_call'],
    bad: ['length', 'content_filter'],
  },
  {
    provider: 'openai',
    marked: response,
    where: 'status',
    good: ['completed'],
    bad: ['failed', 'cancelled', 'incomplete', 'in_progress', 'queued'],
  },
  { provider: 'openai', marked: outputItem, where: 'status', good: ['completed'], bad: ['incomplete', 'in_progress'] },
  { provider: 'openai', marked: outputMessage, where: 'status', good: ['completed'], bad: ['incomplete'] },
  { provider: 'ollama', marked: doneReason, where: 'done_reason', good: ['stop'], bad: ['length', 'load'] },
  {
    provider: 'gemini-interactions',
    marked: interaction,
    where: 'status',
    good: ['requires_action', 'completed'],
    bad: ['incomplete', 'failed', 'cancelled', 'budget_exceeded'],
  },
  {
    provider: 'gemini-interactions',
    marked: interactionStep,
    where: 'status',
    good: ['completed'],
    bad: ['incomplete'],
  },
];

const refused = MARKS.flatMap(({ bad, ...mark }) => bad.map((value) => ({ ...mark, value })));
const complete = MARKS.flatMap(({ good, ...mark }) => good.map((value) => ({ ...mark, value })));
/** Values that no provider documents, of every type. */
const UNKNOWN: JsonValue[] = [
  '',
  'STOPPED',
  'Completed',
  'refund_order',
  0,
  1,
  false,
  null,
  ['stop'],
  { reason: 'stop' },
];
const unknown = MARKS.flatMap((mark) => UNKNOWN.map((value) => ({ ...mark, value })));

describe('a call of a response that is not complete', () => {
  it.each(refused)('is not made by $provider with $where $value', async ({ provider, marked, where, value }) => {
    const { answer, moved, rows } = await unattended();
    const { results, outcomes } = await answer(provider, marked(value));
    expect(outcomes).toMatchObject([{ code: 'RESPONSE_INCOMPLETE', ok: false, step: 1, next: 'fix_and_retry' }]);
    expect(outcomes[0]?.message).toContain(`${where} is ${JSON.stringify(value)}`);
    expect(JSON.stringify(results)).toContain('RESPONSE_INCOMPLETE');
    expect(moved()).toStrictEqual([]);
    expect(rows()).toMatchObject([{ code: 'RESPONSE_INCOMPLETE', step: 1 }]);
  });

  it.each(unknown)('is not made by $provider with $where $value, which is not repeated', async (mark) => {
    const { provider, marked, where, value } = mark;
    const { answer, moved } = await unattended();
    const { outcomes } = await answer(provider, marked(value));
    expect(outcomes).toMatchObject([{ code: 'RESPONSE_INCOMPLETE' }]);
    expect(outcomes[0]?.message).toContain(`${where} is a value that the provider does not document`);
    expect(moved()).toStrictEqual([]);
  });

  it.each([false, 'yes', 0, null])('is not made by ollama with done %j', async (value) => {
    const { answer, moved } = await unattended();
    expect((await answer('ollama', done(value))).outcomes).toMatchObject([{ code: 'RESPONSE_INCOMPLETE' }]);
    expect(moved()).toStrictEqual([]);
  });

  it('is refused with every other call of its response', async () => {
    const { answer, moved } = await unattended();
    const items = [
      { ...item, status: 'completed' },
      { ...item, status: 'incomplete' },
    ];
    const { outcomes } = await answer('openai', { output: items, status: 'completed' });
    expect(outcomes.map(({ code, step: taken }) => [code, taken])).toStrictEqual([
      ['RESPONSE_INCOMPLETE', 1],
      ['RESPONSE_INCOMPLETE', 2],
    ]);
    expect(moved()).toStrictEqual([]);
  });

  it('is refused by the stages before the second first', async () => {
    const { answer } = await unattended({ max_steps: 3 });
    const content = [{ ...use, name: 'no_such_tool' }, { ...use, input: 'not an object' }, { ...use, input: {} }, use];
    const { outcomes } = await answer('anthropic', { content, stop_reason: 'max_tokens' });
    expect(outcomes.map(({ code }) => code)).toStrictEqual([
      'UNKNOWN_TOOL',
      'RESPONSE_INCOMPLETE',
      'RESPONSE_INCOMPLETE',
      'STEP_LIMIT',
    ]);
  });

  it('learns nothing of an approval either', async () => {
    const { answer } = await unattended();
    const question = { ...use, name: 'get_approval', input: { approval_id: `apr_${'0'.repeat(32)}` } };
    const { outcomes } = await answer('anthropic', { content: [question], stop_reason: 'max_tokens' });
    expect(outcomes).toMatchObject([{ code: 'RESPONSE_INCOMPLETE', step: null }]);
  });
});

describe('a call of a complete response', () => {
  it.each(complete)('is made by $provider with $where $value', async ({ provider, marked, value }) => {
    const { answer, moved } = await unattended();
    expect((await answer(provider, marked(value))).outcomes).toMatchObject([{ code: 'OK', step: 1 }]);
    expect(moved()).toStrictEqual([2590]);
  });

  it.each([
    { provider: 'anthropic', body: { content: [use] } },
    { provider: 'gemini', body: { candidates: [{ content }] } },
    { provider: 'gemini', body: content },
    { provider: 'openai-chat', body: { choices: [{ message }] } },
    { provider: 'openai-chat', body: message },
    { provider: 'openai', body: { output: [item] } },
    { provider: 'gemini-interactions', body: { steps: [step] } },
    { provider: 'ollama', body: ollama },
  ])('is made by $provider without a marker', async ({ provider, body }) => {
    const { answer, moved } = await unattended();
    expect((await answer(provider, body)).outcomes).toMatchObject([{ code: 'OK' }]);
    expect(moved()).toStrictEqual([2590]);
  });

  it("is made although a tool of the provider's own failed", async () => {
    const { answer } = await unattended();
    const search = { type: 'web_search_call', id: 'ws_1', status: 'failed' };
    expect((await answer('openai', { output: [search, item] })).outcomes).toMatchObject([{ code: 'OK' }]);
  });
});

describe('a call that is sent again under its key', () => {
  const key = { 'idempotency-key': 'turn-1' };

  it('is not made where its response was incomplete at first', async () => {
    const { answer, moved, rows } = await unattended();
    await answer('anthropic', anthropic('max_tokens'), key);
    expect((await answer('anthropic', anthropic('max_tokens'), key)).outcomes).toMatchObject([
      { code: 'RESPONSE_INCOMPLETE', step: 1, replayed: true },
    ]);
    expect((await answer('anthropic', anthropic('tool_use'), key)).outcomes).toMatchObject([
      { code: 'CALL_ID_REUSED', step: 2 },
    ]);
    expect(moved()).toStrictEqual([]);
    expect(rows()).toHaveLength(2);
  });

  it('is not answered as made where its response is incomplete at last', async () => {
    const { answer, moved } = await unattended();
    await answer('anthropic', anthropic('tool_use'), key);
    expect((await answer('anthropic', anthropic('max_tokens'), key)).outcomes).toMatchObject([
      { code: 'RESPONSE_INCOMPLETE', step: 2, replayed: false },
    ]);
    expect((await answer('anthropic', anthropic('tool_use'), key)).outcomes).toMatchObject([
      { code: 'OK', step: 1, replayed: true },
    ]);
    expect(moved()).toStrictEqual([2590]);
  });

  it('does not join a complete one that runs', async () => {
    const { answer, moved } = await unattended();
    const answers = await Promise.all([
      answer('anthropic', anthropic('tool_use'), key),
      answer('anthropic', anthropic('max_tokens'), key),
    ]);
    expect(answers.map(({ outcomes }) => outcomes[0]?.code)).toStrictEqual(['OK', 'RESPONSE_INCOMPLETE']);
    expect(moved()).toStrictEqual([2590]);
  });
});
