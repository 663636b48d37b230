/** `npm run audit:verify` from outside: what it says, its exit codes, and the files it takes. */
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGuarded } from '../../scripts/guarded.ts';
import { sharedWorker } from './shared-worker.ts';

const client = sharedWorker();
const folder = mkdtempSync(join(tmpdir(), 'toolgate-verify-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function verify(...args: string[]) {
  const command = [process.execPath, 'scripts/audit-verify.ts', client.worker.url, ...args];
  const env = { ...process.env, ADMIN_TOKEN: client.worker.adminToken };
  return runGuarded(command, { cwd: join(import.meta.dirname, '../..'), env }, 60_000);
}

const fileOf = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe('npm run audit:verify', () => {
  let evidence = '';
  beforeAll(async () => {
    const { token } = await client.newSession();
    const { headers } = await client.call(token, { tool: 'calculator', arguments: { expression: '1 + 1' } });
    const [seq, hash] = headers.get('toolgate-audit')?.split(':') ?? [];
    const claims = JSON.parse(atob((token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'))) as {
      uid: string;
    };
    evidence = `${claims.uid} ${seq} ${hash}\n`;
  });

  it('says that the audit is whole, with what a host kept of Toolgate-Audit', async () => {
    const { code, stdout } = await verify('--evidence', fileOf('evidence', evidence));
    expect(stdout).toMatch(
      /^The audit is whole: \d+ rows? of \d+ sessions?; .*; 1 piece of evidence, each in the chains\.\n$/,
    );
    expect(code).toBe(0);
  });

  it('names what is in the evidence and not in the chains, keeps nothing, and exits with 1', async () => {
    const since = join(folder, 'none');
    const forged = `${evidence}${evidence.replace(/ \d+ /, ' 7000 ')}`;
    const { code, stderr } = await verify('--since', since, '--evidence', fileOf('forged', forged));
    expect(stderr).toContain('Broken: 1 break.\n\nEvidence from outside the database is not in the chains.');
    expect(stderr).toMatch(/row 7000 is in the evidence, but not in the audit, which ends at row \d+\./);
    expect(code).toBe(1);
    expect(existsSync(since)).toBe(false);
  });

  it('goes on from what the run before confirmed', async () => {
    const since = join(folder, 'confirmed');
    expect(await verify('--since', since)).toMatchObject({ code: 0 });
    const { code, stdout } = await verify('--since', since);
    expect(stdout).toMatch(/^The audit is whole, going on from 20\d\d-/);
    expect(code).toBe(0);
    appendFileSync(since, '\n');
    expect(await verify('--since', since)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Not verified') as unknown,
    });
  });

  it('says how it is called, and exits with 2', async () => {
    expect(await verify('again')).toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') as unknown });
    expect(await verify('--sinse', 'file')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('usage:') as unknown,
    });
  });
});
