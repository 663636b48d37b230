/**
 * Walks a text once, left to right, and names the first thing docs/specification.md#stage-2-parse refuses. It builds no value and remembers only
 * the names of the objects still open: a syntax tree of one hostile mebibyte fills an isolate's 128 MB, a walk does not.
 * Every loop and pattern here is linear.
 */

/** Deeper nesting is refused before any recursive parser sees it: they all overflow somewhere below 10^5 levels. */
export const MAX_DEPTH = 64;

type Expected = 'value' | 'first element' | 'name' | 'first name' | 'colon' | 'separator' | 'end';

type Token = { readonly type: TokenType; readonly end: number } | { readonly type: 'flaw'; readonly reason: string };

type TokenType = '{' | '}' | '[' | ']' | ',' | ':' | 'string' | 'scalar' | 'unknown';

/** One open object with the names it has so far, or one open array. */
type Frame = { readonly names: Set<string> } | 'array';

const BLANK = /[ \t\n\r]*/y;
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y;
const WORD = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NON_FINITE_WORD = /[+-]?(?:NaN|Infinity)/y;
const COMMENT = /\/[/*]/y;
/** A surrogate escape counts only as a whole pair: half of one is no character, and storage turns it into another string. */
const ESCAPE =
  /\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[\da-fA-F]{4}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})/y;
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F][\da-fA-F]{2}/y;
const LONE_SURROGATE = /\p{Surrogate}/u;

const WANTED: Readonly<Record<Exclude<Expected, 'end'>, string>> = {
  value: 'a value',
  'first element': 'a value or "]"',
  name: 'a member name in double quotes',
  'first name': 'a member name in double quotes or "}"',
  colon: 'a colon',
  separator: 'a comma or the closing bracket',
};

/**
 * The reason why `text` is not one strict JSON value, or null. A reason holds no input, since a model reads it: only the
 * kind of the flaw and its place, counted in UTF-16 units from 1.
 */
export function flawIn(text: string): string | null {
  const loneSurrogate = LONE_SURROGATE.exec(text);
  if (loneSurrogate !== null) return at(loneSurrogate.index, 'half of a surrogate pair stands alone');
  if (text.startsWith('\ufeff')) return at(0, 'a byte order mark is not JSON');

  const open: Frame[] = [];
  let expected: Expected = 'value';
  let position = endOf(BLANK, text, 0);
  if (position === text.length) return 'the text is empty';

  while (position < text.length) {
    if (expected === 'end') return at(position, `trailing text after the JSON ${kindOf(text)}`);
    const token = tokenAt(text, position);
    if (token.type === 'flaw') return token.reason;

    const frame = open.at(-1);
    const next = afterToken(token.type, expected, frame);
    if (next === null) return at(position, `expected ${WANTED[expected]}`);
    if (next === 'colon' && typeof frame === 'object') {
      const name = nameAt(text, position, token.end);
      if (frame.names.has(name)) return at(position, 'a member name appears twice in one object');
      frame.names.add(name);
    }
    if (token.type === '{' || token.type === '[') {
      if (open.length === MAX_DEPTH) return at(position, `nesting goes beyond ${MAX_DEPTH} levels`);
      open.push(token.type === '{' ? { names: new Set() } : 'array');
    }
    if (token.type === '}' || token.type === ']') open.pop();
    expected = next === 'separator' && open.length === 0 ? 'end' : next;
    position = endOf(BLANK, text, token.end);
  }
  return expected === 'end' ? null : at(position, 'the text ends before the JSON does');
}

/** RFC 8259's grammar: what may follow `type` where `expected` was due, or null where `type` must not stand. */
function afterToken(type: TokenType, expected: Expected, frame: Frame | undefined): Expected | null {
  const valueDue = expected === 'value' || expected === 'first element';
  const nameDue = expected === 'name' || expected === 'first name';
  const separatorDue = expected === 'separator';
  const inArray = frame === 'array';
  if (type === 'string' && nameDue) return 'colon';
  if (type === 'string' || type === 'scalar') return valueDue ? 'separator' : null;
  if (type === '{') return valueDue ? 'first name' : null;
  if (type === '[') return valueDue ? 'first element' : null;
  if (type === ':') return expected === 'colon' ? 'value' : null;
  if (type === ',' && separatorDue) return inArray ? 'value' : 'name';
  if (type === '}' && (expected === 'first name' || (separatorDue && !inArray))) return 'separator';
  if (type === ']' && (expected === 'first element' || (separatorDue && inArray))) return 'separator';
  return null;
}

function tokenAt(text: string, start: number): Token {
  const character = text.charAt(start);
  switch (character) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
      return { type: character, end: start + 1 };
    case '"':
      return stringAt(text, start);
  }
  const wordEnd = endOf(WORD, text, start);
  if (wordEnd !== -1) return { type: 'scalar', end: wordEnd };
  const numberEnd = endOf(NUMBER, text, start);
  if (numberEnd !== -1) return numberAt(text, start, numberEnd);
  if (endOf(COMMENT, text, start) !== -1) return flaw(start, 'comments are not JSON');
  if (endOf(NON_FINITE_WORD, text, start) !== -1) return flaw(start, 'NaN and Infinity are not JSON');
  return { type: 'unknown', end: start + 1 };
}

function stringAt(text: string, start: number): Token {
  let position = endOf(PLAIN_CHARACTERS, text, start + 1);
  while (position < text.length) {
    if (text.charAt(position) === '"') return { type: 'string', end: position + 1 };
    if (text.charAt(position) !== '\\') return flaw(position, 'a control character in a string must be escaped');
    const escapeEnd = endOf(ESCAPE, text, position);
    if (escapeEnd === -1) {
      const surrogate = endOf(SURROGATE_ESCAPE, text, position) !== -1;
      return flaw(position, surrogate ? 'half of a surrogate pair stands alone' : 'this escape is not JSON');
    }
    position = endOf(PLAIN_CHARACTERS, text, escapeEnd);
  }
  return flaw(position, 'the text ends inside a string');
}

function numberAt(text: string, start: number, end: number): Token {
  const literal = text.slice(start, end);
  const value = Number(literal);
  if (!Number.isFinite(value)) return flaw(start, 'a number is out of range');
  if (Number.isInteger(value) && !isWholeAsWritten(literal)) {
    return flaw(start, 'a number is an integer only after rounding');
  }
  return { type: 'scalar', end };
}

/**
 * Whether the literal itself is an integer: nothing but zeros right of the point once the exponent has moved it. Without
 * this 2590.0000000000000001 would pass the schema as 2590, an amount nobody wrote.
 */
function isWholeAsWritten(literal: string): boolean {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  if (!/[1-9]/.test(mantissa)) return true;
  const point = mantissa.indexOf('.');
  const decimals = point === -1 ? 0 : mantissa.length - point - 1;
  const digits = mantissa.replace('.', '');
  let zeros = 0;
  while (digits.charAt(digits.length - 1 - zeros) === '0') zeros += 1;
  return zeros + Number(exponent) >= decimals;
}

/** A name as it reads after unescaping, so that an escaped spelling of a name is that name. */
function nameAt(text: string, start: number, end: number): string {
  const quoted = text.slice(start, end);
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

function kindOf(text: string): string {
  const first = text.charAt(endOf(BLANK, text, 0));
  return first === '{' ? 'object' : first === '[' ? 'array' : 'value';
}

/** Where a match of the sticky `pattern` that begins at `start` ends, or -1. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function flaw(position: number, what: string): Token {
  return { type: 'flaw', reason: at(position, what) };
}

function at(position: number, what: string): string {
  return `${what} at character ${position + 1}`;
}
