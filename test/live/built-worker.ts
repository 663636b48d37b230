/**
 * The Worker as `wrangler deploy` would publish it, served on this machine by workerd with its state on disk: it can be killed
 * like a machine that loses its power, and started again on what the disk then holds. Linux only: processes are found in /proc.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { unstable_getMiniflareWorkerOptions } from 'wrangler';
import { claimPort, runWrangler } from '../../scripts/wrangler.ts';

const ROOT = join(import.meta.dirname, '../..');
const START_LIMIT_MS = 30_000;
/** The state on disk is where wrangler keeps it, so that its migrations and this Worker meet. */
const STATE = 'v3';

export const ADMIN_TOKEN = 'a'.repeat(64);
const SECRETS = { ADMIN_TOKEN, TOOLGATE_SECRET: 'b'.repeat(64), MAIL_FROM: 'gate@toolgate.test' };

type Row = Record<string, string | number | null>;
/** A worker as Miniflare takes it. */
export type WorkerOptions = Extract<
  Parameters<typeof convertV4MiniflareOptions>[0],
  { workers: unknown }
>['workers'][0];

export class BuiltWorker {
  readonly url: string;
  /** Where all state lives. */
  readonly folder: string;
  readonly #port: number;
  #running: { miniflare: Miniflare; pid: number; guard: ChildProcess } | null = null;

  readonly #beside: readonly WorkerOptions[];
  readonly #variables: Record<string, string>;

  private constructor(
    folder: string,
    port: number,
    beside: readonly WorkerOptions[],
    variables: Record<string, string>,
  ) {
    this.#beside = beside;
    this.#variables = variables;
    this.folder = folder;
    this.#port = port;
    this.url = `http://localhost:${port}`;
  }

  /** Builds into `folder`, applies the migrations there and starts; `beside` are further workers of the same workerd. */
  static async make(
    folder: string,
    beside: readonly WorkerOptions[] = [],
    variables: Record<string, string> = {},
  ): Promise<BuiltWorker> {
    await runWrangler(['deploy', '--dry-run', '--outdir', join(folder, 'built')], folder);
    for (const database of ['toolgate', 'toolgate-audit'])
      await runWrangler(['d1', 'migrations', 'apply', database, '--local', '--persist-to', folder], folder);
    const worker = new BuiltWorker(folder, await claimPort(0), beside, variables);
    await worker.start();
    return worker;
  }

