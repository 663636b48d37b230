/** The short form of `npm run fuzz`, by the command itself: the first 800 of the 20,000 requests in `npm test`. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';

const COMMAND = ['--import', './test/simulation/loader.ts', 'test/fuzz/fuzz.ts'];
const REQUESTS = isWhole ? 20_000 : 800;

/** Runs the command to its end and says how it closed. */
function fuzz(...options: string[]): { status: number | null; output: string; last: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...COMMAND, ...options], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return { status, output: stdout + stderr, last: stdout.trim().split('\n').at(-1) ?? '' };
}

describe(`${REQUESTS} bent requests`, () => {
  it('are all answered, none with a 5xx, and leave books that agree', { timeout: 600_000 }, () => {
    const { status, output, last } = fuzz('--requests', String(REQUESTS));
    expect(status, output.slice(0, 10_000)).toBe(0);
    expect(last).toMatch(new RegExp(`^${REQUESTS} requests in \\d+ s, ${REQUESTS} answered, 0 findings$`));
  });
});

describe('an episode', () => {
  it('is the same when it is told again', { timeout: 60_000 }, () => {
    const told = (): string[] =>
      fuzz('--episode', '1.0', '--requests', isWhole ? '400' : '100')
        .output.split('\n')
        .filter((line) => /^trace \w{64}$/.test(line));
    const once = told();
    expect(once).toHaveLength(1);
    expect(told()).toEqual(once);
  });
});
