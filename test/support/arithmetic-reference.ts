/**
 * The calculator's arithmetic once more, by other means: a grammar read left to right, reduced fractions, and rounding by
 * written long division. Slow and plain on purpose; it shares no line with src.
 */

type Ratio = [bigint, bigint];
type Answer = number | 'BAD_EXPRESSION' | 'DIVISION_BY_ZERO' | 'RESULT_OUT_OF_RANGE';

class Refused extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(String(answer));
    this.answer = answer;
  }
}

/** What the calculator should say about `text`. A syntax error anywhere counts before a division by zero. */
export function referenceAnswer(text: string): Answer {
  try {
    return written(solve(readAll(text)));
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}

type Tree = { number: string } | { sign: string; of: Tree } | { operator: string; left: Tree; right: Tree };

function readAll(text: string): Tree {
  const tokens: string[] = [];
  let rest = text;
  while (rest !== '') {
    const [token] = /^(?:[ \t\r\n]+|[0-9]+\.?[0-9]*|\.[0-9]+|\/\/|[-+*/%()])/.exec(rest) ?? [];
    if (token === undefined) throw new Refused('BAD_EXPRESSION');
    if (token.trim() !== '') tokens.push(token);
    rest = rest.slice(token.length);
    // `1.2.3` is not the number 1.2 and the number .3
    if (/^\.?[0-9]/.test(token) && /^[0-9.]/.test(rest)) throw new Refused('BAD_EXPRESSION');
  }
  const chain = (operators: string[], operand: () => Tree): Tree => {
    let left = operand();
    while (operators.includes(tokens[0] ?? '')) left = { operator: tokens.shift() ?? '', left, right: operand() };
    return left;
  };
  const sum = (): Tree => chain(['+', '-'], product);
  const product = (): Tree => chain(['*', '/', '//', '%'], factor);
  const factor = (): Tree => {
    const token = tokens.shift() ?? '';
    if (token === '+' || token === '-') return { sign: token, of: factor() };
    if (/[0-9]/.test(token)) return { number: token };
    if (token !== '(') throw new Refused('BAD_EXPRESSION');
    const inner = sum();
    if (tokens.shift() !== ')') throw new Refused('BAD_EXPRESSION');
    return inner;
  };
  const tree = sum();
  if (tokens.length > 0) throw new Refused('BAD_EXPRESSION');
  return tree;
}

function solve(tree: Tree): Ratio {
  if ('number' in tree) {
    const point = tree.number.indexOf('.');
    const places = point < 0 ? 0 : tree.number.length - point - 1;
    return reduced(BigInt(tree.number.replace('.', '')), BigInt(`1${'0'.repeat(places)}`));
  }
  if ('sign' in tree) {
    const [top, bottom] = solve(tree.of);
    return tree.sign === '-' ? [-top, bottom] : [top, bottom];
  }
  const [a, b] = solve(tree.left);
  const [c, d] = solve(tree.right);
  if (tree.operator === '+') return reduced(a * d + c * b, b * d);
  if (tree.operator === '-') return reduced(a * d - c * b, b * d);
  if (tree.operator === '*') return reduced(a * c, b * d);
  if (c === 0n) throw new Refused('DIVISION_BY_ZERO');
  if (tree.operator === '/') return reduced(a * d, b * c);
  const whole = down(...reduced(a * d, b * c));
  if (tree.operator === '//') return [whole, 1n];
  return reduced(a * d - whole * c * b, b * d);
}

function reduced(top: bigint, bottom: bigint): Ratio {
  let [x, y] = [top < 0n ? -top : top, bottom < 0n ? -bottom : bottom];
  while (y !== 0n) [x, y] = [y, x % y];
  const by = bottom < 0n ? -x : x;
  return by === 0n ? [0n, 1n] : [top / by, bottom / by];
}

const down = (top: bigint, bottom: bigint): bigint => (top - (((top % bottom) + bottom) % bottom)) / bottom;

/** Writes digits until rounding is due, then rounds the written text. */
function written([top, bottom]: Ratio): Answer {
  const minus = top < 0n ? '-' : '';
  const size = top < 0n ? -top : top;
  if (bottom === 1n) {
    if (size > 9007199254740991n) return 'RESULT_OUT_OF_RANGE';
    return Number(size === 0n ? '0' : minus + String(size));
  }
  const whole = String(size / bottom);
  if (whole.length > 15) return 'RESULT_OUT_OF_RANGE';
  const places = whole === '0' ? 10 : Math.min(10, 15 - whole.length);
  let rest = size % bottom;
  let digits = whole;
  for (let place = 0; place < places; place += 1) {
    rest *= 10n;
    digits += String(rest / bottom);
    rest %= bottom;
  }
  const half = rest * 2n === bottom;
  const odd = /[13579]$/.test(digits);
  const rounded = rest * 2n > bottom || (half && odd) ? String(BigInt(digits) + 1n) : String(BigInt(digits));
  if (rounded === '0') return 0;
  const padded = rounded.padStart(places + 1, '0');
  return Number(`${minus}${padded.slice(0, padded.length - places)}.${padded.slice(padded.length - places)}`);
}
