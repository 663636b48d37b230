import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import { cleanData } from '../../../src/gate/observation/clean-data.ts';
import { outside } from '../../../src/gate/tool/outside.ts';

/** Cleans `data` as the answer of a tool with this output. */
const cleaned = (data: JsonObject, shape: z.ZodRawShape): JsonObject =>
  cleanData(data, z.toJSONSchema(z.strictObject(shape)) as JsonObject);

const tagged = '<b>x</b> & <i>y</i>';

describe('cleanData', () => {
  it('cleans a string by the kind that its schema declares', () => {
    const shape = { plain: outside('plain'), markdown: outside('markdown'), html: outside('html') };
    const source = '*a* &amp;amp; b';
    expect(cleaned({ plain: source, markdown: source, html: source }, shape)).toEqual({
      plain: '*a* &amp;amp; b',
      markdown: 'a & b',
      html: '*a* & b',
    });
  });

  it('leaves alone what is declared as ours and all that is no string', () => {
    const shape = {
      id: z.string().regex(/./),
      count: z.int(),
      more: z.boolean(),
      note: z.null(),
      memo: outside('plain'),
    };
    const data = { id: tagged, count: 1, more: true, note: null };
    expect(cleaned({ ...data, memo: tagged }, shape)).toEqual({ ...data, memo: 'x & y' });
  });

  it.each<[string, z.ZodType, JsonObject, JsonObject]>([
    ['an array', z.array(outside('plain')), { at: [tagged, tagged] }, { at: ['x & y', 'x & y'] }],
    [
      'an array of objects',
      z.array(z.strictObject({ memo: outside('plain') })),
      { at: [{ memo: tagged }] },
      { at: [{ memo: 'x & y' }] },
    ],
    ['an object', z.strictObject({ memo: outside('plain') }), { at: { memo: tagged } }, { at: { memo: 'x & y' } }],
    ['a record', z.record(z.string(), outside('plain')), { at: { any: tagged } }, { at: { any: 'x & y' } }],
    ['a nullable string', outside('plain').nullable(), { at: tagged }, { at: 'x & y' }],
    [
      'a nullable object',
      z.strictObject({ memo: outside('plain') }).nullable(),
      { at: { memo: tagged } },
      { at: { memo: 'x & y' } },
    ],
    [
      'a choice of objects',
      z.discriminatedUnion('is', [
        z.strictObject({ is: z.literal('a'), memo: outside('plain') }),
        z.strictObject({ is: z.literal('b') }),
      ]),
      { at: { is: 'a', memo: tagged } },
      { at: { is: 'a', memo: 'x & y' } },
    ],
  ])('finds strings in %s', (_name, at, data, expected) => expect(cleaned(data, { at })).toEqual(expected));

  it('does not take a member of every object for a declaration', () => {
    expect(cleaned({ constructor: tagged, toString: tagged }, {})).toEqual({ constructor: tagged, toString: tagged });
  });
});
