/**
 * The operator's pattern for customer ids. It runs at each opening of a session, so its time must be bounded: no group,
 * alternation, look-around or back-reference, and few repetitions of varying length. Each of those may multiply the time
 * by the length of an id: five of them took 4.8 s for an id of 128 characters, four take 0.2 s.
 */

const MAX_CUSTOMER_ID_CHARACTERS = 128;
export const ANY_CUSTOMER = '^[\\x21-\\x7e]{1,128}$';

const MAX_PATTERN_CHARACTERS = 200;
/** A class, escape or character, and its repetition. */
const PIECE =
  /(?:\[\^?(?:[^\]\\[]|\\[^\s])+\]|\\(?:x[0-9a-fA-F]{2}|[dw.\-/_:+*?()[\]{}|^$\\])|[^\\[\](){}*+?|^$])(\{\d{1,3}(?:,(?:\d{1,3})?)?\}|[?*+])?/uy;
const UNBOUNDED = /^(?:[*+]|\{\d+,\})$/;
const VARYING = /[*+?,]/;
const MAX_VARYING = 4;

export function isCustomerPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_CHARACTERS || !pattern.startsWith('^') || !pattern.endsWith('$')) return false;
  const body = pattern.slice(1, -1);
  let unbounded = 0;
  let varying = 0;
  for (PIECE.lastIndex = 0; PIECE.lastIndex < body.length;) {
    const [, repetition = ''] = PIECE.exec(body) ?? [];
    // Without a match, `exec` resets `lastIndex` to 0.
    if (PIECE.lastIndex === 0) return false;
    if (UNBOUNDED.test(repetition)) unbounded += 1;
    if (VARYING.test(repetition)) varying += 1;
  }
  return body !== '' && unbounded <= 1 && varying <= MAX_VARYING && compiles(pattern);
}

export const isCustomerId = (id: string, pattern: string): boolean =>
  id.length <= MAX_CUSTOMER_ID_CHARACTERS && new RegExp(pattern, 'u').test(id);

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}
