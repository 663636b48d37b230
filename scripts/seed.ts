/**
 * `npm run seed [-- --remote]`: loads the sample data into the local database (the one `npm run dev` serves), or into the
 * production one. Migrations must have been applied. Harmless to repeat.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeSampleData } from './sample-data.ts';

const { values } = parseArgs({ options: { remote: { type: 'boolean', default: false } } });
const root = fileURLToPath(new URL('..', import.meta.url));
const where = values.remote ? ['--remote', '--env', 'production'] : ['--local'];
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/wrangler/bin/wrangler.js',
    'd1',
    'execute',
    'toolgate',
    ...where,
    '--yes',
    '--file',
    writeSampleData(join(root, '.wrangler')),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
);
process.exit(status ?? 1);
