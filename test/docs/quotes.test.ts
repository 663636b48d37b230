import { globSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { scripts } from '../../package.json';
import { DOCUMENTS, quotedIn, unquotedIn, withQuotes } from '../../scripts/quotes.ts';
import { migrations } from '../support/migrations.ts';

const read = (path: string): string => readFileSync(path, 'utf8');

/** These name a file in the fence of each block. test/contract/{extending,backends}.test.ts write, compile and run them. */
const FOLLOWED = ['docs/extending.md', 'docs/backends.md'];
const NAMED = /^```ts (?:src|test)\/\S+\.ts\n/;

describe.each(DOCUMENTS)('%s', (path) => {
  const document = read(path);

  it('quotes files as they are (npm run docs:quote)', () => expect(withQuotes(document, read)).toBe(document));

  it('shows no code but quotations', () => {
    expect(unquotedIn(document).filter((code) => !FOLLOWED.includes(path) || !NAMED.test(code))).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const named = [...document.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('holds SQL that runs once the migrations are applied', () => {
    const database = new DatabaseSync(':memory:');
    for (const sql of [...migrations(), ...blocksOf(document, 'sql')]) database.exec(sql);
  });
});

const blocksOf = (document: string, language: string): string[] =>
  [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);

describe('a quoted file', () => {
  const tests = globSync('test/**/*.test.ts').map(read).join('');
  const quoted = DOCUMENTS.flatMap((path) => quotedIn(read(path)));

  it.each(quoted.filter((path) => path.startsWith('examples/')))('is run by a test: %s', (path) => {
    expect(tests).toContain(`/${path}';`);
  });

  it('is found, and so is code that is none', () => {
    expect(quoted).toContain('examples/toolgate.ts');
    const [fence, quote] = ['```', '<!-- src/index.ts -->\n'];
    const code = `${fence}ts\nlet a;\n${fence}`;
    expect(withQuotes(`${quote}${code}`, () => 'other\n')).toBe(`${quote}${fence}ts\nother\n${fence}`);
    expect(unquotedIn(`${quote}${code}\n\n${code}\n${fence}sh\nls\n${fence}`)).toEqual([code]);
    expect(unquotedIn(`${fence}javascript\nlet a;\n${fence}`)).toHaveLength(1);
  });
});
