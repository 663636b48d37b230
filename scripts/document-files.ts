/** Reads help-centre documents from Markdown files with front matter, and writes the SQL that stores them. No file access. */
import { parse } from 'yaml';
import * as z from 'zod';
import { hashOf, hex } from '../src/gate/canonical.ts';
import { DOCUMENT_STATUS } from '../src/tools/help-centre/documents.ts';

/** D1 takes statements up to 100 KB, and text is written in hexadecimal, which doubles it. */
const MAX_DOCUMENT_BYTES = 40_000;

const lineOf = (maximum: number) =>
  z
    .string()
    .min(1)
    .max(maximum)
    .regex(/^\P{Cc}*$/u, 'expected one line of text');

/** Members beyond these are other programs' and ignored. */
const frontMatter = z.object({
  id: z.string().regex(/^[a-z0-9-]{3,40}$/, 'expected 3 to 40 of a-z, 0-9 and hyphens'),
  title: lineOf(200),
  version: lineOf(20),
  status: DOCUMENT_STATUS,
  lang: z.string().regex(/^[a-z]{2,3}(?:-[A-Z]{2})?$/, 'expected a language such as en or pt-BR'),
});

export type DocumentFile = { name: string; bytes: Uint8Array };
export type StoredDocument = z.output<typeof frontMatter> & { body: string; digest: string };
export type Skipped = { name: string; why: string };

/** Every file becomes a document or is skipped with a reason; of two with one id, the first by name counts. */
export function readDocuments(files: readonly DocumentFile[]): { documents: StoredDocument[]; skipped: Skipped[] } {
  const documents = new Map<string, StoredDocument>();
  const skipped: Skipped[] = [];
  for (const file of files) {
    const read = readDocument(file);
    if ('why' in read) skipped.push({ name: file.name, why: read.why });
    else if (documents.has(read.id)) skipped.push({ name: file.name, why: `another file has the id ${read.id}` });
    else documents.set(read.id, read);
  }
  return { documents: [...documents.values()], skipped };
}

function readDocument({ name, bytes }: DocumentFile): StoredDocument | { why: string } {
  if (!name.endsWith('.md')) return { why: 'no Markdown file (.md)' };
  if (bytes.length > MAX_DOCUMENT_BYTES) return { why: `larger than ${MAX_DOCUMENT_BYTES} bytes` };
  const text = utf8(bytes);
  if (text === null) return { why: 'no UTF-8 text' };
  const [, yaml, body] = /^---\n(|.*?\n)---\n(.*)$/s.exec(`${text.replaceAll('\r\n', '\n')}\n`) ?? [];
  if (yaml === undefined || body === undefined) return { why: 'no front matter (--- on the first line, --- after it)' };

  const fields = fieldsOf(yaml);
  if (fields === null) return { why: 'the front matter is no YAML' };
  const parsed = frontMatter.safeParse(fields);
  if (!parsed.success)
    return { why: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') };
  const document = { ...parsed.data, body: body.trim() };
  return { ...document, digest: hashOf(document) };
}

function utf8(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** Every scalar is a string, so that `version: 2` needs no quotes and the language `no` is no boolean. */
function fieldsOf(yaml: string): unknown {
  try {
    return parse(yaml, { schema: 'failsafe', logLevel: 'error' }) ?? {};
  } catch {
    return null;
  }
}

export type Plan = { added: StoredDocument[]; changed: StoredDocument[]; unchanged: StoredDocument[] };

/** What an import would do, given the digest that each stored document has by its id. */
export function planImport(documents: readonly StoredDocument[], digests: ReadonlyMap<string, string>): Plan {
  const plan: Plan = { added: [], changed: [], unchanged: [] };
  for (const document of documents) {
    const stored = digests.get(document.id);
    plan[stored === undefined ? 'added' : stored === document.digest ? 'unchanged' : 'changed'].push(document);
  }
  return plan;
}

const COLUMNS = ['doc_id', 'title', 'version', 'status', 'lang', 'digest', 'body'];

/** Harmless to repeat: a document that is stored as it is here is not written again. */
export const importSql = (documents: readonly StoredDocument[]): string => documents.map(upsert).join('');

function upsert({ id, title, version, status, lang, digest, body }: StoredDocument): string {
  const values = [id, title, version, status, lang, digest, body].map(literal);
  const changes = COLUMNS.slice(1).map((column) => `${column} = excluded.${column}`);
  return (
    `INSERT INTO documents (${COLUMNS.join(', ')}) VALUES (${values.join(', ')})\n` +
    `ON CONFLICT (doc_id) DO UPDATE SET ${changes.join(', ')} WHERE documents.digest <> excluded.digest;\n`
  );
}

/** Hexadecimal: no quote, semicolon or comment in a document can reach whatever splits and reads the file. */
const literal = (text: string): string => `CAST(X'${hex(new TextEncoder().encode(text))}' AS TEXT)`;
