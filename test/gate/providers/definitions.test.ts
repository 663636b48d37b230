/** What each provider documents its request takes, held against the definitions as published. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readGolden } from '../../../scripts/golden.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/gate/json.ts';
import { definitionFormats } from '../../../src/gate/providers/index.ts';
import { neutral } from '../../../src/gate/providers/index.ts';
import type { DefinitionFormat } from '../../../src/gate/providers/provider.ts';
import { allTools } from '../../support/tools.ts';

const everyDialect = [
  'type',
  'description',
  'enum',
  'const',
  'anyOf',
  'items',
  'properties',
  'required',
  'additionalProperties',
];
const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems'];
/** Taken as JSON Schema, enforced or passed over, never refused. */
const wholeDialect = [...everyDialect, ...bounds, 'format', 'pattern', 'minLength', 'maxLength', 'default'];

/** Keywords that a format's request takes; every other one is refused or has no documented meaning. */
const keywords: Record<string, string[]> = {
  neutral: wholeDialect,
  openai: [...everyDialect, ...bounds, 'format', 'pattern'],
  'openai-chat': [...everyDialect, ...bounds, 'format', 'pattern'],
  anthropic: [...everyDialect, 'format'],
  gemini: wholeDialect,
  'gemini-interactions': wholeDialect,
  ollama: wholeDialect,
  mcp: wholeDialect,
};
/** The formats both strict providers enforce. */
const stringFormats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
const strict = ['openai', 'openai-chat', 'anthropic'];

/** The parameters in a definition, under whatever name its format has for them. */
function parametersIn(definition: JsonObject): JsonObject {
  const [declaration] = (definition['functionDeclarations'] ?? [definition]) as JsonObject[];
  const members = (declaration?.['function'] ?? declaration ?? {}) as JsonObject;
  const parameters =
    members['parameters'] ?? members['input_schema'] ?? members['inputSchema'] ?? members['parametersJsonSchema'];
  if (parameters === undefined || !isJsonObject(parameters)) throw new Error('a definition without parameters');
  return parameters;
}

const publishedParameters = (file: string): JsonObject[] =>
  Object.values(readGolden(file)).map((entry) => parametersIn((entry as JsonObject[])[0] ?? {}));

/** A schema and all schemas within it. */
function schemasIn(schema: JsonObject): JsonObject[] {
  const { properties = {}, items, anyOf = [] } = schema;
  const within = [...Object.values(properties as JsonObject), ...(anyOf as JsonValue[]), items ?? null];
  return [schema, ...within.filter(isJsonObject).flatMap(schemasIn)];
}

describe.each(Object.entries(keywords))('the published definitions for %s', (file, taken) => {
  const schemas = publishedParameters(file).flatMap(schemasIn);

  it('are of every tool', () => {
    expect(publishedParameters(file)).toHaveLength(allTools.length);
  });

  it('use only keywords that the provider takes', () => {
    const used = new Set(schemas.flatMap((schema) => Object.keys(schema)));
    expect([...used].filter((keyword) => !taken.includes(keyword))).toStrictEqual([]);
  });

  it('use only string formats that the provider takes', () => {
    const used = schemas.flatMap(({ format }) => (typeof format === 'string' ? [format] : []));
    expect(used.filter((format) => !stringFormats.includes(format))).toStrictEqual([]);
  });

  it('describe every argument', () => {
    for (const { properties } of publishedParameters(file))
      for (const property of Object.values(properties as JsonObject))
        expect((property as JsonObject)['description']).toStrictEqual(expect.any(String));
  });

  it('are closed objects', () => {
    for (const parameters of publishedParameters(file))
      expect(parameters).toMatchObject({ type: 'object', additionalProperties: false });
  });
});

describe.each(strict)('the strict definitions for %s', (file) => {
  it('require every property of every object', () => {
    for (const { properties, required } of publishedParameters(file).flatMap(schemasIn))
      expect(required).toStrictEqual(properties === undefined ? undefined : Object.keys(properties as JsonObject));
  });
});

describe.each(allTools)('the arguments of $name', ({ inputSchema }) => {
  it('may be left out only where a default stands for them: strict models write null instead', () => {
    const required = inputSchema['required'] as string[];
    for (const [name, property] of Object.entries(inputSchema['properties'] as JsonObject))
      expect(Object.hasOwn(property as JsonObject, 'default')).toBe(!required.includes(name));
  });

  it('have defaults at the top only: a null deeper down is no absence', () => {
    const deeper = Object.values(inputSchema['properties'] as JsonObject).flatMap((property) =>
      schemasIn(property as JsonObject).slice(1),
    );
    expect(deeper.filter((schema) => 'default' in schema)).toStrictEqual([]);
  });
});

/** Few texts of eight digits are days; a pattern that takes one gets it often. */
function textOf(pattern: RegExp): fc.Arbitrary<string> {
  const days = ['2024-02-29', '2026-02-28', '2026-02-29'].filter((day) => pattern.test(day));
  return days.length === 0
    ? fc.stringMatching(pattern)
    : fc.oneof(fc.stringMatching(pattern), fc.constantFrom(...days));
}

/** Mostly what the schema of an argument asks for, to its bounds; now and then anything. */
function argumentOf(schema: JsonObject): fc.Arbitrary<JsonValue> {
  const { enum: members, pattern, type, minimum = -(2 ** 53), maximum = 2 ** 53 } = schema;
  const fitting = Array.isArray(members)
    ? fc.constantFrom(...members)
    : typeof pattern === 'string'
      ? textOf(new RegExp(pattern))
      : type === 'integer'
        ? fc.oneof(fc.constantFrom(0, 1, minimum, maximum), fc.integer())
        : fc.string({ minLength: 1, maxLength: 101 });
  const anything = fc.constantFrom<JsonValue[]>(null, -1, 25.9, 2 ** 53, '', '2590', 'ORD-100', 'brl', true, [], {});
  return fc.oneof({ weight: 9, arbitrary: fitting }, { weight: 1, arbitrary: anything });
}

const formats = [neutral, ...definitionFormats.values()].map((format): [string, DefinitionFormat] => [
  format.name,
  format,
]);

describe.each(formats)('the schema shown to %s', (file, format) => {
  it.each(allTools)('takes all that $name takes', (tool) => {
    const shown = z.fromJSONSchema(parametersIn(format.tools([tool])[0] ?? {}));
    const properties = Object.entries(tool.inputSchema['properties'] as { [name: string]: JsonObject });
    const defaulted = properties.flatMap(([name, property]) => ('default' in property ? [name] : []));
    // A strict model writes null where it leaves something out, and only there; others leave it out.
    const absences = strict.includes(file)
      ? Object.fromEntries(defaulted.map((name): [string, null] => [name, null]))
      : {};
    const anyArguments = fc.record(
      Object.fromEntries(properties.map(([name, property]) => [name, argumentOf(property)])),
      { requiredKeys: properties.map(([name]) => name).filter((name) => !defaulted.includes(name)) },
    ) as fc.Arbitrary<JsonObject>;
    let taken = 0;
    fc.assert(
      fc.property(anyArguments, (args) => {
        if (!tool.bind(args).ok) return;
        taken += 1;
        const present = Object.entries(args).filter(([name, value]) => value !== null || !defaulted.includes(name));
        expect(shown.safeParse({ ...absences, ...Object.fromEntries(present) }).success).toBe(true);
      }),
    );
    expect(taken).toBeGreaterThan(0);
  });
});
