import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import { allTools } from '../../support/tools.ts';

/** Every string schema below `schema`, with the path to it. */
function stringsIn(schema: JsonObject, path: string): [string, JsonObject][] {
  if (schema['type'] === 'string') return [[path, schema]];
  return Object.entries(schema).flatMap(([name, below]) =>
    typeof below === 'object' && below !== null ? stringsIn(below as JsonObject, `${path}.${name}`) : [],
  );
}

describe('outside', () => {
  it.each(allTools.map((tool) => [tool.name, tool] as const))(
    'is declared by every output string of %s that no closed set or pattern bounds',
    (name, tool) => {
      for (const [path, schema] of stringsIn(tool.outputSchema, name)) {
        const bounded = ['x-outside', 'enum', 'const', 'pattern'].filter((word) => word in schema);
        expect(bounded, path).toHaveLength(1);
      }
    },
  );
});
