import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/gate/json.ts';
import { readArguments } from '../../../src/gate/pipeline/stages/2-parse.ts';
import { definitionFormats, providerNamed } from '../../../src/gate/providers/index.ts';
import type { Provider } from '../../../src/gate/providers/provider.ts';
import { providerBodies, type ProviderBodies, type WireCall } from '../../support/provider-bodies.ts';

function theProvider(name: string): Provider {
  const provider = providerNamed(name);
  if (provider === undefined) throw new Error(`no provider is named ${name}`);
  return provider;
}

function decoded(name: string, body: JsonObject) {
  const calls = theProvider(name).decode(body);
  if (calls === null) throw new Error('the body was not taken');
  return calls;
}

const written = ({ argumentsAre }: ProviderBodies, args: JsonObject): JsonValue =>
  argumentsAre === 'text' ? JSON.stringify(args) : args;

/** What a result calls the id of its call, wherever it stands. */
function idOf(result: JsonObject): JsonValue | undefined {
  const members = (result['functionResponse'] ?? result) as JsonObject;
  return members['call_id'] ?? members['tool_call_id'] ?? members['tool_use_id'] ?? members['id'];
}

const anyArguments = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<JsonObject>;
const anyCalls = fc.array(fc.record({ id: fc.string(), name: fc.string(), arguments: anyArguments }), { maxLength: 6 });

describe('providerNamed', () => {
  it('knows the six wire formats', () => {
    for (const { provider } of providerBodies) expect(theProvider(provider).name).toBe(provider);
  });

  it.each(['constructor', '__proto__', 'OpenAI', 'openai ', 'mcp', ''])('knows no provider %j', (name) => {
    expect(providerNamed(name)).toBeUndefined();
  });
});

describe('definitionFormats', () => {
  it('knows the six providers and MCP', () => {
    expect([...definitionFormats.keys()].toSorted()).toStrictEqual(
      [...providerBodies.map(({ provider }) => provider), 'mcp'].toSorted(),
    );
  });
});

describe.each(providerBodies)('$provider', (wire) => {
  const { provider: name, item, body, passedOver, withoutCalls } = wire;
  const order: WireCall = { id: 'id_1', name: 'get_order', arguments: written(wire, { order_id: 'ORD-1001' }) };
  const onlyCall = (call: WireCall) => {
    const calls = decoded(name, body([item(call)]));
    expect(calls).toHaveLength(1);
    const [first] = calls;
    if (first === undefined) throw new Error('no call');
    return first;
  };

  it('decodes every call in its order, with its id, name and arguments', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const items = calls.map((call) => item({ ...call, arguments: written(wire, call.arguments) }));
        const proposed = decoded(name, body(items));
        expect(proposed.map((call) => [call.id, call.name])).toStrictEqual(calls.map((call) => [call.id, call.name]));
        expect(proposed.map((call) => call.arguments)).toStrictEqual(
          calls.map((call) => written(wire, call.arguments)),
        );
      }),
    );
  });

  it('pairs every result with its call, repeated ids included', () => {
    fc.assert(
      fc.property(anyCalls, fc.string(), fc.boolean(), (calls, text, ok) => {
        const twice = [...calls, ...calls];
        const proposed = decoded(
          name,
          body(twice.map((call) => item({ ...call, arguments: written(wire, call.arguments) }))),
        );
        const results = proposed.map((call) => theProvider(name).result(call, { ok, text }));
        expect(results.map(idOf)).toStrictEqual(twice.map(({ id }) => id));
        for (const result of results) expect(JSON.stringify(result)).toContain(JSON.stringify(text));
      }),
    );
  });

  it.each([null, 7, ['id_1'], undefined])('writes no id where %j came as one', (id) => {
    const { id: _usual, ...unpaired } = order;
    const call = onlyCall(id === undefined ? unpaired : { ...unpaired, id });
    expect(call.id).toBeNull();
    expect(idOf(theProvider(name).result(call, { ok: true, text: 'text' }))).toBeUndefined();
  });

  it('passes over what is no function call', () => {
    expect(decoded(name, body(passedOver))).toStrictEqual([]);
    const between = passedOver.flatMap((other) => [other, item(order)]);
    expect(decoded(name, body(between))).toHaveLength(passedOver.length);
  });

  it('finds no calls in an empty list', () => {
    expect(decoded(name, body([]))).toStrictEqual([]);
  });

  it.each(withoutCalls.map((without) => [JSON.stringify(without), without] as const))(
    'does not take %s',
    (_, without) => {
      expect(theProvider(name).decode(without)).toBeNull();
    },
  );

  it.each([7, null, true, ['get_order'], { name: 'get_order' }])(
    'names no tool where %j came as a name',
    (toolName) => {
      expect(onlyCall({ ...order, name: toolName }).name).toBe('');
    },
  );

  it('names no tool where no name came', () => {
    const { name: _usual, ...nameless } = order;
    expect(onlyCall(nameless).name).toBe('');
  });

  it.each(['math.factorial', 'a'.repeat(65), 'constructor', '__proto__', 'gеt_order'])(
    'keeps the name %j as it came',
    (toolName) => {
      expect(onlyCall({ ...order, name: toolName }).name).toBe(toolName);
    },
  );

  it('hands on arguments that stage 2 reads', () => {
    expect(readArguments(onlyCall(order).arguments)).toStrictEqual({ ok: true, value: { order_id: 'ORD-1001' } });
  });

  it('takes absent arguments as an empty object', () => {
    const { arguments: _usual, ...bare } = order;
    expect(readArguments(onlyCall(bare).arguments)).toStrictEqual({ ok: true, value: {} });
  });

  const anyType = [7, null, true, [], [{ order_id: 'ORD-1001' }]];
  const otherType: Record<ProviderBodies['argumentsAre'], JsonValue[]> = {
    text: [{}, { order_id: 'ORD-1001' }],
    object: ['', '{}', '{"order_id":"ORD-1001"}', 'order 1001'],
    either: ['order 1001'],
  };
  it.each([...anyType, ...otherType[wire.argumentsAre]])('hands %j as arguments on for stage 2 to refuse', (args) => {
    const { arguments: handedOn, defect } = onlyCall({ ...order, arguments: args });
    expect(defect?.code ?? (readArguments(handedOn).ok ? 'read' : 'INVALID_JSON')).toBe('INVALID_JSON');
  });
});
