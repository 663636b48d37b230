/** The database of a local Worker: the tables and the sample data, with as few wrangler commands as will do. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSampleData } from './sample-data.ts';
import { runWrangler } from './wrangler.ts';

const ROOT = join(import.meta.dirname, '..');
const DATABASE = 'toolgate';
/** As wrangler makes it, so that `wrangler d1 migrations apply` goes on from here. */
const APPLIED = `CREATE TABLE d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);`;

/**
 * Applies the migrations and loads the sample data, unless the folder holds both already. A command of wrangler takes four
 * seconds, and one migration two more: a new database is therefore filled by a single file.
 */
export async function prepareDatabase(persistTo: string): Promise<void> {
  const sample = writeSampleData(persistTo);
  const whole = join(persistTo, 'database.sql');
  const isNew = !existsSync(join(persistTo, 'v3/d1'));
  const sql = wholeDatabase(readFileSync(sample, 'utf8'));
  const done = join(persistTo, 'database.sha256');
  const digest = createHash('sha256').update(sql).digest('hex');
  if (!isNew && existsSync(done) && readFileSync(done, 'utf8') === digest) return;

  writeFileSync(whole, sql);
  const run = (command: string[], ...rest: string[]): Promise<string> =>
    runWrangler(['d1', ...command, DATABASE, '--local', '--persist-to', persistTo, ...rest], persistTo);
  if (!isNew) await run(['migrations', 'apply']);
  await run(['execute'], '--yes', '--file', isNew ? whole : sample);
  writeFileSync(done, digest);
}

function wholeDatabase(sample: string): string {
  const migrations = ['migrations/*.sql', 'src/tools/*/migrations/*.sql'].flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT })
      .toSorted()
      .map(
        (name) =>
          `${readFileSync(join(ROOT, name), 'utf8')}\nINSERT INTO d1_migrations (name) VALUES ('${name.replaceAll('\\', '/')}');`,
      ),
  );
  return [APPLIED, ...migrations, sample].join('\n');
}
