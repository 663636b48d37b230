/** Real processes: what they leave behind is the point. */
import { describe, expect, it, vi } from 'vitest';
import { runGuarded, spawnGuarded } from '../../scripts/guarded.ts';

const HERE = { cwd: process.cwd(), env: process.env };
const LIMIT_MS = 10_000;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  let said = '';
  output.on('data', (bytes: Buffer) => (said += bytes.toString()));
  await vi.waitFor(() => expect(said).toContain('\n'), { timeout: LIMIT_MS });
  return said.trim();
}

describe('runGuarded', () => {
  it('tells how the command ended and what it said', async () => {
    const command = ['sh', '-c', 'echo done; echo "not well" >&2; exit 3'];
    expect(await runGuarded(command, HERE, LIMIT_MS)).toEqual({ code: 3, stdout: 'done\n', stderr: 'not well\n' });
  });

  it('ends what the command leaves running', async () => {
    const { stdout } = await runGuarded(['sh', '-c', 'sleep 60 & echo $!'], HERE, LIMIT_MS);
    await vi.waitFor(() => expect(isAlive(Number(stdout))).toBe(false), { timeout: LIMIT_MS });
  });

  it('ends a command that takes longer than it may, and says so', async () => {
    await expect(runGuarded(['sleep', '60'], HERE, 200)).rejects.toThrow('60 did not end within 0.2 seconds');
  });
});

describe('spawnGuarded', () => {
  it('kills a command that does not end when it is asked to', async () => {
    const { stdout, stop, ended } = spawnGuarded(
      ['sh', '-c', `trap '' TERM; echo $$; while :; do sleep 1; done`],
      HERE,
    );
    const pid = Number(await firstLine(stdout));
    await stop();
    expect(await ended).toBe(null);
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: LIMIT_MS });
  }, 15_000);
});
