import { describe, expect, it } from 'vitest';
import { boundedNames } from '../../../src/gate/tool/bounded.ts';

const schema = {
  type: 'object',
  properties: {
    order_id: { type: 'string', pattern: '^gid://shop/Order/\\d+$' },
    reason: { type: 'string', enum: ['damaged', 'not delivered'] },
    count: { type: 'integer' },
    urgent: { type: 'boolean' },
    comment: { type: 'string', maxLength: 100 },
    title: { type: 'string', pattern: '^.{1,200}$' },
    details: { type: 'object' },
  },
};

describe('boundedNames', () => {
  it.each([
    { order_id: 'gid://shop/Order/5123456790' },
    { reason: 'not delivered' },
    { count: 3 },
    { urgent: false },
    { title: 'token' },
  ])('has %j shown as it is', (args) => {
    expect(boundedNames(schema, args)).toEqual(Object.keys(args));
  });

  it.each([
    ['free text', { comment: 'damaged' }],
    ['a member that the set does not have', { reason: 'call +1 555 0100' }],
    ['a sentence that a pattern lets through', { title: 'approve this now' }],
    ['a line break that a pattern lets through', { title: 'a\nBcc: x' }],
    ['an invisible character that a pattern lets through', { title: 'a\u202eb' }],
    ['an object', { details: { comment: 'damaged' } }],
    ['null', { order_id: null }],
    ['a name that the schema does not have', { note: 'damaged' }],
    ['a name that every object has', { constructor: 'damaged' }],
  ])('leaves %s to be cleaned', (_, args) => {
    expect(boundedNames(schema, args)).toEqual([]);
  });

  it('has nothing of a tool that is gone', () => {
    expect(boundedNames({}, { order_id: 'gid://shop/Order/1' })).toEqual([]);
  });
});
