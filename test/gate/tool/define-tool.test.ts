import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../../../src/gate/tool/define-tool.ts';
import type { ReadPorts } from '../../../src/gate/ports.ts';

const declared = {
  name: 'lookup',
  description: 'Looks something up.',
  effect: 'none',
  risky: false,
  reads: ['orders'],
  input: z.strictObject({
    filter: z.strictObject({ amount_cents: z.int().describe('Amount in minor units (cents).') }).optional(),
  }),
  output: z.strictObject({}),
  codes: {},
  run: async () => ({ ok: true, data: {} }) as const,
} as const;

describe('defineTool', () => {
  it.each(['', 'Lookup', '1_lookup', 'look-up', 'look up', 'lookup\n', `l${'x'.repeat(40)}`])(
    'refuses the name %j',
    (name) => {
      expect(() => defineTool({ ...declared, name })).toThrow(`the tool name ${JSON.stringify(name)} must match`);
    },
  );

  it('hands a tool the ports it declares and no others', async () => {
    let handed: string[] = [];
    const tool = defineTool({
      ...declared,
      run: async (_: unknown, ports: object) => {
        handed = Object.keys(ports);
        return { ok: true, data: {} } as const;
      },
    });
    const bound = tool.bind({});
    if (!bound.ok) throw new Error('the arguments do not fit');
    const all = { orders: {}, documents: {}, accounts: {} } as unknown as ReadPorts;
    const signal = new AbortController().signal;
    await bound.bound.read(all, { customer_id: null, signal });
    expect(handed).toEqual(['orders']);
    const attempt = { effect_key: 'e', call_key: 'c', attempt: 1, uid: 'u', caller_id: 'c', tool: 'lookup' };
    await expect(
      bound.bound.send({ refunds: { send: () => Promise.reject(new Error('sent')) } }, attempt, {
        customer_id: null,
        signal,
      }),
    ).rejects.toThrow('has no effect');
  });

  it.each([
    [{ filter: { amount_cents: 'x' } }, ['filter.amount_cents']],
    [{ filter: { amount_cents: 1, more: 1, 'a b': 1 } }, ['filter.more', 'filter.(unknown)']],
    [{ more: 1 }, ['more']],
  ])('names the fields of %j by their dotted path', (args, fields) => {
    const bound = defineTool(declared).bind(args);
    expect(bound.ok ? [] : bound.problems.map(({ field }) => field)).toEqual(fields);
  });

  it('repeats the description of a field that does not fit, however deep', () => {
    const bound = defineTool(declared).bind({ filter: { amount_cents: 25.9 } });
    expect(bound.ok ? [] : bound.problems).toMatchObject([{ hint: 'Amount in minor units (cents).' }]);
  });
});
