/** Reads the help-centre documents of a folder. Names each file that is not a document, with the reason. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readDocuments, type Skipped, type StoredDocument } from './document-files.ts';

/** In the order of names; folders inside are not entered. */
export function documentsIn(directory: string): { documents: StoredDocument[]; skipped: Skipped[] } {
  const entries = readdirSync(directory, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const files = entries.filter((entry) => entry.isFile());
  const others = entries.filter((entry) => !entry.isFile()).map(({ name }) => ({ name, why: 'no file' }));
  const read = readDocuments(files.map(({ name }) => ({ name, bytes: readFileSync(join(directory, name)) })));
  return { documents: read.documents, skipped: [...others, ...read.skipped] };
}
