/** Child processes that end with this one, however it ends, and that end in time when they are asked to. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** The guard's five seconds and some. */
const STOP_LIMIT_MS = 8_000;
const KILL_LIMIT_MS = 2_000;

/**
 * Leads a process group and ends it when its standard input closes, which the kernel does for us even if this process is
 * killed: a signal handler alone would leave wrangler and workerd behind. The command first gets the chance to end by itself;
 * five seconds later the group is killed, this shell included. The one who kills ignores the milder signals, its own too.
 * The command's exit code is written to descriptor 3, because this shell always dies of its own kill.
 */
const GUARD = `
trap : TERM INT HUP
exec 4<&0
"$@" </dev/null 3>&- 4<&- & command=$!
(exec 3>&-; trap '' TERM INT HUP; read _ <&4; kill -TERM -$$; sleep 5; kill -KILL -$$) &
while :; do wait "$command"; code=$?; kill -0 "$command" 2>/dev/null || break; done
echo "$code" >&3
kill -KILL -$$`;

export type Guarded = {
  stdout: Readable;
  stderr: Readable;
  /** Resolves with the command's exit code, its whole group killed with it; null where it did not end by itself. */
  ended: Promise<number | null>;
  /** Asks the command to end, and kills it if it does not. Throws if even that does not help. */
  stop: () => Promise<void>;
};

const running = new Set<Guarded>();
let isClosed = false;

/** `command` is a program and its arguments. */
export function spawnGuarded(command: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Guarded {
  if (isClosed) throw new Error('Nothing is started any more: this script is ending.');
  const shell = spawn('sh', ['-c', GUARD, 'sh', ...command], {
    ...options,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const { stdin, stdout, stderr } = shell;
  const code = shell.stdio[3] as Readable;
  // A shell that is gone no longer reads, which says nothing new.
  stdin.on('error', () => undefined);
  const ended = exitCode(once(shell, 'exit'), code);
  const stop = async (): Promise<void> => {
    stdin.end();
    if (await within(STOP_LIMIT_MS, ended)) return;
    killGroup(shell.pid);
    if (await within(KILL_LIMIT_MS, ended)) return;
    throw new Error(`Process group ${shell.pid} did not end although it was killed.`);
  };
  const guarded: Guarded = { stdout, stderr, ended, stop };
  running.add(guarded);
  void ended.then(() => running.delete(guarded));
  return guarded;
}

/** Stops everything that was started here, and lets nothing be started after it. */
export async function stopAll(): Promise<void> {
  isClosed = true;
  await Promise.all(Array.from(running, (guarded) => guarded.stop()));
}

export type Ended = { code: number | null; stdout: string; stderr: string };

/** Runs a command to its end. Throws where it takes longer than `limitMs`, when it is stopped. */
export async function runGuarded(
  command: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
  limitMs: number,
): Promise<Ended> {
  const guarded = spawnGuarded(command, options);
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    guarded[name].on('data', (bytes: Buffer) => (said[name] += bytes.toString()));
  if (await within(limitMs, guarded.ended)) return { code: await guarded.ended, ...said };
  await guarded.stop();
  throw new Error(
    `${command.slice(1).join(' ')} did not end within ${limitMs / 1_000} seconds:\n${said.stdout}${said.stderr}`,
  );
}

async function exitCode(exit: Promise<unknown>, code: Readable): Promise<number | null> {
  let text = '';
  code.on('data', (bytes: Buffer) => (text += bytes.toString()));
  await Promise.all([exit, once(code, 'end')]);
  return text === '' ? null : Number(text);
}

async function within(ms: number, ended: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const tooLate = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  const isInTime = await Promise.race([ended.then(() => true), tooLate]);
  timer.abort();
  return isInTime;
}

function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // The group has ended meanwhile.
  }
}
