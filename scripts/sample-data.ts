/** All that there is to try the gate with, as one SQL file: the sample of each tool folder, and the help centre's documents. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSql } from './document-files.ts';
import { documentsIn } from './document-folder.ts';

const ROOT = join(import.meta.dirname, '..');

/** Writes the file into `directory` and answers its path. Loading it is harmless to repeat. */
export function writeSampleData(directory: string): string {
  const rows = globSync('src/tools/*/sample.sql', { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const { documents } = documentsIn(join(ROOT, 'src/tools/help-centre/documents'));
  const file = join(directory, 'sample-data.sql');
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, [...rows, importSql(documents)].join('\n'));
  return file;
}
