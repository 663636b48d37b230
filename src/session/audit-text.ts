/** How a call's arguments stand in the audit: as the model wrote them, but harmless to terminals, JSON readers and SQL. */

const MAX_BYTES = 4_096;
const CONTROL_OR_LONE =
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Raw text, or the JSON of anything else; null for absent arguments. Controls and lone surrogates become `\uXXXX` before
 * the text is hashed (a lone surrogate comes back from SQL as something else), then it is cut at a code point.
 */
export function auditText(raw: unknown): string | null {
  if (raw === undefined) return null;
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  return cutToBytes(text.slice(0, MAX_BYTES).replaceAll(CONTROL_OR_LONE, escaped), MAX_BYTES);
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** UTF-8 length is at most three bytes a code unit, so the loop drops few characters beyond the slice before it. */
function cutToBytes(text: string, max: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > max) return kept;
    kept += character;
  }
  return kept;
}
