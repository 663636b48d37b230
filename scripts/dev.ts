/**
 * `npm run dev [-- --port N]`: the whole product on this machine, with sample data, a demo caller and a session to try it
 * with. Needs nothing but the repository and leaves no process behind.
 */
import { onEnding } from './ending.ts';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDemo } from './demo-caller.ts';
import { stopAll } from './guarded.ts';
import { startWorker } from './local-worker.ts';
import { quickStart } from './quick-start.ts';
import { writeSampleData } from './sample-data.ts';

const ROOT = join(import.meta.dirname, '..');
const DEFAULT_PORT = '8787';
const SHUT =
  'The gate is shut: .dev.vars lacks what the log names. Mend it, or delete the file for a new one, and start again.';

let stopping = false;

/** Ends the server first: who waits for this script may then rely on the port being free. */
async function end(exitCode: number): Promise<never> {
  await stopAll();
  process.exit(exitCode);
}

onEnding(() => {
  stopping = true;
  void end(0);
});

function wantedPort(): number {
  const { values } = parseArgs({ options: { port: { type: 'string', default: DEFAULT_PORT } } });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error('--port takes a number from 1 to 65535.');
  return port;
}

try {
  console.log('Starting …');
  const worker = await startWorker({
    port: wantedPort(),
    persistTo: join(ROOT, '.wrangler/state'),
    secretsFile: join(ROOT, '.dev.vars'),
    sql: [writeSampleData(join(ROOT, '.wrangler'))],
    onLine: (line) => console.log(line),
  });
  if (worker.isConfigured) console.log(quickStart(worker.url, await openDemo(worker)));
  // Asked once more, now that the log is shown: it names what is missing.
  else console.log(`${SHUT}\n${await (await fetch(`${worker.url}/readyz`)).text()}`);
  throw new Error(await worker.ended);
} catch (error) {
  if (!stopping) {
    console.error(error instanceof Error ? error.message : error);
    await end(1);
  }
}
