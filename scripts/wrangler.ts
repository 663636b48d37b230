/** wrangler as the scripts run it: quiet, guarded, and never for longer than a limit. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runGuarded, spawnGuarded, type Guarded } from './guarded.ts';

const ROOT = join(import.meta.dirname, '..');
/** What its command line starts. Run by itself it hears the guard's signal and can clear up; its starter would not pass it on. */
const WRANGLER = join(ROOT, 'node_modules/wrangler/wrangler-dist/cli.js');
/** The names of the databases in wrangler.toml: the ledger's with the tools', and the audit's. */
export const DATABASE = 'toolgate';
export const AUDIT = 'toolgate-audit';
/** A slow machine needs 20 s. */
const COMMAND_LIMIT_MS = 120_000;

/** Starts a wrangler command that stays. `folder` takes its logs. */
export const startWrangler = (args: readonly string[], folder: string): Guarded =>
  spawnGuarded(commandOf(args), { cwd: ROOT, env: quietEnvironment(folder) });

/** Runs one wrangler command to its end and answers what it printed; the error says so where it fails. `folder` takes its logs. */
export async function runWrangler(args: readonly string[], folder: string): Promise<string> {
  const name = `wrangler ${args.slice(0, 3).join(' ')}`;
  const { code, stdout, stderr } = await runGuarded(
    commandOf(args),
    { cwd: ROOT, env: quietEnvironment(folder) },
    COMMAND_LIMIT_MS,
  );
  if (code !== 0) throw new Error(`${name} failed:\n${stdout}${stderr}`);
  return stdout;
}

const commandOf = (args: readonly string[]): string[] => [process.execPath, '--no-warnings', WRANGLER, ...args];

/** wrangler neither calls home nor talks about itself, and servers of one machine do not find each other. */
const quietEnvironment = (folder: string): NodeJS.ProcessEnv => ({
  ...process.env,
  // Wrangler must not ask questions, because no person is there to answer.
  CI: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  FORCE_COLOR: '0',
  NO_COLOR: '1',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_LOG_PATH: join(folder, 'logs'),
  WRANGLER_REGISTRY_PATH: join(folder, 'registry'),
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_SEND_METRICS: 'false',
});

/** Binds the port for a moment: what else listens there would answer in the Worker's place. 0 finds a free one. */
export async function claimPort(wanted: number): Promise<number> {
  const probe = createServer();
  probe.listen(wanted, 'localhost');
  await once(probe, 'listening').catch((error: unknown) => {
    throw new Error(`Port ${wanted} is not free: choose another with --port N.`, { cause: error });
  });
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
