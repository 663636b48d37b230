import { describe, expect, it } from 'vitest';
import { closedArguments } from '../../../src/gate/mail/closed-arguments.ts';

const schema = {
  type: 'object',
  properties: {
    order_id: { type: 'string', pattern: '^ORD-\\d{4}$' },
    reason: { type: 'string', enum: ['damaged', 'not delivered'] },
    count: { type: 'integer' },
    urgent: { type: 'boolean' },
    comment: { type: 'string', maxLength: 100 },
    details: { type: 'object' },
  },
};

const shownOf = (args: Parameters<typeof closedArguments>[1]) => closedArguments(schema, args).shown;

describe('closedArguments', () => {
  it.each([
    [{ order_id: 'ORD-1001' }, 'order_id', 'ORD-1001'],
    [{ reason: 'not delivered' }, 'reason', 'not delivered'],
    [{ count: 3 }, 'count', '3'],
    [{ urgent: false }, 'urgent', 'false'],
  ])('shows %j', (args, name, value) => {
    expect(shownOf(args)).toEqual([{ name, value }]);
  });

  it.each([
    ['free text', { comment: 'damaged' }],
    ['a member that the set does not have', { reason: 'call +1 555 0100' }],
    ['a value that a mail client would link', { order_id: 'evil.example' }],
    ['a value with a line break', { order_id: 'ORD-1001\nBcc: x' }],
    ['an object', { details: { comment: 'damaged' } }],
    ['null', { order_id: null }],
    ['a name that the schema does not have', { note: 'damaged' }],
    ['a name that every object has', { constructor: 'damaged' }],
  ])('leaves %s to the page', (_what, args) => {
    expect(closedArguments(schema, args)).toEqual({ shown: [], left: 1 });
  });

  it('keeps the order of the schema and counts what is left', () => {
    const args = { comment: 'hello', count: 3, order_id: 'ORD-1001' };
    expect(closedArguments(schema, args)).toEqual({
      shown: [
        { name: 'order_id', value: 'ORD-1001' },
        { name: 'count', value: '3' },
      ],
      left: 1,
    });
  });

  it('shows nothing of a tool that is gone', () => {
    expect(closedArguments(null, { order_id: 'ORD-1001' })).toEqual({ shown: [], left: 1 });
  });
});
