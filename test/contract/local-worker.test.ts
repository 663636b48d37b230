/** docs/specification.md#on-this-machine: what `npm run dev` prints works as it stands, and nothing is left running. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { prepareDatabase } from '../../scripts/local-database.ts';
import { runWrangler } from '../../scripts/wrangler.ts';
import { isWhole } from '../support/whole.ts';

const SCRIPTS = join(import.meta.dirname, '../../scripts/');
const run = promisify(execFile);
/** vitest.config.ts quietens wrangler, whose words count here. */
vi.stubEnv('WRANGLER_LOG', 'log');

/** Serves from `folder`, prints the quick start and stays, as the development server does. */
const serve = (folder: string): string => `
  import { openDemo } from '${SCRIPTS}demo-caller.ts';
  import { startWorker } from '${SCRIPTS}local-worker.ts';
  import { quickStart } from '${SCRIPTS}quick-start.ts';
  const folder = ${JSON.stringify(folder)};
  const worker = await startWorker({ persistTo: folder, secretsFile: folder + '/secrets', onPhase: console.log });
  console.log(quickStart(worker.url, await openDemo(worker)) + '# end');
  await worker.ended;`;

async function processesOf(folder: string): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(folder) && !line.includes('--input-type'));
}

describe('a Worker served on this machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolgate-dev-'));
  let server: ChildProcess;
  let printed = '';
  beforeAll(async () => {
    server = spawn(process.execPath, ['--input-type=module', '--eval', serve(folder)], { stdio: 'pipe' });
    server.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
    server.stderr?.on('data', (text: Buffer) => (printed += text.toString()));
    await vi.waitFor(() => expect(printed).toContain('# end'), { timeout: 90_000, interval: 200 });
  });
  afterAll(() => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  it('is tried with the printed commands, from a call over the mail to an approved refund', async () => {
    const commands = printed.slice(printed.indexOf('# The agent'));
    const { stdout } = await run('sh', ['-c', commands]);
    expect(stdout).toContain('"code":"CONFIRMATION_REQUIRED"');
    expect(stdout).toMatch(/^303$/m);
    expect(stdout).toContain('"data":{"order_id":"ORD-1001","refunded_cents":2590,"remaining_refundable_cents":9410}');
  });

  it('writes its fresh secrets readable only by this user', () => {
    const file = join(folder, 'secrets');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^ADMIN_TOKEN="[0-9a-f]{64}"\nTOOLGATE_SECRET="[0-9a-f]{64}"\nMAIL_FROM="toolgate@example\.com"\n$/,
    );
  });

  it('tells what it waits for as it begins, and the quick start last', () => {
    const phases = ['Preparing the database', 'Starting the Worker', 'Toolgate serves', '# end'];
    const places = phases.map((phase) => printed.indexOf(phase));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);
  });

  it('is gone with the script that started it, even if that is killed', async () => {
    expect(await processesOf(folder)).not.toEqual([]);
    server.kill('SIGKILL');
    await vi.waitFor(async () => expect(await processesOf(folder)).toEqual([]), { timeout: 10_000, interval: 200 });
  });

  it('leaves a database to which wrangler applies only further migrations', async () => {
    const command = ['d1', 'migrations', 'list', 'toolgate', '--local', '--persist-to', folder];
    expect(await runWrangler(command, folder)).toContain('No migrations to apply');
  });

  it('does not prepare the same database again', async () => {
    const started = performance.now();
    await prepareDatabase(folder);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it.runIf(isWhole)('loads what is new into a database that has data', { timeout: 60_000 }, async () => {
    writeFileSync(join(folder, 'database.sha256'), 'of another release');
    await prepareDatabase(folder);
    const query =
      'SELECT order_id, total_cents, (SELECT count(*) FROM attempts) AS attempts FROM orders ORDER BY 1 LIMIT 1';
    const command = ['d1', 'execute', 'toolgate', '--local', '--persist-to', folder, '--json', '--command', query];
    expect(JSON.parse(await runWrangler(command, folder))).toMatchObject([
      { results: [{ order_id: 'ORD-1001', total_cents: 12_000, attempts: 1 }] },
    ]);
  });
});
