/** docs/extending.md, followed to the letter: its files are written, its lines added, and the Worker of it is called. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshWorker, type Client } from './client.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = [
  'src',
  'scripts',
  'test/golden',
  'package.json',
  'tsconfig.json',
  'worker-configuration.d.ts',
  'wrangler.toml',
];
const BLOCK = /^```(?<kind>ts|diff) (?<path>\S+)\n(?<text>[^]*?)^```$/gm;

type Block = { kind: string; path: string; text: string };

const document = readFileSync(join(ROOT, 'docs/extending.md'), 'utf8');
const blocks = [...document.matchAll(BLOCK)].map(({ groups }) => groups as Block);

/** Adds each line marked `+` below the line before it. */
function withAddedLines(text: string, diff: string): string {
  let place = '';
  return diff
    .trimEnd()
    .split('\n')
    .reduce((so_far, line) => {
      const [mark, rest] = [line.slice(0, 1), `\n${line.slice(1)}`];
      if (mark !== '+') place = rest;
      if (!so_far.includes(place)) throw new Error(`the file has no line "${place}"`);
      return mark === '+' ? so_far.replace(place, () => place + rest) : so_far;
    }, `\n${text}`)
    .slice(1);
}

describe('docs/extending.md', () => {
  let copy: string;
  let client: Client;
  /** What the command says, however it ends. */
  const run = (...command: string[]): Promise<string> =>
    promisify(execFile)(process.execPath, command, { cwd: copy }).then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
    );

  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), 'toolgate-extended-'));
    for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    for (const { kind, path, text } of blocks) {
      const file = join(copy, path);
      writeFileSync(file, kind === 'ts' ? text : withAddedLines(readFileSync(file, 'utf8'), text));
    }
    client = await freshWorker(join(copy, 'src/index.ts'));
  });
  afterAll(async () => {
    await client.stop();
    rmSync(copy, { recursive: true });
  });

  it('shows code that compiles', async () => {
    expect(await run(join(ROOT, 'node_modules/typescript/bin/tsc'), '--incremental', 'false')).toBe('');
  });

  it('publishes the tool and the provider with npm run golden:add', async () => {
    expect(await run('scripts/golden-add.ts')).toContain('test/golden/bedrock.json');
    expect(JSON.parse(readFileSync(join(copy, 'test/golden/bedrock.json'), 'utf8'))).toHaveProperty('get_refundable');
  });

  it("makes the tool callable as the provider's model calls it", async () => {
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
});
