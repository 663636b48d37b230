import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readEvidence, type Piece } from '../../scripts/evidence.ts';

const folder = mkdtempSync(join(tmpdir(), 'toolgate-evidence-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function piecesIn(text: string): Promise<Piece[]> {
  const file = join(folder, 'evidence.ndjson');
  writeFileSync(file, text);
  const pieces: Piece[] = [];
  for await (const piece of readEvidence(file)) pieces.push(piece);
  return pieces;
}

const hash = 'a'.repeat(64);
const place = { caller_id: 'caller-1', session_id: 'chat-1' };
const line = JSON.stringify({ event: 'audit', uid: 'u1', seq: 2, hash, ...place, code: 'OK', ok: true });

describe('readEvidence', () => {
  it('reads log lines of the audit and lines of uid, seq and hash, and passes over all else that is logged', async () => {
    const text = [line, '{"event":"request","status":200}', '', `u2 17 ${hash}`, ''].join('\r\n');
    expect(await piecesIn(text)).toEqual([
      { event: 'audit', uid: 'u1', seq: 2, hash, ...place },
      { uid: 'u2', seq: 17, hash, caller_id: null, session_id: null },
    ]);
  });

  it.each(['u2 17', 'u2 x a', '{"event":"audit","uid":"u1"}', line.slice(0, -1), '[]', '7'])(
    'stops at a line that it cannot read: %s',
    async (text) => {
      await expect(piecesIn(`${line}\n${text}\n`)).rejects.toThrow(
        'line 2: neither a log line of JSON nor "uid seq hash"',
      );
    },
  );

  it('says that there is no such file', async () => {
    const all = async () => {
      for await (const piece of readEvidence(join(folder, 'none'))) return piece;
      return null;
    };
    await expect(all()).rejects.toThrow('ENOENT');
  });
});
