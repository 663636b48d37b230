/**
 * Which strings a caller takes for customer ids. The operator writes the pattern, and each opening of a session runs it, so
 * only patterns are taken whose time grows with the length of an id: no group, no look-around, no back-reference, and at
 * most one repetition without an upper bound.
 */

export const MAX_CUSTOMER_ID_CHARACTERS = 128;
export const ANY_CUSTOMER = '^[\\x21-\\x7e]{1,128}$';

const MAX_PATTERN_CHARACTERS = 200;
const CLASS = String.raw`\[\^?(?:[^\]\\[]|\\.)+\]`;
const ATOM = String.raw`(?:${CLASS}|\\x[0-9a-fA-F]{2}|\\[dw.\-/_:+*?()[\]{}|^$\\]|[^\\[\](){}*+?|^$.]|\.)`;
const QUANTIFIER = String.raw`(?:\{\d{1,3}(?:,(?:\d{1,3})?)?\}|[?*+])?`;
const PATTERN = new RegExp(String.raw`^\^(?:${ATOM}${QUANTIFIER})+\$$`, 'u');
const UNBOUNDED = new RegExp(String.raw`(?:${ATOM})(?:[*+]|\{\d{1,3},\})`, 'gu');

/** Whether an operator may set this pattern. */
export function isCustomerPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_CHARACTERS || !PATTERN.test(pattern)) return false;
  if ((pattern.match(UNBOUNDED) ?? []).length > 1) return false;
  try {
    compiled(pattern);
    return true;
  } catch {
    return false;
  }
}

/** Whether the caller's pattern takes this id. */
export const isCustomerId = (id: string, pattern: string): boolean =>
  id.length <= MAX_CUSTOMER_ID_CHARACTERS && compiled(pattern).test(id);

const compiled = (pattern: string): RegExp => new RegExp(pattern, 'u');
