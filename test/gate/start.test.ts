/** What a start of the Worker loads: the files that `src/index.ts` reaches without a dynamic import. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Names both halves of `import … from '…'` and `export … from '…'`; types are erased. */
const STATIC = /^(?:import|export) (?<what>(?!type )[^;]*?from )?'(?<from>[^']+)';/gm;

function reachedFrom(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file) || !existsSync(file)) return;
    files.add(file);
    for (const { groups } of readFileSync(file, 'utf8').matchAll(STATIC)) {
      const from = groups?.['from'] ?? '';
      if (from.startsWith('.')) visit(join(dirname(file), from));
      else packages.add(from);
    }
  };
  visit(entry);
  return { files, packages };
}

describe('a start of the Worker', () => {
  const { files, packages } = reachedFrom('src/index.ts');

  it('loads the routes of MCP and of the documents', () => {
    expect([...files]).toEqual(
      expect.arrayContaining(['src/gate/http/agent/mcp.ts', 'src/gate/http/docs/docs.ts', 'src/tools/index.ts']),
    );
    expect([...packages]).toEqual(expect.arrayContaining(['hono', 'zod']));
  });

  it.each(['@modelcontextprotocol/server', 'zod-openapi'])('does not load %s, which few requests need', (name) => {
    expect([...packages]).not.toContain(name);
  });

  it.each(['openapi.ts', 'docs-page.tsx', 'docs-text.ts', 'llms.ts', 'codes.ts'])(
    'does not load the documents: %s',
    (file) => {
      expect([...files]).not.toContain(`src/gate/http/docs/${file}`);
    },
  );
});
