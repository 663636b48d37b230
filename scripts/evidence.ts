/**
 * Evidence from outside the database: NDJSON of the Worker's audit log lines, or lines of `uid seq hash` that hosts kept of
 * `Toolgate-Audit`. Every piece must be in the chains.
 */
import * as z from 'zod';
import { lines } from './lines.ts';

export type Piece = { uid: string; seq: number; hash: string; caller_id: string | null; session_id: string | null };

const logLine = z.looseObject({ event: z.string() });
const auditLine = z.object({
  event: z.literal('audit'),
  uid: z.string(),
  seq: z.int(),
  hash: z.string(),
  caller_id: z.string(),
  session_id: z.string(),
});
const TRIPLE = /^(\S+)\s+(\d+)\s+([0-9a-f]{64})$/;

/** Reads a file of evidence. Log lines of other events are passed over; throws at a line that is neither. */
export async function* readEvidence(file: string): AsyncGenerator<Piece> {
  let number = 0;
  for await (const line of lines(file)) {
    number += 1;
    if (line.trim() === '') continue;
    const piece = pieceIn(line.trim());
    if (piece === null) throw new Error(`${file}, line ${number}: neither a log line of JSON nor "uid seq hash"`);
    if (piece !== 'other') yield piece;
  }
}

function pieceIn(line: string): Piece | 'other' | null {
  const [, uid, seq, hash] = TRIPLE.exec(line) ?? [];
  if (uid !== undefined && hash !== undefined)
    return { uid, seq: Number(seq), hash, caller_id: null, session_id: null };
  try {
    const value: unknown = JSON.parse(line);
    const audit = auditLine.safeParse(value);
    if (audit.success) return audit.data;
    return logLine.safeParse(value).data?.event === 'audit' || !logLine.safeParse(value).success ? null : 'other';
  } catch {
    return null;
  }
}
