/**
 * Runs the Worker on this machine with wrangler: the development server, the demo and the black-box tests start and stop it
 * here. Nothing outside the repository is needed, and nothing is left running, whatever ends the script that asked.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { localMails, type LocalMail } from './local-mails.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
const DATABASE = 'toolgate';
const START_LIMIT_MS = 60_000;

/** One line a request, and the table of bindings at each reload. */
const WRANGLERS_OWN = /^(?:\[wrangler:info\]|Your Worker has access|Binding +Resource|env\.\w+ )/;

/** wrangler neither calls home nor talks about itself, and servers of one machine do not find each other. */
const quietEnvironment = (persistTo: string): NodeJS.ProcessEnv => ({
  ...process.env,
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  FORCE_COLOR: '0',
  NO_COLOR: '1',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_LOG_PATH: join(persistTo, 'logs'),
  WRANGLER_REGISTRY_PATH: join(persistTo, 'registry'),
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_SEND_METRICS: 'false',
});

/**
 * Leads the server's process group and ends it when its standard input closes, which the kernel does for us even if the
 * script is killed: a signal handler alone would leave wrangler and workerd behind. wrangler first gets the chance to end
 * by itself; five seconds later the group is killed, this shell included.
 */
const GUARD = `
trap : TERM INT HUP
exec 3<&0
"$@" </dev/null & server=$!
(cat <&3 >/dev/null; kill -TERM -$$; sleep 5; kill -KILL -$$) &
while kill -0 "$server" 2>/dev/null; do wait "$server"; done
kill -KILL -$$`;

export type StartOptions = {
  /** Where D1, objects and mails live; starting again there goes on with them. */
  persistTo: string;
  /** File of NAME="value" lines; made, with fresh secrets, if there is none. */
  secretsFile: string;
  /** A free one if absent. */
  port?: number;
  /** Another entry file than wrangler.toml's. */
  main?: string;
  /** SQL files to load after the migrations; each must be harmless to repeat. */
  sql?: readonly string[];
  /** Gets each line the Worker prints once it serves. */
  onLine?: (line: string) => void;
};

export type LocalWorker = {
  url: string;
  adminToken: string;
  mails(): Promise<LocalMail[]>;
  /** Resolves with the reason if the server ends without having been asked to. */
  ended: Promise<string>;
  stop(): Promise<void>;
};

export async function startWorker(options: StartOptions): Promise<LocalWorker> {
  const { persistTo, secretsFile, main, sql = [], onLine } = options;
  const port = await claimPort(options.port ?? 0);
  const url = `http://localhost:${port}`;
  const adminToken = ensureSecrets(secretsFile);
  const env = quietEnvironment(persistTo);
  const local = ['--local', '--persist-to', persistTo];

  await runWrangler(['d1', 'migrations', 'apply', DATABASE, ...local], env);
  for (const file of sql) await runWrangler(['d1', 'execute', DATABASE, ...local, '--yes', '--file', file], env);

  // PUBLIC_URL stands on the command line, not in the file, so that it follows the port.
  const served = ['--port', String(port), '--inspector-port', '0', '--var', `PUBLIC_URL:${url}`];
  const kept = ['--persist-to', persistTo, '--env-file', secretsFile, '--show-interactive-dev-session', 'false'];
  const server = spawnGuarded([...(main === undefined ? ['dev'] : ['dev', main]), ...served, ...kept], env);
  const ended = once(server, 'exit').then(() => 'the server ended by itself');
  const stop = async (): Promise<void> => {
    server.stdin.end();
    await ended;
  };
  const output = collectLines(server, onLine);
  try {
    await untilReady(url, ended);
  } catch (error) {
    await stop();
    throw new Error(`The Worker did not start.\n${output.early.join('\n')}`, { cause: error });
  }
  output.serve();
  return { url, adminToken, mails: () => localMails(url), ended, stop };
}

/** Writes the secrets if there are none, readable by this user alone, and returns the operator's token. */
function ensureSecrets(file: string): string {
  if (!existsSync(file)) {
    const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
    const lines = [
      `ADMIN_TOKEN="${random()}"`,
      `TOOLGATE_SECRET="${random()}"`,
      'MAIL_FROM="toolgate@example.com"',
      '',
    ];
    writeFileSync(file, lines.join('\n'), { mode: 0o600, flag: 'wx' });
  }
  const adminToken = parseEnv(readFileSync(file, 'utf8'))['ADMIN_TOKEN'];
  if (adminToken === undefined) throw new Error(`${file} holds no ADMIN_TOKEN`);
  return adminToken;
}

/** Runs one wrangler command to its end; what it says is shown only if it fails. */
async function runWrangler(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, [WRANGLER, ...args], { cwd: ROOT, env: { ...env, CI: 'true' }, stdio: 'pipe' });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => said.push(text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`wrangler ${args.slice(0, 3).join(' ')} failed:\n${said.join('')}`);
}

function spawnGuarded(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcessWithoutNullStreams {
  const command = [process.execPath, WRANGLER, ...args];
  return spawn('sh', ['-c', GUARD, 'sh', ...command], { cwd: ROOT, detached: true, env, stdio: 'pipe' });
}

/** Before it serves, wrangler's lines are kept for the case that it never does; then the Worker's own are passed on. */
function collectLines(server: ChildProcessWithoutNullStreams, onLine: StartOptions['onLine']) {
  const early: string[] = [];
  let serving = false;
  for (const input of [server.stdout, server.stderr]) {
    createInterface({ input }).on('line', (line) => {
      if (!serving) early.push(line);
      else if (line !== '' && !WRANGLERS_OWN.test(line)) onLine?.(line);
    });
  }
  return { early, serve: () => void (serving = true) };
}

async function untilReady(url: string, ended: Promise<string>): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  const end = { reason: '' };
  void ended.then((reason) => (end.reason = reason));
  while (end.reason === '' && Date.now() < deadline) {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
    if (answer?.ok) return;
    await sleep(200);
  }
  throw new Error(end.reason || `${url}/readyz was not 200 within ${START_LIMIT_MS / 1_000} seconds`);
}

/** Binds the port for a moment: what else listens there would answer in the Worker's place. 0 finds a free one. */
async function claimPort(wanted: number): Promise<number> {
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
