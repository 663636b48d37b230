import { describe, expect, it } from 'vitest';
import { anthropicSchema } from '../../../src/gate/providers/anthropic.ts';
import { strictFunction } from '../../../src/gate/providers/openai.ts';
import type { JsonObject } from '../../../src/gate/json.ts';

const inputSchema: JsonObject = {
  type: 'object',
  properties: {
    order_id: { type: 'string', pattern: String.raw`^ORD-\d{4}$`, description: 'Order id.' },
    note: { type: 'string', minLength: 1, maxLength: 100 },
    kind: { default: 'ALL', description: 'Which ones.', type: 'string', enum: ['DEBIT', 'ALL'] },
    least_cents: { default: 0, type: 'integer', minimum: 0 },
  },
  required: ['order_id', 'note'],
  additionalProperties: false,
};

const openai = (schema: JsonObject): JsonObject =>
  strictFunction({ name: 'a_tool', description: 'A tool.', inputSchema: schema })['parameters'] as JsonObject;

describe('strictFunction', () => {
  it('requires everything, makes defaulted fields nullable and tells defaults and lengths', () => {
    expect(openai(inputSchema)).toStrictEqual({
      type: 'object',
      properties: {
        order_id: { type: 'string', pattern: String.raw`^ORD-\d{4}$`, description: 'Order id.' },
        note: { type: 'string', description: '[length at least 1; length at most 100]' },
        kind: {
          description: 'Which ones. [null means "ALL"]',
          type: ['string', 'null'],
          enum: ['DEBIT', 'ALL', null],
        },
        least_cents: { type: ['integer', 'null'], minimum: 0, description: '[null means 0]' },
      },
      required: ['order_id', 'note', 'kind', 'least_cents'],
      additionalProperties: false,
    });
  });

  it('makes a field nullable by a union where it has no single type', () => {
    const either = { anyOf: [{ type: 'string', maxLength: 5 }, { type: 'integer' }] };
    const { properties } = openai({ type: 'object', properties: { either: { ...either, default: 1 } } });
    expect(properties).toStrictEqual({
      either: {
        description: '[null means 1]',
        anyOf: [
          { anyOf: [{ type: 'string', description: '[length at most 5]' }, { type: 'integer' }] },
          { type: 'null' },
        ],
      },
    });
  });

  it('closes objects at every depth', () => {
    const line = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };
    const schema = { type: 'object', properties: { lines: { type: 'array', items: line } }, required: ['lines'] };
    expect(openai(schema)['properties']).toStrictEqual({
      lines: { type: 'array', items: { ...line, additionalProperties: false } },
    });
  });

  it('keeps a field that is named like a keyword', () => {
    const schema = { type: 'object', properties: { default: { type: 'string' } }, required: ['default'] };
    expect(openai(schema)['properties']).toStrictEqual({ default: { type: 'string' } });
  });
});

describe('anthropicSchema', () => {
  it('tells bounds and patterns in the description and makes defaulted fields nullable by a union', () => {
    expect(anthropicSchema(inputSchema)).toStrictEqual({
      type: 'object',
      properties: {
        order_id: { type: 'string', description: String.raw`Order id. [matches ^ORD-\d{4}$]` },
        note: { type: 'string', description: '[length at least 1; length at most 100]' },
        kind: {
          description: 'Which ones. [null means "ALL"]',
          anyOf: [{ type: 'string', enum: ['DEBIT', 'ALL'] }, { type: 'null' }],
        },
        least_cents: { description: '[null means 0; at least 0]', anyOf: [{ type: 'integer' }, { type: 'null' }] },
      },
      required: ['order_id', 'note', 'kind', 'least_cents'],
      additionalProperties: false,
    });
  });

  it('leaves out the pattern that a format stands for', () => {
    const day = { type: 'string', format: 'date', pattern: String.raw`^\d{4}-\d\d-\d\d$` };
    const schema = { type: 'object', properties: { day }, required: ['day'] };
    expect(anthropicSchema(schema)['properties']).toStrictEqual({ day: { type: 'string', format: 'date' } });
  });
});
