import { readFileSync, readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import {
  importSql,
  planImport,
  readDocuments,
  type DocumentFile,
  type StoredDocument,
} from '../../scripts/document-files.ts';

const FIELDS = { id: 'kc-warranty-v2', title: 'Warranty', version: '"2"', status: 'current', lang: 'en' };

const rawFile = (text: string, name = 'a.md'): DocumentFile => ({ name, bytes: new TextEncoder().encode(text) });
const textOf = ({ bytes }: DocumentFile): string => new TextDecoder().decode(bytes);

function file(
  changes: Record<string, string | undefined> = {},
  { name = 'a.md', body = '# Warranty\n' } = {},
): DocumentFile {
  const lines = Object.entries({ ...FIELDS, ...changes }).flatMap(([field, value]) =>
    value === undefined ? [] : [`${field}: ${value}\n`],
  );
  return rawFile(`---\n${lines.join('')}---\n\n${body}`, name);
}
/** The one document of a file, or why it was skipped. */
function read(source: DocumentFile): StoredDocument | string {
  const { documents, skipped } = readDocuments([source]);
  return documents[0] ?? skipped[0]?.why ?? 'neither read nor skipped';
}

describe('readDocuments', () => {
  it('reads front matter and body', () => {
    expect(read(file())).toMatchObject({
      id: 'kc-warranty-v2',
      title: 'Warranty',
      version: '2',
      status: 'current',
      lang: 'en',
      body: '# Warranty',
    });
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['a version without quotes', { version: '2' }, { version: '2' }],
    ['a version with a zero at its end', { version: '2.10' }, { version: '2.10' }],
    ['a language that YAML takes for a boolean', { lang: 'no' }, { lang: 'no' }],
    ['a title in quotes', { title: "'It''s: ours'" }, { title: "It's: ours" }],
    ['members of other programs', { tags: '[a, b]' }, {}],
  ])('takes %s', (_name, changes, expected) => expect(read(file(changes))).toMatchObject(expected));

  it('reads files of any line end and with a byte order mark alike', () => {
    const windows = rawFile(textOf(file()).replaceAll('\n', '\r\n'));
    const marked = rawFile(`\ufeff${textOf(file())}`);
    expect(read(windows)).toEqual(read(file()));
    expect(read(marked)).toEqual(read(file()));
  });

  it('keeps a rule in the body apart from the front matter', () => {
    expect(read(file({}, { body: 'one\n\n---\n\ntwo' }))).toMatchObject({ body: 'one\n\n---\n\ntwo' });
  });

  it.each<[string, DocumentFile, RegExp]>([
    ['another kind of file', file({}, { name: 'a.txt' }), /^no Markdown file/],
    ['no front matter', rawFile('# Warranty\n'), /^no front matter/],
    ['front matter that does not end', rawFile('---\nid: kc-a-v1\n'), /^no front matter/],
    ['front matter after text', rawFile('\n---\nid: kc-a-v1\n---\n'), /^no front matter/],
    ['broken YAML', file({ title: '"open' }), /^the front matter is no YAML$/],
    ['a member twice', rawFile('---\nid: kc-a-v1\nid: kc-b-v1\n---\n'), /^the front matter is no YAML$/],
    ['empty front matter', rawFile('---\n---\n# Warranty'), /^id: /],
    ['front matter that is a list', rawFile('---\n- a\n---\n'), /must be an object/],
    ['a missing title', file({ title: undefined }), /^title: /],
    ['a title of two lines', file({ title: '"a\\nb"' }), /^title: expected one line of text$/],
    ['an id that no tool accepts', file({ id: 'KC_Warranty' }), /^id: expected 3 to 40/],
    ['another status', file({ status: 'draft' }), /^status: /],
    ['another language', file({ lang: 'English' }), /^lang: /],
    [
      'bytes that are no UTF-8',
      { name: 'a.md', bytes: Uint8Array.of(0x2d, 0x2d, 0x2d, 0x0a, 0xff) },
      /^no UTF-8 text$/,
    ],
    ['a NUL', file({}, { body: 'a\0b' }), /^no UTF-8 text$/],
    ['more than D1 takes in one statement', file({}, { body: 'x'.repeat(40_000) }), /^larger than 40000 bytes$/],
  ])('skips %s and says why', (_name, source, why) => expect(read(source)).toMatch(why));

  it('takes the first of two files with one id', () => {
    const { documents, skipped } = readDocuments([file(), file({ title: 'Other' }, { name: 'b.md' })]);
    expect(documents.map(({ title }) => title)).toEqual(['Warranty']);
    expect(skipped).toEqual([{ name: 'b.md', why: 'another file has the id kc-warranty-v2' }]);
  });
});

/** A document that passed all checks. */
function document(changes: Record<string, string> = {}, body?: string): StoredDocument {
  const found = read(file(changes, body === undefined ? {} : { body }));
  if (typeof found === 'string') throw new Error(found);
  return found;
}

describe('planImport', () => {
  it('tells what is new, what differs and what is stored already', () => {
    const [fresh, edited, same] = [document({ id: 'kc-a' }), document({ id: 'kc-b' }), document({ id: 'kc-c' })];
    const digests = new Map([
      ['kc-b', document({ id: 'kc-b', title: 'Older' }).digest],
      ['kc-c', same.digest],
      ['kc-gone', 'x'],
    ]);
    expect(planImport([fresh, edited, same], digests)).toEqual({
      added: [fresh],
      changed: [edited],
      unchanged: [same],
    });
  });

  it.each([[{ title: 'x' }], [{ version: 'x' }], [{ status: 'superseded' }], [{ lang: 'pt' }]])(
    'sees the change %j',
    (changes) => expect(document(changes).digest).not.toBe(document().digest),
  );

  it('sees a change of the body', () => expect(document({}, 'a').digest).not.toBe(document({}, 'b').digest));
});

describe('importSql', () => {
  const database = (): DatabaseSync => {
    const made = new DatabaseSync(':memory:');
    made.exec(readFileSync('src/tools/help-centre/migrations/0001_documents.sql', 'utf8'));
    return made;
  };
  const rowsOf = (stored: DatabaseSync): unknown[] =>
    stored
      .prepare('SELECT doc_id AS id, title, version, status, lang, body, digest FROM documents')
      .all()
      .map((row) => ({ ...row }));
  const changesOf = (stored: DatabaseSync, sql: string): number => {
    const total = (): number => Number(stored.prepare('SELECT total_changes() AS n').get()?.['n']);
    const before = total();
    stored.exec(sql);
    return total() - before;
  };

  it('stores any text as it is', () => {
    const stored = database();
    const hostile = document({ title: `"x'); DROP TABLE documents; --"` }, `'; -- /* ? ?1 \${x} "" é 払 \u{1f600}\n`);
    stored.exec(importSql([hostile]));
    expect(rowsOf(stored)).toEqual([hostile]);
  });

  it('writes nothing the second time, and one row for one change', () => {
    const stored = database();
    const documents = [document({ id: 'kc-a' }), document({ id: 'kc-b' })];
    expect(changesOf(stored, importSql(documents))).toBe(2);
    expect(changesOf(stored, importSql(documents))).toBe(0);
    const edited = document({ id: 'kc-b', status: 'superseded' });
    expect(changesOf(stored, importSql([document({ id: 'kc-a' }), edited]))).toBe(1);
    expect(rowsOf(stored)).toContainEqual(edited);
  });

  it('holds no character of a document but in hexadecimal', () => {
    expect(importSql([document({ title: 'zz;zz' })])).not.toContain('zz');
  });
});

describe('the sample documents', () => {
  const folder = 'src/tools/help-centre/documents';
  const names = readdirSync(folder).toSorted();
  const { documents, skipped } = readDocuments(
    names.map((name) => ({ name, bytes: readFileSync(`${folder}/${name}`) })),
  );

  it('are 12 current ones and 1 superseded', () => {
    expect(skipped).toEqual([]);
    expect(documents.filter(({ status }) => status === 'current')).toHaveLength(12);
    expect(documents.filter(({ status }) => status === 'superseded')).toHaveLength(1);
  });

  it.each([
    { id: 'kc-warranty-v2', title: 'Warranty', version: '2', status: 'current', lang: 'en' },
    { id: 'kc-returns-v2', title: 'Returns policy (old)', version: '2', status: 'superseded', lang: 'en' },
  ])('hold $id', (expected) => expect(documents).toContainEqual(expect.objectContaining(expected)));

  it('are named as their ids', () => expect(documents.map(({ id }) => `${id}.md`)).toEqual(names));
});
