import { describe, expect, it } from 'vitest';
import { allTools } from '../support/tools.ts';
import { Random } from '../simulation/random.ts';
import { valueOf } from './schema-value.ts';

describe('valueOf', () => {
  const random = new Random('schema values');
  const drawn = (schema: Parameters<typeof valueOf>[0]): unknown[] =>
    Array.from({ length: 200 }, () => valueOf(schema, random));

  it('draws each choice of an enum, and nothing else', () => {
    expect(new Set(drawn({ enum: ['current', 'superseded'] }))).toEqual(new Set(['current', 'superseded']));
  });

  it('keeps an integer within its bounds and draws both of them', () => {
    const values = drawn({ type: 'integer', minimum: 3, maximum: 9 }).map(Number);
    expect([Math.min(...values), Math.max(...values)]).toEqual([3, 9]);
  });

  it('prefers the examples of the schema', () => {
    expect(new Set(drawn({ type: 'string', pattern: '^INV-', examples: ['INV-1'] }))).toEqual(new Set(['INV-1']));
  });

  it('finds text for a pattern in the description', () => {
    const schema = { type: 'string', pattern: String.raw`^INV-\d{4}$`, description: 'The invoice, such as INV-1001.' };
    expect(new Set(drawn(schema))).toEqual(new Set(['INV-1001']));
  });

  it.each(allTools.map((tool) => ({ name: tool.name, tool })))('makes arguments that $name accepts', ({ tool }) => {
    const accepted = drawn(tool.inputSchema).filter((args) => tool.bind(args as Record<string, never>).ok);
    expect(accepted.length).toBeGreaterThan(0);
  });
});
