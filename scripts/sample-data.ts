/** All that there is to try the gate with, as one SQL file: orders, an account, and the documents of sample/documents. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSql } from './document-files.ts';
import { documentsIn } from './document-folder.ts';

const ROOT = join(import.meta.dirname, '..');

/** Writes the file into `directory` and answers its path. Loading it is harmless to repeat. */
export function writeSampleData(directory: string): string {
  const rows = readFileSync(join(ROOT, 'scripts/sample-data.sql'), 'utf8');
  const { documents } = documentsIn(join(ROOT, 'sample/documents'));
  const file = join(directory, 'sample-data.sql');
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, `${rows}\n${importSql(documents)}`);
  return file;
}
