/**
 * `npm run seed [-- --remote]`: loads the sample data into the local database (the one `npm run dev` serves), or into the
 * production one, whose migrations must have been applied. Harmless to repeat.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeSampleData } from './sample-data.ts';
import { runWrangler } from './wrangler.ts';

const FOLDER = join(import.meta.dirname, '../.wrangler');

try {
  const { values } = parseArgs({ options: { remote: { type: 'boolean', default: false } } });
  const where = values.remote ? ['--remote', '--env', 'production'] : ['--local'];
  if (!values.remote) await runWrangler(['d1', 'migrations', 'apply', 'toolgate', ...where], FOLDER);
  await runWrangler(['d1', 'execute', 'toolgate', ...where, '--yes', '--file', writeSampleData(FOLDER)], FOLDER);
  console.log('The sample data is loaded.');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
