/** How a call's arguments stand in the audit: one text for equal arguments, harmless to terminals, JSON readers and SQL. */
import { canonicalJson } from '../canonical.ts';
import type { Reading } from '../pipeline/stages/2-parse.ts';

/** What one row keeps of its arguments. */
const MAX_ROW_BYTES = 4_096;
/** What all rows of a session keep: more would let one session fill the database that all share. */
const MAX_SESSION_BYTES = 256 * 1024;

const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Surrogate}]/u;
const ALL_HARMFUL = new RegExp(HARMFUL, 'gu');

/** `whole` is hashed; `kept` is its beginning that a row has room for, of so many `bytes`. */
export type AuditText = { whole: string; kept: string; bytes: number };

/**
 * RFC 8785 where the arguments parse, so that blanks around them leave no trace; otherwise the raw text, or the JSON of
 * anything else; null for absent arguments. Controls and lone surrogates become `\uXXXX` before the text is hashed (a lone
 * surrogate comes back from SQL as something else). What does not fit whole is not kept.
 */
export function auditText(raw: unknown, reading: Reading): AuditText | null {
  if (raw === undefined) return null;
  const text = reading.ok ? canonicalJson(reading.value) : typeof raw === 'string' ? raw : JSON.stringify(raw);
  return { whole: text.replace(ALL_HARMFUL, escaped), ...beginningOf(text) };
}

function beginningOf(text: string): { kept: string; bytes: number } {
  let [kept, bytes] = ['', 0];
  for (const character of text) {
    const shown = HARMFUL.test(character) ? escaped(character) : character;
    const more = shown === character ? bytesOf(character.codePointAt(0) ?? 0) : shown.length;
    if (bytes + more > MAX_ROW_BYTES) break;
    kept += shown;
    bytes += more;
  }
  return { kept, bytes };
}

/** Whether a session that keeps `stored` bytes keeps this text, too. */
export const hasRoom = (stored: number, { bytes }: AuditText): boolean => stored + bytes <= MAX_SESSION_BYTES;

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const bytesOf = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
