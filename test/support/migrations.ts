/** The migrations of the gate and of all tool folders, in the order in which wrangler applies them (wrangler.toml). */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export const migrations = (): string[] =>
  ['migrations/*.sql', 'src/tools/*/migrations/*.sql']
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }).toSorted())
    .map((file) => readFileSync(join(ROOT, file), 'utf8'));
