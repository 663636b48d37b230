/** The migrations of the gate and of all tool folders, in the order in which wrangler applies them (wrangler.toml). */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export const migrations = (): string[] => textsOf('migrations/*.sql', 'src/tools/*/migrations/*.sql');

/** Those of the gate alone. */
export const gateMigrations = (): string[] => textsOf('migrations/*.sql');

/** Those of the audit's database. */
export const auditMigrations = (): string[] => textsOf('migrations/audit/*.sql');

const textsOf = (...patterns: string[]): string[] =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }).toSorted())
    .map((file) => readFileSync(join(ROOT, file), 'utf8'));
