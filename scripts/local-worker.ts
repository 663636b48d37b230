/**
 * Runs the Worker on this machine with wrangler: the development server, the demo and the black-box tests start and stop it
 * here. It needs nothing outside the repository, and leaves nothing running, however the script ends.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { hex } from '../src/gate/canonical.ts';
import type { Guarded } from './guarded.ts';
import { prepareDatabase } from './local-database.ts';
import { localMails, type LocalMail } from './local-mails.ts';
import { claimPort, startWrangler } from './wrangler.ts';

const START_LIMIT_MS = 60_000;
/** No mail leaves this machine, so any sender will do. */
const MAIL_FROM = 'toolgate@example.com';

/** One line a request, and the table of bindings at each reload. */
const WRANGLERS_OWN = /^(?:\[wrangler:info\]|Your Worker has access|Binding +Resource|env\.\w+ )/;

export type StartOptions = {
  /** Where D1, objects and mails live; starting again there goes on with them. */
  persistTo: string;
  /** File of NAME="value" lines; made, with fresh secrets, if there is none. */
  secretsFile: string;
  /** A free one if absent. */
  port?: number;
  /** Another entry file than wrangler.toml's. */
  main?: string;
  /** Variables of the Worker for this run. */
  variables?: Readonly<Record<string, string>>;
  /** Hears what begins, so that a person who waits knows. */
  onPhase?: (phase: string) => void;
  /** Gets each line the Worker prints once it serves. */
  onLine?: (line: string) => void;
};

export type LocalWorker = {
  url: string;
  adminToken: string;
  /** False while the gate is shut: the secrets file lacks something, which the Worker's log names. */
  isConfigured: boolean;
  mails: () => Promise<LocalMail[]>;
  /** Resolves with the reason if the server ends without having been asked to. */
  ended: Promise<string>;
  stop: () => Promise<void>;
};

/** Starts it with the sample data in its database. */
export async function startWorker(options: StartOptions): Promise<LocalWorker> {
  const { persistTo, secretsFile, main, variables = {}, onPhase, onLine } = options;
  const port = await claimPort(options.port ?? 0);
  const url = `http://localhost:${port}`;
  const secrets = ensureSecrets(secretsFile);

  onPhase?.('Preparing the database and its sample data …');
  await prepareDatabase(persistTo);

  onPhase?.('Starting the Worker …');
  // PUBLIC_URL stands on the command line, not in the file, so that it follows the port.
  const sender = 'MAIL_FROM' in secrets ? [] : ['--var', `MAIL_FROM:${MAIL_FROM}`];
  const given = Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}:${value}`]);
  const served = ['--port', String(port), '--inspector-port', '0', '--var', `PUBLIC_URL:${url}`, ...sender, ...given];
  const kept = ['--persist-to', persistTo, '--env-file', secretsFile, '--show-interactive-dev-session', 'false'];
  const server = startWrangler([...(main === undefined ? ['dev'] : ['dev', main]), ...served, ...kept], persistTo);
  const ended = server.ended.then(() => 'The server ended by itself.');
  const output = collectLines(server, onLine);
  let isConfigured: boolean;
  try {
    isConfigured = await untilReady(url, ended);
  } catch (error) {
    await server.stop();
    throw new Error(`The Worker did not start.\n${output.early.join('\n')}`, { cause: error });
  }
  output.serve();
  return {
    url,
    adminToken: secrets['ADMIN_TOKEN'] ?? '',
    isConfigured,
    mails: () => localMails(url),
    ended,
    stop: server.stop,
  };
}

/** The content of the file. If it does not exist, it is written with fresh secrets, and only this user can read it. */
function ensureSecrets(file: string): NodeJS.Dict<string> {
  if (!existsSync(file)) {
    const random = () => hex(crypto.getRandomValues(new Uint8Array(32)));
    const lines = [`ADMIN_TOKEN="${random()}"`, `TOOLGATE_SECRET="${random()}"`, `MAIL_FROM="${MAIL_FROM}"`, ''];
    writeFileSync(file, lines.join('\n'), { mode: 0o600, flag: 'wx' });
  }
  return parseEnv(readFileSync(file, 'utf8'));
}

/** Before it serves, wrangler's lines are kept for the case that it never does; then the Worker's own are passed on. */
function collectLines(server: Guarded, onLine: StartOptions['onLine']) {
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

/** Whether the gate is open when the Worker serves. */
async function untilReady(url: string, ended: Promise<string>): Promise<boolean> {
  const deadline = Date.now() + START_LIMIT_MS;
  const end = { reason: '' };
  void ended.then((reason) => (end.reason = reason));
  while (end.reason === '' && Date.now() < deadline) {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
    if (answer?.ok) return true;
    const text = await answer?.text().catch(() => '');
    if (text?.includes('/docs/problems/not-configured')) return false;
    await sleep(200);
  }
  throw new Error(end.reason || `${url}/readyz was not 200 within ${START_LIMIT_MS / 1_000} seconds`);
}
