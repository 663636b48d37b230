/** docs/backends.md, followed to the letter: its files are written, its line added, its fault run passes. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followedCopy } from './followed-copy.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = [
  'migrations',
  'src',
  'scripts',
  'test/golden',
  ...['backends', 'fault-run', 'migrations', 'node-session'].map((name) => `test/support/${name}.ts`),
  'test/simulation/loader.ts',
  'test/simulation/planted/bug.ts',
  'package.json',
  'tsconfig.json',
  'worker-configuration.d.ts',
  'wrangler.toml',
];
const document = readFileSync(join(ROOT, 'docs/backends.md'), 'utf8');

describe('docs/backends.md', () => {
  let copy: string;
  const run = async (...command: string[]): Promise<string> => {
    const ran = promisify(execFile)(process.execPath, command, { cwd: copy, env: { ...process.env, NO_COLOR: '1' } });
    return (await ran.catch((failed: { stdout: string }) => failed)).stdout;
  };

  beforeAll(() => {
    copy = followedCopy(document, COPIED);
    // The project's own configuration would start a runtime, which this test needs not.
    writeFileSync(join(copy, 'vitest.config.ts'), 'export default {};\n');
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  it('shows code that compiles, and a fault run that passes', async () => {
    const compiled = run(join(ROOT, 'node_modules/typescript/bin/tsc'), '--incremental', 'false');
    const tested = run(join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', 'test/tools/store-credit');
    expect(await compiled).toBe('');
    expect(await tested).toMatch(/Tests +49 passed/);
  });
});
