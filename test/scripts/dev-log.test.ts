import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepLog } from '../../scripts/dev-log.ts';

const LINES = [
  '{"event":"call","code":"OK"}',
  'Approval apr_0f: http://localhost:8787/approvals/apr_0f?t=x',
  'Error: "Approval apr_0f: no"',
];

function kept(isShown: boolean): { printed: string[]; log: string } {
  const folder = mkdtempSync(join(tmpdir(), 'toolgate-log-'));
  const file = join(folder, 'new/dev.log');
  const printed: string[] = [];
  for (const _start of ['first', 'second']) LINES.forEach(keepLog(file, isShown, (line) => printed.push(line)));
  const log = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  return { printed, log };
}

describe('keepLog', () => {
  it("keeps the lines of this start and prints nothing but approvals' links", () => {
    const [, link] = LINES;
    expect(kept(false)).toEqual({ printed: [link, link], log: `${LINES.join('\n')}\n` });
  });

  it('prints every line where the log is wanted', () => {
    expect(kept(true).printed).toEqual([...LINES, ...LINES]);
  });
});
