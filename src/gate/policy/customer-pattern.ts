/**
 * Which strings a caller takes for customer ids. The operator writes the pattern, and each opening of a session runs it, so
 * only patterns are accepted whose time grows with the length of an id: no group, no alternation, no look-around, no
 * back-reference, and at most one repetition without an upper bound.
 */

const MAX_CUSTOMER_ID_CHARACTERS = 128;
export const ANY_CUSTOMER = '^[\\x21-\\x7e]{1,128}$';

const MAX_PATTERN_CHARACTERS = 200;
/** One class, escape or character, and how often. */
const PIECE =
  /(?:\[\^?(?:[^\]\\[]|\\[^\s])+\]|\\(?:x[0-9a-fA-F]{2}|[dw.\-/_:+*?()[\]{}|^$\\])|[^\\[\](){}*+?|^$])(\{\d{1,3}(?:,(?:\d{1,3})?)?\}|[?*+])?/uy;
const UNBOUNDED = /^(?:[*+]|\{\d+,\})$/;

/** Whether an operator may set this pattern. */
export function isCustomerPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_CHARACTERS || !pattern.startsWith('^') || !pattern.endsWith('$')) return false;
  const body = pattern.slice(1, -1);
  let unbounded = 0;
  for (PIECE.lastIndex = 0; PIECE.lastIndex < body.length;) {
    const [, repetition = ''] = PIECE.exec(body) ?? [];
    // A piece that does not match sets `lastIndex` back to 0.
    if (PIECE.lastIndex === 0) return false;
    if (UNBOUNDED.test(repetition)) unbounded += 1;
  }
  return body !== '' && unbounded <= 1 && compiles(pattern);
}

/** Whether the caller's pattern takes this id. */
export const isCustomerId = (id: string, pattern: string): boolean =>
  id.length <= MAX_CUSTOMER_ID_CHARACTERS && compiled(pattern).test(id);

const compiled = (pattern: string): RegExp => new RegExp(pattern, 'u');

function compiles(pattern: string): boolean {
  try {
    return compiled(pattern).flags === 'u';
  } catch {
    return false;
  }
}
