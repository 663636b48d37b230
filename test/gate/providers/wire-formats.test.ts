/** What each provider documents, byte for byte: a response with two calls, and the results its next request takes. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import { providerNamed } from '../../../src/gate/providers/index.ts';

const done = { ok: true, text: 'done' };
const refused = { ok: false, text: 'refused' };

/** Results of the first and the second call: done and refused. */
function resultsOf(name: string, body: JsonObject): JsonObject[] {
  const provider = providerNamed(name);
  const calls = provider?.decode(body) ?? [];
  return calls.map((call, index) => provider?.result(call, index === 0 ? done : refused) ?? {});
}

describe('openai', () => {
  it('answers each call with a function_call_output', () => {
    const output = [
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get_order', arguments: '{}', status: 'completed' },
      { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'get_order', arguments: '{}', status: 'completed' },
    ];
    expect(resultsOf('openai', { output })).toStrictEqual([
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
      { type: 'function_call_output', call_id: 'call_2', output: 'refused' },
    ]);
  });

  it('echoes the caller of a call that a program made', () => {
    const caller = { type: 'program', caller_id: 'call_0' };
    const output = [{ type: 'function_call', call_id: 'call_1', caller, name: 'get_order', arguments: '{}' }];
    expect(resultsOf('openai', { output })).toStrictEqual([
      { type: 'function_call_output', call_id: 'call_1', output: 'done', caller },
    ]);
  });

  it('writes no caller where it is null', () => {
    const output = [{ type: 'function_call', call_id: 'call_1', caller: null, name: 'get_order', arguments: '{}' }];
    expect(resultsOf('openai', { output })).toStrictEqual([
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
    ]);
  });
});

describe('openai-chat', () => {
  const tool_calls = [
    { id: 'call_1', type: 'function', function: { name: 'get_order', arguments: '{}' } },
    { id: 'call_2', type: 'function', function: { name: 'get_order', arguments: '{}' } },
  ];
  const results = [
    { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    { role: 'tool', tool_call_id: 'call_2', content: 'refused' },
  ];

  it('answers each call of the first choice with a tool message', () => {
    const choices = [
      { message: { role: 'assistant', tool_calls } },
      { message: { role: 'assistant', tool_calls: [] } },
    ];
    expect(resultsOf('openai-chat', { choices })).toStrictEqual(results);
  });

  it('takes a single assistant message', () => {
    expect(resultsOf('openai-chat', { role: 'assistant', content: null, tool_calls })).toStrictEqual(results);
  });

  it('finds no calls in a message that only speaks', () => {
    const provider = providerNamed('openai-chat');
    expect(provider?.decode({ choices: [{ message: { content: 'Hello.' } }] })).toStrictEqual([]);
    expect(provider?.decode({ choices: [{ message: { content: 'Hello.', tool_calls: null } }] })).toStrictEqual([]);
  });

  it('takes a call whose server leaves the type out', () => {
    const [{ type: _function, ...untyped } = {}] = tool_calls;
    expect(resultsOf('openai-chat', { tool_calls: [untyped] })).toStrictEqual(results.slice(0, 1));
  });

  it.each([null, 'refund_order', {}, { function: 'refund_order' }])(
    'takes %j in the list as a call without a name',
    (item) => {
      expect(providerNamed('openai-chat')?.decode({ tool_calls: [item] })).toMatchObject([
        { id: null, name: '', arguments: undefined, echo: {} },
      ]);
    },
  );
});

describe('anthropic', () => {
  it('answers each call with a tool_result, marked where it was refused', () => {
    const content = [
      { type: 'tool_use', id: 'toolu_1', name: 'get_order', input: {} },
      { type: 'tool_use', id: 'toolu_2', name: 'get_order', input: {} },
    ];
    expect(resultsOf('anthropic', { content })).toStrictEqual([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' },
      { type: 'tool_result', tool_use_id: 'toolu_2', content: 'refused', is_error: true },
    ]);
  });

  it("echoes the toolset of a call to a toolset's member", () => {
    const content = [{ type: 'tool_use', id: 'toolu_1', name: 'navigate', input: {}, toolset_name: 'browser' }];
    expect(resultsOf('anthropic', { content })).toStrictEqual([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'done', toolset_name: 'browser' },
    ]);
  });
});

describe('gemini', () => {
  const parts = [
    { functionCall: { id: 'fc_1', name: 'get_order', args: {} } },
    { functionCall: { name: 'refund_order', args: {} } },
  ];
  const results = [
    { functionResponse: { id: 'fc_1', name: 'get_order', response: { output: 'done' } } },
    { functionResponse: { name: 'refund_order', response: { error: 'refused' } } },
  ];

  it('answers each call of the first candidate with a functionResponse, with an id where one came', () => {
    expect(resultsOf('gemini', { candidates: [{ content: { role: 'model', parts } }, {}] })).toStrictEqual(results);
  });

  it('takes a content alone', () => {
    expect(resultsOf('gemini', { role: 'model', parts })).toStrictEqual(results);
  });

  it.each([{}, { content: null }, { content: {} }, { content: { role: 'model', parts: null } }])(
    'finds no calls in the stopped candidate %j',
    (candidate) => {
      expect(providerNamed('gemini')?.decode({ candidates: [candidate] })).toStrictEqual([]);
    },
  );

  it('takes a functionCall that is no object as a call without a name', () => {
    expect(providerNamed('gemini')?.decode({ parts: [{ functionCall: 'refund_order' }] })).toStrictEqual([
      { id: null, name: '', arguments: undefined, echo: {} },
    ]);
  });
});

describe('gemini-interactions', () => {
  it('answers each call with a function_result, marked where it was refused', () => {
    const steps = [
      { type: 'function_call', id: 'a1', name: 'get_order', arguments: {} },
      { type: 'function_call', id: 'b2', name: 'refund_order', arguments: '{}' },
    ];
    expect(resultsOf('gemini-interactions', { steps })).toStrictEqual([
      { type: 'function_result', call_id: 'a1', name: 'get_order', result: 'done' },
      { type: 'function_result', call_id: 'b2', name: 'refund_order', result: 'refused', is_error: true },
    ]);
  });
});

describe('ollama', () => {
  it('answers each call with a tool message, with an id where one came', () => {
    const tool_calls = [
      { id: 'call_1', function: { name: 'get_order', arguments: {} } },
      { function: { name: 'refund_order', arguments: {} } },
    ];
    expect(resultsOf('ollama', { message: { role: 'assistant', content: '', tool_calls } })).toStrictEqual([
      { role: 'tool', tool_name: 'get_order', tool_call_id: 'call_1', content: 'done' },
      { role: 'tool', tool_name: 'refund_order', content: 'refused' },
    ]);
  });

  it('finds no calls in a message that only speaks', () => {
    expect(providerNamed('ollama')?.decode({ message: { role: 'assistant', content: 'Hello.' } })).toStrictEqual([]);
  });

  it('takes an item that is no object as a call without a name', () => {
    expect(providerNamed('ollama')?.decode({ message: { tool_calls: ['refund_order'] } })).toStrictEqual([
      { id: null, name: '', arguments: undefined, echo: {} },
    ]);
  });
});
