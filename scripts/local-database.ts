/** The databases of a local Worker: the tables and the sample data, with as few wrangler commands as will do. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSampleData } from './sample-data.ts';
import { AUDIT, DATABASE, runWrangler } from './wrangler.ts';

const ROOT = join(import.meta.dirname, '..');
/** As wrangler makes it, so that `wrangler d1 migrations apply` goes on from here. */
const APPLIED = `CREATE TABLE d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);`;

/** A database, and the files that fill it: the migrations, then the sample data where it has any. `stem` names what is kept of it. */
type Wanted = { name: string; stem: string; migrations: string[]; sample: string | null };

/**
 * Applies the migrations and loads the sample data, unless the folder holds both already. A command of wrangler takes four
 * seconds, and one migration two more: a new database is therefore filled by a single file.
 */
export async function prepareDatabase(persistTo: string): Promise<void> {
  const isNew = !existsSync(join(persistTo, 'v3/d1'));
  const sample = writeSampleData(persistTo);
  const tools = ['migrations/*.sql', 'src/tools/*/migrations/*.sql'];
  await fill({ name: DATABASE, stem: 'database', migrations: tools, sample }, persistTo, isNew);
  await fill({ name: AUDIT, stem: 'audit', migrations: ['migrations/audit/*.sql'], sample: null }, persistTo, isNew);
}

async function fill({ name, stem, migrations, sample }: Wanted, persistTo: string, isNew: boolean): Promise<void> {
  const sql = wholeDatabase(migrations, sample === null ? '' : readFileSync(sample, 'utf8'));
  const done = join(persistTo, `${stem}.sha256`);
  const digest = createHash('sha256').update(sql).digest('hex');
  if (!isNew && existsSync(done) && readFileSync(done, 'utf8') === digest) return;

  const whole = join(persistTo, `${stem}.sql`);
  writeFileSync(whole, sql);
  const run = (command: string[], ...rest: string[]): Promise<string> =>
    runWrangler(['d1', ...command, name, '--local', '--persist-to', persistTo, ...rest], persistTo);
  if (!isNew) await run(['migrations', 'apply']);
  const file = isNew ? whole : sample;
  if (file !== null) await run(['execute'], '--yes', '--file', file);
  writeFileSync(done, digest);
}

function wholeDatabase(patterns: string[], sample: string): string {
  const migrations = patterns.flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT })
      .toSorted()
      .map(
        (name) =>
          `${readFileSync(join(ROOT, name), 'utf8')}\nINSERT INTO d1_migrations (name) VALUES ('${appliedName(name)}');`,
      ),
  );
  return [APPLIED, ...migrations, sample].join('\n');
}

/** wrangler names a migration by its path within `migrations_dir`. */
const appliedName = (name: string): string => name.replaceAll('\\', '/').replace('migrations/audit/', '');
