/** Every regular expression of the product, literal or put together, is judged by a public checker. */
import { globSync, readFileSync } from 'node:fs';
import { check } from 'recheck';
import { parseSync, Visitor, type ESTree } from 'vite';
import { describe, expect, it } from 'vitest';

type Pattern = { file: string; source: string; flags: string };

/**
 * By automata wherever they can tell, which proves it; the rest is attacked with the same random texts each time. All limits
 * count characters: one of time would call a pattern vulnerable because the machine is busy.
 */
const CHECKED = {
  maxRepeatCount: 200,
  randomSeed: 1,
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
};

/** What a string is that is written down: a literal, or `String.raw` with the names of such strings in it. */
function textOf(node: ESTree.Node | null | undefined, names: ReadonlyMap<string, ESTree.Expression | null>): string {
  switch (node?.type) {
    case 'Literal':
      return String(node.value);
    case 'Identifier':
      return textOf(names.get(node.name), names);
    case 'TaggedTemplateExpression': {
      const { quasis, expressions } = node.quasi;
      const parts = expressions.map((part) => textOf(part, names));
      return quasis.map(({ value }, index) => value.raw + (parts[index] ?? '')).join('');
    }
    default:
      throw new Error(`a pattern is put together in a way that this test cannot read: ${node?.type}`);
  }
}

/** The one pattern that is not written in the code: its own test has the checker judge what an operator may write. */
const isOperators = (file: string, source: ESTree.Node | undefined): boolean =>
  file === 'src/gate/policy/customer-pattern.ts' && source?.type === 'Identifier' && source.name === 'pattern';

function patternsIn(file: string): Pattern[] {
  const names = new Map<string, ESTree.Expression | null>();
  const patterns: Pattern[] = [];
  const made: ESTree.NewExpression[] = [];
  new Visitor({
    VariableDeclarator: ({ id, init }) => void (id.type === 'Identifier' && names.set(id.name, init)),
    Literal: (node) => {
      if ('regex' in node) patterns.push({ file, source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: (node) => {
      if (node.callee.type === 'Identifier' && node.callee.name === 'RegExp') made.push(node);
    },
  }).visit(parseSync(file, readFileSync(file, 'utf8')).program);
  const putTogether = made
    .filter(({ arguments: [source] }) => !isOperators(file, source))
    .map(({ arguments: [source, flags] }) => {
      return { file, source: textOf(source, names), flags: flags === undefined ? '' : textOf(flags, names) };
    });
  return [...patterns, ...putTogether];
}

describe('a regular expression of the product', () => {
  const patterns = globSync('src/**/*.{ts,tsx}').flatMap(patternsIn);

  it('is found wherever it stands, put together or not', () => {
    const sourcesIn = (name: string) => patterns.filter(({ file }) => file === name).map(({ source }) => source);
    expect(sourcesIn('src/gate/json-grammar.ts')).toContain(String.raw`[ \t\n\r]*`);
    expect(sourcesIn('src/gate/observation/addresses.ts')).toContain(
      String.raw`(?<![a-z0-9+.-])[a-z0-9+.-]*://[^\s<>"]*`,
    );
  });

  it('takes linear time on any text, by the word of a public checker', { timeout: 180_000 }, async () => {
    for (const { file, source, flags } of patterns) {
      const { status } = await check(source, flags, CHECKED);
      expect({ file, source, status }).toEqual({ file, source, status: 'safe' });
    }
  });

  it('would be found out if it did not', async () => {
    expect((await check(String.raw`^(\d+)+$`, '', CHECKED)).status).toBe('vulnerable');
  });
});
