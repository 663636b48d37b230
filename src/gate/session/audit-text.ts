/** How a call's arguments stand in the audit: as the model wrote them, but harmless to terminals, JSON readers and SQL. */

const MAX_BYTES = 4_096;
const CONTROL_OR_LONE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Surrogate}]/u;

/**
 * Raw text, or the JSON of anything else; null for absent arguments. Controls and lone surrogates become `\uXXXX` before
 * the text is hashed (a lone surrogate comes back from SQL as something else). What does not fit whole is left out.
 */
export function auditText(raw: unknown): string | null {
  if (raw === undefined) return null;
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  let kept = '';
  let bytes = 0;
  for (const character of text) {
    const shown = CONTROL_OR_LONE.test(character) ? escaped(character) : character;
    bytes += shown === character ? bytesOf(character.codePointAt(0) ?? 0) : shown.length;
    if (bytes > MAX_BYTES) break;
    kept += shown;
  }
  return kept;
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const bytesOf = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
