/**
 * A copy of the repository gains one folder of tools and its lines in src/tools/index.ts (added-folder.md), and nothing else: a
 * read and an effect with tables of their own, ids that are URIs, and a currency without decimals.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approveOnPage, linkInMail } from '../../scripts/demo-approval.ts';
import type * as localWorker from '../../scripts/local-worker.ts';
import { freshWorker, type OwnClient } from './client.ts';
import { followedCopy } from './followed-copy.ts';

const LOADER = ['--import', './test/simulation/loader.ts'];
const COPIED = [
  'migrations',
  'src',
  'scripts',
  'test',
  'package.json',
  'tsconfig.json',
  'worker-configuration.d.ts',
  'wrangler.toml',
];
const MEMBER = 'gid://club/Member/7';
const LIMITS = { JPY: { max_refund_cents: 4_900 } };
const PROVIDERS = ['openai', 'openai-chat', 'anthropic', 'gemini', 'gemini-interactions', 'ollama', 'mcp'];

describe('a folder of tools that is added', () => {
  let copy: string;
  let client: OwnClient;
  const run = async (env: NodeJS.ProcessEnv, ...command: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, command, { cwd: copy, env: { ...process.env, ...env } })).stdout;
  const session = async (policy: object) => {
    const caller = await client.newCaller({ allowed_tools: ['get_points', 'pay_out_points'], ...policy });
    return (await client.newSession({ customer_id: 'CUS-1' }, caller)).token;
  };
  const call = async (token: string, tool: string, args: object) =>
    (await client.call(token, { tool, arguments: { member_id: MEMBER, ...args } })).json;

  beforeAll(async () => {
    copy = followedCopy(readFileSync(join(import.meta.dirname, 'added-folder.md'), 'utf8'), COPIED);
    const { startWorker } = (await import(join(copy, 'scripts/local-worker.ts'))) as typeof localWorker;
    client = await freshWorker(startWorker);
  });
  afterAll(async () => {
    await client.stop();
    rmSync(copy, { recursive: true });
  });

  it('compiles, and is published by golden:add', async () => {
    expect(await run({}, ...LOADER, 'scripts/golden-add.ts')).toContain('test/golden/anthropic.json: 2 added');
    expect(JSON.parse(readFileSync(join(copy, 'test/golden/contract.json'), 'utf8'))).toHaveProperty('pay_out_points');
  });

  it('moves nothing in a currency that the policy does not name', async () => {
    expect(await call(await session({}), 'pay_out_points', { points: 1 })).toMatchObject({ code: 'POLICY_LIMIT' });
  });

  it('is read, asks a person, who is shown its facts, and moves its total once', async () => {
    const token = await session({ limits: LIMITS });
    expect(await call(token, 'get_points', {})).toMatchObject({ ok: true, data: { points_left: 5_000 } });
    expect(await call(token, 'pay_out_points', { points: 4_901 })).toMatchObject({ code: 'POLICY_LIMIT' });
    const asked = await call(token, 'pay_out_points', { points: 1_200 });
    expect(asked).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    const { id } = asked['approval'] as { id: string };
    const link = await linkInMail(client.worker, id);
    const page = await (await fetch(link)).text();
    expect(page).toContain(`<bdi>${MEMBER}</bdi>`);
    expect(page).toContain('1200 JPY');
    await approveOnPage(link, '¥1200');
    expect(await call(token, 'pay_out_points', { points: 1_200 })).toMatchObject({
      ok: true,
      replayed: true,
      data: { paid_out: 1_200, points_left: 3_800 },
    });
    expect(await call(token, 'get_points', {})).toMatchObject({ data: { points_left: 3_800 } });
  });

  it.each(PROVIDERS)('is defined for %s', async (provider) => {
    const { text } = await client.send(`/v1/tools?provider=${provider}`, { credential: await session({}) });
    expect(text).toContain('"pay_out_points"');
  });

  it('is verified by audit:verify, and takes part in simulation and fuzzing', { timeout: 240_000 }, async () => {
    const { url, adminToken } = client.worker;
    // Rows travel to D1 within five seconds.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(await run({ ADMIN_TOKEN: adminToken }, 'scripts/audit-verify.ts', url)).toContain('whole');
    expect(await run({}, 'test/simulation/simulate.ts', '--seeds', '10')).toMatch(/ 0 failed\s*$/);
    expect(await run({}, ...LOADER, 'test/fuzz/fuzz.ts', '--requests', '300')).toMatch(/ 0 findings\s*$/);
  });
});
