import { describe, expect, it } from 'vitest';
import { parseStrictJson, type JsonObject, type JsonValue } from '../../../src/gate/json.ts';
import { readArguments } from '../../../src/gate/pipeline/stages/2-parse.ts';
import { providerNamed } from '../../../src/gate/providers/index.ts';
import { describeCorpus } from '../../support/corpora.ts';
import { providerBodies, type ProviderBodies } from '../../support/provider-bodies.ts';

type CorpusItem = { shape: string; item: JsonObject; source: string };

const linesOf = (text: string): JsonObject[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);

function wireOf(name: string): ProviderBodies {
  const wire = providerBodies.find(({ provider }) => provider === name);
  if (wire === undefined) throw new Error(`no provider is named ${name}`);
  return wire;
}

const decoded = (wire: ProviderBodies, items: JsonValue[]) => providerNamed(wire.provider)?.decode(wire.body(items));

describeCorpus('provider-calls', (corpus) => {
  const items = linesOf(corpus.text('items.jsonl')) as unknown as CorpusItem[];
  /** Bedrock, the sixth shape, is no provider of Toolgate's. */
  const shapes: Record<string, string> = {
    'openai-responses': 'openai',
    'openai-chat': 'openai-chat',
    anthropic: 'anthropic',
    gemini: 'gemini',
    'gemini-interactions': 'gemini-interactions',
  };
  const called = items.flatMap((one) => {
    const provider = shapes[one.shape];
    return provider === undefined ? [] : [{ ...one, provider }];
  });
  const serverSide = items.filter(({ shape }) => shape === 'server-side');

  it('holds calls and server-side items', () => {
    expect(called).toHaveLength(33);
    expect(serverSide).toHaveLength(100);
  });

  it.each(called)('reads the $provider call of $source', ({ provider, item }) => {
    const written = (item['function'] ?? item['functionCall'] ?? item) as JsonObject;
    const calls = decoded(wireOf(provider), [item]);
    expect(calls).toStrictEqual([
      {
        id: item['call_id'] ?? item['id'] ?? null,
        name: written['name'],
        arguments: written['arguments'] ?? written['input'] ?? written['args'],
        echo: item['caller'] !== undefined && provider === 'openai' ? { caller: item['caller'] } : {},
      },
    ]);
    // One server writes the text `null` where there are no arguments; that is no object.
    expect(readArguments(calls?.[0]?.arguments).ok).toBe(written['arguments'] !== 'null');
  });

  it('passes over every server-side item', () => {
    const all = serverSide.map(({ item }) => item);
    for (const provider of ['openai', 'anthropic', 'gemini', 'gemini-interactions'])
      expect(decoded(wireOf(provider), all)).toStrictEqual([]);
  });
});

describeCorpus('function-calls', (corpus) => {
  /** The answers of the benchmark: each argument with the values that count as right; the first is taken. */
  const calls = ['simple_python', 'multiple', 'parallel', 'parallel_multiple'].flatMap((file) =>
    linesOf(corpus.text(`possible_answer/BFCL_v4_${file}.json`)).map(({ ground_truth }) =>
      (ground_truth as Record<string, Record<string, JsonValue[]>>[]).flatMap((truth) =>
        Object.entries(truth).map(([name, args]) => ({
          name,
          arguments: Object.fromEntries(Object.entries(args).map(([field, values]) => [field, values[0] ?? null])),
        })),
      ),
    ),
  );

  it('holds parallel calls and names with dots', () => {
    expect(calls.length).toBeGreaterThan(900);
    expect(calls.flat().length).toBeGreaterThan(1700);
    expect(calls.flat().some(({ name }) => name.includes('.'))).toBe(true);
  });

  describe.each(providerBodies)('as $provider', (wire) => {
    it('keeps every name and every argument', () => {
      for (const parallel of calls) {
        const items = parallel.map(({ name, arguments: args }) =>
          wire.item({ name, arguments: wire.argumentsAre === 'text' ? JSON.stringify(args) : args }),
        );
        const read = decoded(wire, items)?.map((call) => {
          const reading = readArguments(call.arguments);
          return { name: call.name, arguments: reading.ok ? reading.value : reading.reason };
        });
        expect(read).toStrictEqual(parallel);
      }
    });

    it('survives the strict reading of its body', () => {
      for (const parallel of calls) {
        const body = wire.body(parallel.map(({ name, arguments: args }) => wire.item({ name, arguments: args })));
        expect(parseStrictJson(JSON.stringify(body)).ok).toBe(true);
      }
    });
  });
});
