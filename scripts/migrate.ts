/**
 * `npm run migrate [-- --remote]`: applies the migrations of the gate and of every tool folder, and those of the audit
 * (wrangler.toml names them), to the local databases, or to the production ones. Harmless to repeat.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AUDIT, DATABASE, runWrangler } from './wrangler.ts';

try {
  const { values } = parseArgs({ options: { remote: { type: 'boolean', default: false } } });
  const where = values.remote ? ['--remote', '--env', 'production'] : ['--local'];
  const folder = join(import.meta.dirname, '../.wrangler');
  for (const database of [DATABASE, AUDIT])
    console.log(await runWrangler(['d1', 'migrations', 'apply', database, ...where], folder));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
