/** docs/extending.md, followed to the letter: its files are written, its lines added, and the tools of it are called. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scripts } from '../../package.json';
import { approveOnPage, linkInMail } from '../../scripts/demo-approval.ts';
import type * as localWorker from '../../scripts/local-worker.ts';
import { freshWorker, type OwnClient } from './client.ts';
import { followedCopy } from './followed-copy.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = [
  'migrations',
  'src',
  'scripts',
  'test/golden',
  'test/simulation/loader.ts',
  'test/simulation/planted/bug.ts',
  'package.json',
  'tsconfig.json',
  'worker-configuration.d.ts',
  'wrangler.toml',
];
/** The command of `npm run golden:add`. */
const GOLDEN_ADD = scripts['golden:add'].split(' ').slice(1);
const document = readFileSync(join(ROOT, 'docs/extending.md'), 'utf8');

describe('docs/extending.md', () => {
  let copy: string;
  let client: OwnClient;
  /** What the command says, however it ends. */
  const run = (...command: string[]): Promise<string> =>
    promisify(execFile)(process.execPath, command, { cwd: copy }).then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
    );

  beforeAll(async () => {
    copy = followedCopy(document, COPIED);
    const { startWorker } = (await import(join(copy, 'scripts/local-worker.ts'))) as typeof localWorker;
    client = await freshWorker(startWorker);
  });
  afterAll(async () => {
    await client.stop();
    rmSync(copy, { recursive: true });
  });

  it('shows code that compiles', async () => {
    expect(await run(join(ROOT, 'node_modules/typescript/bin/tsc'), '--incremental', 'false')).toBe('');
  });

  it('publishes the tools and the provider with npm run golden:add', async () => {
    expect(await run(...GOLDEN_ADD)).toContain('test/golden/bedrock.json');
    const published: unknown = JSON.parse(readFileSync(join(copy, 'test/golden/bedrock.json'), 'utf8'));
    expect(published).toHaveProperty('get_refundable');
    expect(published).toHaveProperty('add_points');
  });

  it("makes the tool that reads callable as the provider's model calls it", async () => {
    const caller = await client.newCaller({ allowed_tools: ['get_refundable'], approvers: [] });
    const { token } = await client.newSession({}, caller);
    const toolUse = { toolUseId: 'tooluse_1', name: 'get_refundable', input: { order_id: 'ORD-1001' } };
    const body = { output: { message: { role: 'assistant', content: [{ text: 'Let me look.' }, { toolUse }] } } };
    const { json } = await client.send('/v1/calls/bedrock', { credential: token, body });
    expect(json).toMatchObject({
      results: [{ toolResult: { toolUseId: 'tooluse_1', status: 'success' } }],
      outcomes: [{ ok: true, data: { refundable_cents: 12_000, currency: 'BRL' } }],
    });
    const definitions = await client.send('/v1/tools?provider=bedrock', { credential: token });
    expect(definitions.json).toMatchObject({ tools: [{ toolSpec: { name: 'get_refundable' } }] });
  });

  it('makes the tool with a back end of its own wait for a person, who is shown its facts, and then moves its table', async () => {
    const caller = await client.newCaller({ allowed_tools: ['add_points'] });
    const { token } = await client.newSession({ customer_id: 'CUS-1' }, caller);
    const ask = async (member_id: string, points: number) => {
      const { json } = await client.call(token, {
        tool: 'add_points',
        arguments: { member_id, points, reason: 'apology' },
      });
      return json as { code: string; approval?: { id: string } };
    };
    const linkOf = async (points: number): Promise<{ id: string; link: string; page: string }> => {
      const { approval: { id } = { id: '' } } = await ask('MEM-0001', points);
      const link = await linkInMail(client.worker, id);
      return { id, link, page: await (await fetch(link)).text() };
    };
    expect(await ask('MEM-0002', 20)).toMatchObject({ code: 'MEMBER_NOT_FOUND' });
    const { id, link, page } = await linkOf(20);
    expect(page).toContain('<dt>Name</dt><dd><bdi>Paula Souza</bdi></dd>');
    expect(page).toContain('<dt>Points now</dt><dd class="figure"><bdi>50</bdi></dd>');
    await approveOnPage(link, id.slice(-6));
    const { json } = await client.send(`/v1/approvals/${id}`, { credential: token });
    expect(json).toMatchObject({ status: 'executed', outcome: { ok: true, data: { points: 70 } } });
    expect((await linkOf(30)).page).toContain('<dt>Points now</dt><dd class="figure"><bdi>70</bdi></dd>');
  });
});
