import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfirmed, writeConfirmed } from '../../scripts/confirmed.ts';

const folder = mkdtempSync(join(tmpdir(), 'toolgate-confirmed-'));
afterAll(() => rmSync(folder, { recursive: true }));

const URL = 'https://toolgate.test';
const AT = Date.parse('2026-11-29T12:00:00Z');
const DAY_MS = 24 * 60 * 60 * 1000;
const uidOf = (opened: number): string => `${opened.toString(16).padStart(12, '0')}${'0'.repeat(32)}`;

const chainAt = (opened: number, last: number) => ({
  ...{ uid: uidOf(opened), caller_id: 'c', session_id: 's', seq: 3, hash: 'h' },
  at: new Date(last).toISOString(),
});
const row = { uid: uidOf(AT), seq: 2, key: 'k', attempt: 1, result_hash: 'r' };
const decision = { ...row, approval_id: 'apr_1', salt: 's', approver_hash: 'a', shown_hash: 'f' };
const confirmed = { chains: [chainAt(AT - DAY_MS, AT)], effects: [row], decisions: [decision] };

function written(kept: Parameters<typeof writeConfirmed>[3] = confirmed): string {
  const file = join(folder, 'confirmed.ndjson');
  writeConfirmed(file, URL, AT, kept);
  return file;
}

describe('what a run confirmed', () => {
  it('is read as it was written, by its owner alone', async () => {
    const file = written();
    expect(await readConfirmed(file, URL)).toEqual({ ...confirmed, at: AT, openedBefore: AT - 70 * DAY_MS });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('keeps every session within what is asked again that may still write', async () => {
    const chains = [chainAt(AT - 300 * DAY_MS, AT - 71 * DAY_MS), chainAt(AT - 200 * DAY_MS, AT - DAY_MS)];
    const { openedBefore } = await readConfirmed(written({ ...confirmed, chains }), URL);
    expect(openedBefore).toBe(AT - 200 * DAY_MS);
  });

  it.each<[string, (text: string) => string, string]>([
    ['was changed', (text) => text.replace('"seq":3', '"seq":2'), 'is not whole, or was changed'],
    ['was cut', (text) => text.split('\n').slice(0, -2).join('\n'), 'is not whole, or was changed'],
    ['was added to', (text) => `${text}{}\n`, 'something was added behind its end'],
    ['holds something else', () => 'uid 1 hash\n', 'was not written by audit:verify --since'],
    ['is empty', () => '', 'is not whole, or was changed'],
  ])('is refused where the file %s', async (_, change, message) => {
    const file = written();
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    await expect(readConfirmed(file, URL)).rejects.toThrow(message);
  });

  it('is refused where it is about another Worker', async () => {
    await expect(readConfirmed(written(), 'https://other.test')).rejects.toThrow(`is about ${URL}`);
  });
});
