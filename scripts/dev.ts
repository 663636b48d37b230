/**
 * `npm run dev [-- --port N]`: the whole product on this machine, with sample data, a demo caller and a session to try it
 * with. Needs nothing but the repository and leaves no process behind.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openDemo } from './demo-caller.ts';
import { startWorker, type LocalWorker } from './local-worker.ts';
import { quickStart } from './quick-start.ts';
import { writeSampleData } from './sample-data.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DEFAULT_PORT = '8787';
const PARENT_CHECK_MS = 500;

let worker: LocalWorker | null = null;
let stopping = false;

/** Ends the server first: who waits for this script may then rely on the port being free. */
async function shutDown(): Promise<never> {
  stopping = true;
  await worker?.stop();
  process.exit(0);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void shutDown());
// npm dies of a signal without passing it on; then this script has another parent.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) void shutDown();
}, PARENT_CHECK_MS).unref();

function wantedPort(): number {
  const { values } = parseArgs({ options: { port: { type: 'string', default: DEFAULT_PORT } } });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error('--port takes a number from 1 to 65535.');
  return port;
}

try {
  console.log('Starting …');
  worker = await startWorker({
    port: wantedPort(),
    persistTo: join(ROOT, '.wrangler/state'),
    secretsFile: join(ROOT, '.dev.vars'),
    sql: [writeSampleData(join(ROOT, '.wrangler'))],
    onLine: (line) => console.log(line),
  });
  console.log(quickStart(worker.url, await openDemo(worker)));
  const reason = await worker.ended;
  if (!stopping) throw new Error(reason);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  await worker?.stop();
  process.exit(1);
}
