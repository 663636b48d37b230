/** Documents and comments point at each other: every link and every citation leads to a file and a heading that exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const DOCUMENTS = ['README.md', ...globSync('docs/**/*.md')].toSorted();
const SOURCES = globSync('{src,test,scripts,demo,examples}/**/*.{ts,tsx,sql,toml,yaml}').toSorted();

const LINK = /\]\((?<target>[^()\s]+)\)/g;
const CITATION = /\bdocs\/[\w./-]+\.md(?:#[\w-]*\w)?/g;
/** Sections of the contracts that came before docs/specification.md. */
const OLD_CITATION = /\b(?:SPEC|DESIGN)(?:\.md)?(?:'s)? ?(?:stage )?\d/;

const read = (path: string): string => readFileSync(path, 'utf8');
const withoutCode = (markdown: string): string => markdown.replaceAll(/^```[^]*?^```$/gm, '');

/** The anchors that GitHub gives the headings of a document; a heading that occurs again is numbered. */
function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(markdown).matchAll(/^#+ +(.+?) *$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n += 1) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}

function leadsNowhere(target: string): boolean {
  const [path = '', anchor] = target.split('#');
  if (!existsSync(path)) return true;
  return anchor !== undefined && !anchorsOf(read(path)).has(anchor);
}

/** The links of a document at `path` that lead nowhere. */
const deadLinks = (path: string, markdown: string): string[] =>
  [
    ...withoutCode(markdown)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(LINK),
  ]
    .map((match) => match.groups?.['target'] ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => leadsNowhere(target.startsWith('#') ? path + target : join(dirname(path), target)));

/** The citations of documents in a source file that lead nowhere. */
const deadCitations = (source: string): string[] => [...source.matchAll(CITATION)].map(String).filter(leadsNowhere);

describe.each(DOCUMENTS)('%s', (path) => {
  it('links only to files and headings that exist', () => {
    expect(deadLinks(path, read(path))).toEqual([]);
  });
});

describe('the comments of the code', () => {
  it('cite only documents and headings that exist', () => {
    expect(SOURCES.flatMap((path) => deadCitations(read(path)).map((citation) => `${path}: ${citation}`))).toEqual([]);
  });

  it('cite no section of the contracts that docs/specification.md replaced', () => {
    expect(SOURCES.filter((path) => OLD_CITATION.test(read(path)))).toEqual([]);
  });
});

describe('the check of links', () => {
  it('finds a file and a heading that do not exist, and passes the others', () => {
    const links = ['storage.md', 'storage.md#how-long', 'storage.md#how-short', 'none.md', '#here', '#there'];
    const document = `${links.map((link) => `[a](${link})`).join('\n')}\n\`\`\`ts\n[a](none.ts)\n\`\`\`\n`;
    expect(deadLinks('docs/architecture.md', document)).toEqual(['storage.md#how-short', 'none.md', '#here', '#there']);
    const dead = ['none.md#here', 'storage.md#there'].map((target) => `docs/${target}`);
    expect(deadCitations(`// docs/storage.md#how-long, ${dead.join(' and ')}.`)).toEqual(dead);
  });

  it('knows the anchors of repeated headings, of code in headings and of punctuation', () => {
    const anchors = anchorsOf('# One call\n## `get_approval`, again\n## One call\n```sh\n# no heading\n```\n');
    expect([...anchors]).toEqual(['one-call', 'get_approval-again', 'one-call-1']);
  });

  it('sees a citation of an old contract', () => {
    const cited = ['SPEC', 'DESIGN', "SPEC.md's", 'SPEC stage'].map((contract) => `(${contract} 4)`);
    expect(cited.filter((comment) => !OLD_CITATION.test(comment))).toEqual([]);
    expect(OLD_CITATION.test('the SPECIFICATION 4')).toBe(false);
  });
});
