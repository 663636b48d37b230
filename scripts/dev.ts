/**
 * `npm run dev [-- --port N] [-- --log] [-- --var NAME=VALUE …]`: the whole product on this machine, with sample data, a demo
 * caller and a session to try it with. Needs nothing but the repository and leaves no process behind. With `--log` the terminal
 * shows the log; `--var` gives the Worker a variable for this run.
 */
import { onEnding } from './ending.ts';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { openDemo } from './demo-caller.ts';
import { keepLog } from './dev-log.ts';
import { stopAll } from './guarded.ts';
import { startWorker } from './local-worker.ts';
import { quickStart } from './quick-start.ts';
import { readVariables } from './variables.ts';

const ROOT = join(import.meta.dirname, '..');
const DEFAULT_PORT = '8787';
const LOG = join(ROOT, '.wrangler/dev.log');
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

function wanted(): { port: number; log: boolean; variables: Record<string, string> } {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: DEFAULT_PORT },
      log: { type: 'boolean', default: false },
      var: { type: 'string', multiple: true, default: [] },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error('--port takes a number from 1 to 65535.');
  return { port, log: values.log, variables: readVariables(values.var) };
}

try {
  const { port, log, variables } = wanted();
  const print = (line: string): void => console.log(line);
  const worker = await startWorker({
    port,
    variables,
    persistTo: join(ROOT, '.wrangler/state'),
    secretsFile: join(ROOT, '.dev.vars'),
    onPhase: print,
    onLine: keepLog(LOG, log, print),
  });
  const logged = `The log is in ${relative(process.cwd(), LOG)}.${log ? '' : ' npm run dev -- --log shows it here.'}`;
  if (worker.isConfigured) {
    print('Opening a session to try it with …');
    const demo = await openDemo(worker);
    print(logged);
    print(quickStart(worker.url, demo));
  } else {
    // Asked once more, now that the log is kept: it names what is missing.
    await (await fetch(`${worker.url}/readyz`)).text();
    print(`${SHUT}\n${logged}`);
  }
  throw new Error(await worker.ended);
} catch (error) {
  if (!stopping) {
    console.error(error instanceof Error ? error.message : error);
    await end(1);
  }
}
