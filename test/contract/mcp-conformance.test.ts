/** The protocol's public conformance suite, as `npm run mcp:conformance` runs it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';
import { sharedWorker } from './shared-worker.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/mcp-conformance.ts');
const REVISIONS = isWhole ? ['2025-06-18', '2025-11-25', '2026-07-28'] : ['2026-07-28'];

describe('POST /mcp under the conformance suite', () => {
  const client = sharedWorker();

  it('fails nothing but what stands as not applicable, in any revision', { timeout: 240_000 }, async () => {
    const caller = await client.newCaller({ max_steps: 1_000 });
    const { token } = await client.newSession({}, caller);
    const env = { ...process.env, SESSION_TOKEN: token };
    const suite = promisify(execFile)(process.execPath, [SCRIPT, client.worker.url, ...REVISIONS], { env });
    const said = await suite.then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => Promise.reject(new Error(stdout)),
    );
    expect(said.match(/Baseline check passed: all failures are expected/g)).toHaveLength(REVISIONS.length);
  });
});
