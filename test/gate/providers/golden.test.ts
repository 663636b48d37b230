import { describe, expect, it } from 'vitest';
import { driftOf, publishedBy, readGolden } from '../../../scripts/golden.ts';
import { allTools, toolNamed } from '../../support/tools.ts';

const published = [...publishedBy(allTools)];

describe('the published contracts', () => {
  it.each(published)('are what %s.json says', (file, now) => {
    expect(driftOf(file, readGolden(file), now).map(({ message }) => message)).toStrictEqual([]);
  });
});

describe('driftOf', () => {
  const before = { refund_order: [{ name: 'refund_order', parameters: { type: 'object' } }] };

  it('passes what did not change', () => {
    expect(driftOf('openai', before, structuredClone(before))).toStrictEqual([]);
  });

  it('names the new tool that a changed contract needs', () => {
    const now = { refund_order: [{ name: 'refund_order', parameters: { type: 'object', required: [] } }] };
    const [drift] = driftOf('openai', before, now);
    expect(drift?.kind).toBe('changed');
    expect(drift?.message).toContain('refund_order_v2');
  });

  it('counts the versions of a tool on', () => {
    const [drift] = driftOf('openai', { refund_order_v9: [1] }, { refund_order_v9: [2] });
    expect(drift?.message).toContain('refund_order_v10');
  });

  it('sees another order of members: a prompt cache would', () => {
    const now = { refund_order: [{ parameters: { type: 'object' }, name: 'refund_order' }] };
    expect(driftOf('openai', before, now)).toMatchObject([{ kind: 'changed' }]);
  });

  it('misses a tool that is gone', () => {
    expect(driftOf('openai', before, {})).toMatchObject([{ kind: 'gone' }]);
  });

  it('names the command that adds a new tool', () => {
    const [drift] = driftOf('openai', {}, before);
    expect(drift?.kind).toBe('new');
    expect(drift?.message).toContain('npm run golden:add');
  });
});

describe('publishedBy', () => {
  const refundOrder = toolNamed('refund_order');
  if (refundOrder === undefined) throw new Error('refund_order is gone');
  const driftsWith = (changes: Partial<typeof refundOrder>) => {
    const before = publishedBy([refundOrder]);
    return [...publishedBy([{ ...refundOrder, ...changes }])].flatMap(([file, now]) =>
      driftOf(file, before.get(file) ?? {}, now).map(() => file),
    );
  };
  const everyFormat = published.map(([file]) => file).filter((file) => file !== 'contract');

  it('lets a tool be deprecated', () => {
    const description = `${refundOrder.description} Deprecated: use refund_order_v2.`;
    expect(driftsWith({ description, deprecatedBy: 'refund_order_v2' })).toStrictEqual([]);
  });

  it('holds every format to the description and the arguments', () => {
    expect(driftsWith({ description: 'Refunds an order.' })).toStrictEqual(everyFormat);
    expect(driftsWith({ inputSchema: { ...refundOrder.inputSchema, properties: {} } })).toStrictEqual(everyFormat);
  });

  it.each([
    { effect: 'none' as const },
    { risky: false },
    { codes: ['ORDER_NOT_FOUND'] },
    { outputSchema: { type: 'object' } },
  ])('holds the contract to what no definition shows: %j', (changes) => {
    expect(driftsWith(changes)).toStrictEqual(['contract']);
  });
});
