/** docs/specification.md#on-this-machine: whatever ends `npm run dev` and `npm run demo`, and whenever, they leave no process and no port behind. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { claimPort } from '../../scripts/wrangler.ts';
import { isWhole } from '../support/whole.ts';

const ROOT = join(import.meta.dirname, '../../');
/** What a checkout holds and these scripts need. The copy has a state of its own, and processes that can be told by their folder. */
const NEEDED = ['demo', 'migrations', 'scripts', 'src', '.npmrc', 'package.json', 'tsconfig.json', 'wrangler.toml'];
const START_LIMIT_MS = 90_000;
/** The guard waits five seconds for who does not end by itself. */
const END_LIMIT_MS = 15_000;
const TEST_LIMIT_MS = START_LIMIT_MS + 4 * END_LIMIT_MS;

let checkout: string;
let temporary: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'toolgate-checkout-'));
  temporary = join(checkout, 'tmp');
  mkdirSync(temporary);
  for (const name of NEEDED) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
});
afterEach(() => {
  for (const pid of processes().keys()) process.kill(pid, 'SIGKILL');
  rmSync(checkout, { recursive: true });
});

/** Whatever runs in the checkout: its process ids and command lines. A process that has ended has no folder. */
function processes(): Map<number, string> {
  const found = new Map<number, string>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(checkout)) continue;
      found.set(Number(pid), readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim());
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

type Run = { npm: ChildProcess; script: () => number; says: (text: string) => Promise<void> };

function npmRun(...args: string[]): Run {
  const npm = spawn('npm', ['run', ...args], {
    cwd: checkout,
    detached: true,
    // wrangler shows what the Worker logs, as it does where nobody asks it for less.
    env: { ...process.env, TMPDIR: temporary, WRANGLER_LOG: 'log' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [npm.stdout, npm.stderr]) output.on('data', (text: Buffer) => (said += text.toString()));
  return {
    npm,
    script: () => {
      const [pid] = [...processes()].find(([, command]) => command.startsWith('node scripts/')) ?? [];
      if (pid === undefined) throw new Error(`the script does not run:\n${said}`);
      return pid;
    },
    says: (text) => vi.waitFor(() => expect(said).toContain(text), { timeout: START_LIMIT_MS, interval: 100 }),
  };
}

/** wrangler runs: there is something to be left behind. */
const wranglerRuns = (): Promise<void> =>
  vi.waitFor(() => expect([...processes().values()].join('\n')).toContain('wrangler-dist/cli.js'), {
    timeout: START_LIMIT_MS,
    interval: 50,
  });

const nothingIsLeft = (): Promise<void> =>
  vi.waitFor(() => expect([...processes().values()]).toEqual([]), { timeout: END_LIMIT_MS, interval: 100 });

const foldersLeft = (): string[] => readdirSync(temporary).filter((name) => name.startsWith('toolgate'));

describe.runIf(process.platform === 'linux')('npm run dev', { timeout: TEST_LIMIT_MS }, () => {
  it('leaves nothing behind when npm is killed while it starts', async () => {
    const { npm } = npmRun('dev', '--', '--port', String(await claimPort(0)));
    await wranglerRuns();
    npm.kill('SIGKILL');
    await nothingIsLeft();
  });

  it('leaves neither process nor port behind when npm is killed while it serves', async () => {
    const port = await claimPort(0);
    const { npm, says } = npmRun('dev', '--', '--port', String(port));
    await says('# Open another session');
    npm.kill('SIGKILL');
    await nothingIsLeft();
    expect(await claimPort(port)).toBe(port);
  });

  it.runIf(isWhole)(
    'takes secrets that are there, needs no sender beside them, and stays shut where one is too short',
    async () => {
      const secrets = (tail: string): string => `ADMIN_TOKEN="${'a'.repeat(64)}"\nTOOLGATE_SECRET="${tail}"\n`;
      for (const [secret, said] of [
        ['b'.repeat(64), '# Open another session'],
        ['short', 'The gate is shut'],
      ] as const) {
        writeFileSync(join(checkout, '.dev.vars'), secrets(secret));
        const port = await claimPort(0);
        const { npm, says } = npmRun('dev', '--', '--port', String(port));
        await says(said);
        const answers = await Promise.all(
          ['healthz', 'readyz'].map((path) => fetch(`http://localhost:${port}/${path}`)),
        );
        expect(answers.map(({ status }) => status)).toEqual([200, secret === 'short' ? 503 : 200]);
        npm.kill('SIGKILL');
        await nothingIsLeft();
      }
      // Why it is shut is for the log alone.
      expect(readFileSync(join(checkout, '.wrangler/dev.log'), 'utf8')).toContain(
        'TOOLGATE_SECRET: missing or not at least 32 bytes',
      );
    },
  );
});

describe.runIf(process.platform === 'linux')('npm run demo', { timeout: TEST_LIMIT_MS }, () => {
  it('leaves nothing behind when it is interrupted while it starts', async () => {
    const { npm, script } = npmRun('demo');
    await wranglerRuns();
    process.kill(script(), 'SIGINT');
    expect(await once(npm, 'exit')).toEqual([130, null]);
    // What was killed may take a moment to fall; what the guard would have to end takes seconds.
    await vi.waitFor(() => expect([...processes().values()]).toEqual([]), 1_000);
    expect(foldersLeft()).toEqual([]);
  });

  it.runIf(isWhole)('leaves nothing behind when npm is terminated while a person is waited for', async () => {
    const { npm, says } = npmRun('demo', '--', '--wait');
    await says('Open this link');
    npm.kill('SIGTERM');
    await nothingIsLeft();
    expect(foldersLeft()).toEqual([]);
  });
});
