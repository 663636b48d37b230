/** `docs/claims.md` names for each promise the tests that prove it. A test that was renamed or lost is missed here, by line. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SECTIONS = ['2', '3', '4', '5', '6', '7', '8', '9', '10', 'Costs'];

/** Something that stands in a test file: what it is, how far it is indented, and the texts that may be its title. */
type Declared = { kind: string; depth: number; titles: Set<string>; parent: Declared | null };

/** A text that opens an argument list and is followed by another argument, as titles are. */
const TITLE = /\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)\s*,/g;

/** Every `describe` and `it` of a test's text, each knowing the `describe` around it by its indentation. */
function declaredIn(text: string): Declared[] {
  const starts = [...text.matchAll(/^( *)(describe|it)\b/gm)];
  const declared: Declared[] = [];
  for (const [place, start] of starts.entries()) {
    const [, indent = '', kind = ''] = start;
    const body = text.slice(start.index, starts[place + 1]?.index);
    const titles = new Set([...body.matchAll(TITLE)].map(([, single, double, back]) => single ?? double ?? back ?? ''));
    const parent = declared.findLast((other) => other.kind === 'describe' && other.depth < indent.length) ?? null;
    declared.push({ kind, depth: indent.length, titles, parent });
  }
  return declared;
}

/** Whether `path` (outer to inner) names a test and some of what it stands in. */
function names(declared: Declared, path: string[]): boolean {
  const title = path.at(-1);
  if (title === undefined || !declared.titles.has(title)) return false;
  let around = declared.parent;
  for (const outer of path.slice(0, -1).toReversed()) {
    while (around !== null && !around.titles.has(outer)) around = around.parent;
    if (around === null) return false;
    around = around.parent;
  }
  return true;
}

/** A cell is `` `file` › `title`, `title`; `file` › `title` ``; a title may name what it stands in: `` `describe › it` ``. */
const PROOF = /^`([^`]+)` › (`[^`]+`(?:, `[^`]+`)*)$/;

function problemsOf(cell: string, read: (file: string) => string | null): string[] {
  return cell.split('; ').flatMap((proof) => {
    const [, file = '', titles = ''] = PROOF.exec(proof) ?? [];
    if (file === '') return [`no test is named by ${proof}`];
    const text = read(file);
    if (text === null) return [`there is no ${file}`];
    const tests = declaredIn(text).filter(({ kind }) => kind === 'it');
    const wanted = [...titles.matchAll(/`([^`]+)`/g)].map(([, title = '']) => title);
    const missing = wanted.filter((title) => !tests.some((test) => names(test, title.split(' › '))));
    return missing.map((title) => `${file} has no "${title}"`);
  });
}

/** What is wrong with a list of claims, each problem with its line. */
function problemsIn(claims: string, read: (file: string) => string | null): string[] {
  return claims.split('\n').flatMap((line, place) => {
    if (!line.startsWith('|') || /^\| (?:promise \| test|-+ \| -+) \|$/.test(line)) return [];
    const [, promise = '', cell = '', ...more] = line.split(/ ?\| ?/);
    const problems = promise === '' || more.join('') !== '' ? ['not a promise and its tests'] : problemsOf(cell, read);
    return problems.map((problem) => `line ${place + 1}: ${problem}`);
  });
}

function readTest(file: string): string | null {
  const path = join('test', file);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

describe('docs/claims.md', () => {
  const claims = readFileSync('docs/claims.md', 'utf8');

  it('names tests that exist', () => {
    expect(problemsIn(claims, readTest)).toEqual([]);
  });

  it('has promises of every section', () => {
    const sections = claims.split(/^## /m).slice(1);
    const filled = sections.filter((section) => (section.match(/^\| /gm) ?? []).length > 2);
    expect(filled.map((section) => /^\w+/.exec(section)?.[0])).toEqual(SECTIONS);
  });
});

describe('a claim', () => {
  const file = `
describe('money', () => {
  it.each([
    ['a row', 1],
  ])('moves %s once', () => {});
  describe('that is due', () => {
    it("isn't lost", () => {});
  });
});
describe('mail', () => {
  it(\`leaves \${when}\`, () => {});
});`;
  const read = (name: string) => (name === 'a.test.ts' ? file : null);
  const problems = (cell: string) => problemsIn(`# Claims\n| it holds | ${cell} |`, read);

  it.each([
    '`a.test.ts` › `moves %s once`',
    "`a.test.ts` › `money › isn't lost`",
    "`a.test.ts` › `money › that is due › isn't lost`, `mail › leaves ${when}`",
    '`a.test.ts` › `moves %s once`; `a.test.ts` › `leaves ${when}`',
  ])('passes with %s', (cell) => {
    expect(problems(cell)).toEqual([]);
  });

  it.each([
    ['`b.test.ts` › `moves %s once`', 'there is no b.test.ts'],
    ['`a.test.ts` › `moves`', 'a.test.ts has no "moves"'],
    ['`a.test.ts` › `a row`', 'a.test.ts has no "a row"'],
    ['`a.test.ts` › `money`', 'a.test.ts has no "money"'],
    ['`a.test.ts` › `mail › moves %s once`', 'a.test.ts has no "mail › moves %s once"'],
    ['`a.test.ts` › `moves %s once`, `leaves`', 'a.test.ts has no "leaves"'],
    ['', 'no test is named by '],
    ['somewhere', 'no test is named by somewhere'],
    ['`a.test.ts` › `moves %s once` | more', 'not a promise and its tests'],
  ])('fails by its line with %s', (cell, problem) => {
    expect(problems(cell)).toEqual([`line 2: ${problem}`]);
  });
});
