/**
 * `npm run migrate [-- --remote]`: applies the migrations of the gate and of every tool folder (wrangler.toml names them) to
 * the local database, or to the production one. Harmless to repeat.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runWrangler } from './wrangler.ts';

try {
  const { values } = parseArgs({ options: { remote: { type: 'boolean', default: false } } });
  const where = values.remote ? ['--remote', '--env', 'production'] : ['--local'];
  const folder = join(import.meta.dirname, '../.wrangler');
  console.log(await runWrangler(['d1', 'migrations', 'apply', 'toolgate', ...where], folder));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