  /** Returns once `/readyz` is 200. */
  async start(): Promise<void> {
    const configured = configuredWorker();
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        host: 'localhost',
        port: this.#port,
        log: new Log(LogLevel.NONE),
        handleStructuredLogs: () => undefined,
        resourcePersistencePath: join(this.folder, STATE),
        // Shows the mails that were sent.
        unsafeLocalExplorer: true,
        cf: false,
        telemetry: { enabled: false },
        workers: [
          {
            ...configured,
            name: 'toolgate',
            rootPath: join(this.folder, 'built'),
            modules: true,
            scriptPath: 'index.js',
            bindings: { ...SECRETS, ...this.#variables, PUBLIC_URL: this.url },
          },
          ...this.#beside,
        ],
      }),
    );
    await miniflare.ready;
    const pid = workerdOf(process.pid);
    this.#running = { miniflare, pid, guard: guard(pid) };
    await this.#untilReady();
  }

  /**
   * SIGKILL in `afterMs`, or at the ledger's first write after that: no handler runs, nothing is flushed, no connection is
   * closed. Returns once workerd is gone.
   */
  async kill(afterMs: number, at: 'any moment' | 'a write of the ledger'): Promise<void> {
    const { pid } = this.#now();
    const atWriteTo = at === 'any moment' ? null : ledgerFile(this.folder);
    const killer = new Worker(join(import.meta.dirname, 'killer.ts'), { workerData: { pid, afterMs, atWriteTo } });
    killer.on('error', (error) => {
      throw error;
    });
    while (isAlive(pid)) await sleep(5);
    await this.stop();
  }

  async stop(): Promise<void> {
    const { miniflare, guard } = this.#now();
    this.#running = null;
    await miniflare.dispose();
    guard.kill('SIGKILL');
  }

  /**
   * Reads or seeds the ledger directly; the Worker has no route for that. A read is asked again where the connection that was
   * kept for it has just been closed as idle.
   */
  rows = <T extends Row>(sql: string, ...values: (string | number)[]): Promise<T[]> =>
    this.#rowsIn<T>('DB', sql, values);

  /** Reads the audit's database. */
  auditRows = <T extends Row>(sql: string, ...values: (string | number)[]): Promise<T[]> =>
    this.#rowsIn<T>('AUDIT', sql, values);

  async #rowsIn<T extends Row>(binding: 'DB' | 'AUDIT', sql: string, values: (string | number)[]): Promise<T[]> {
    const ask = async (): Promise<T[]> => {
      const database = await this.#now().miniflare.getD1Database(binding);
      const { results } = await database
        .prepare(sql)
        .bind(...values)
        .all<T>();
      return results;
    };
    return ask().catch((error: unknown) => {
      if (error instanceof TypeError && /^\s*SELECT/.test(sql)) return ask();
      throw error;
    });
  }

  /** Resident memory of workerd, in bytes. */
  residentBytes(): number {
    const [, kilobytes = ''] =
      /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#now().pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  }

  #now() {
    if (this.#running === null) throw new Error('the Worker is not running');
    return this.#running;
  }

  async #untilReady(): Promise<void> {
    for (const deadline = Date.now() + START_LIMIT_MS; Date.now() < deadline; await sleep(20)) {
      const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
      if (answer?.ok === true) return;
    }
    throw new Error(`/readyz was not 200 within ${START_LIMIT_MS / 1_000} seconds`);
  }
}

/** Where D1 writes first. */
function ledgerFile(folder: string): string {
  const databases = join(folder, STATE, 'd1/miniflare-D1DatabaseObject');
  const file = readdirSync(databases)
    .filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
    .map((name) => join(databases, name))
    .find(holdsAttempts);
  if (file === undefined) throw new Error('the database of the ledger was not found');
  return `${file}-wal`;
}

/** Which file is which database's only its tables tell. Read as bytes, so that the state is not touched. */
const holdsAttempts = (file: string): boolean =>
  [file, `${file}-wal`].some((part) => existsSync(part) && readFileSync(part).includes('CREATE TABLE attempts'));

/** What wrangler.toml says of bindings, queues and dates. */
function configuredWorker() {
  const level = process.env['WRANGLER_LOG'];
  // It would name the developer's .dev.vars, none of whose values is used here.
  process.env['WRANGLER_LOG'] = 'none';
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(ROOT, 'wrangler.toml'), 'production');
  if (level === undefined) delete process.env['WRANGLER_LOG'];
  else process.env['WRANGLER_LOG'] = level;
  const { modulesRules: _built, ...configured } = workerOptions;
  return configured;
}

/** Ends workerd when this process ends, however it ends: the kernel closes the pipe. */
function guard(pid: number): ChildProcess {
  const child = spawn('sh', ['-c', 'cat >/dev/null; kill -KILL "$0"', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  return child;
}

function workerdOf(parent: number): number {
  const [pid] = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid)?.parent === parent && parentOf(pid)?.name.startsWith('workerd'));
  if (pid === undefined) throw new Error('workerd was not found among the child processes');
  return pid;
}

/** Null where the process has ended, its parent's knowledge of it included. */
function parentOf(pid: number): { name: string; parent: number; state: string } | null {
  try {
    const [, name = '', state = '', parent = ''] =
      /^\d+ \((.*)\) (\S) (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return { name, parent: Number(parent), state };
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  const found = parentOf(pid);
  return found !== null && found.state !== 'Z';
}
