/**
 * Evaluates the calculator's arithmetic: ASCII digits with at most one point (`5`, `0.5`, `.5`, `5.`, leading zeros mean
 * nothing), `+ - * / // %`, parentheses and signs, with Python's precedence. jsep reads the text; it knows far more than
 * this, so its operators are replaced and its tree is walked by a list of what is allowed. No name is ever looked up.
 */
import jsep from 'jsep';
import * as fractions from './fraction.ts';
import type { Fraction } from './fraction.ts';

export type Evaluation =
  | { readonly ok: true; readonly value: number }
  | { readonly ok: false; readonly code: 'BAD_EXPRESSION' | 'DIVISION_BY_ZERO' | 'RESULT_OUT_OF_RANGE' };

/** jsep skips `,` and `;` between expressions as if they were spaces, so its grammar alone is not a refusal. */
const ALPHABET = /^[0-9.+\-*/%() \t\r\n]*$/;
/** jsep takes `5 ()` for `5`: an empty group at the end of a text leaves no trace in its tree. */
const EMPTY_GROUP = /\([ \t\r\n]*\)/;
const NUMBER = /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/;

const PRECEDENCE = { '+': 1, '-': 1, '*': 2, '/': 2, '//': 2, '%': 2 };

jsep.removeAllLiterals();
jsep.removeAllUnaryOps();
jsep.removeAllBinaryOps();
for (const sign of ['+', '-']) jsep.addUnaryOp(sign);
for (const [operator, precedence] of Object.entries(PRECEDENCE)) jsep.addBinaryOp(operator, precedence);

class Unevaluable extends Error {
  readonly code: 'BAD_EXPRESSION' | 'DIVISION_BY_ZERO';
  constructor(code: 'BAD_EXPRESSION' | 'DIVISION_BY_ZERO') {
    super(code);
    this.code = code;
  }
}

/**
 * `text` must be short (the tool's schema allows 100 characters): parser and walk recurse once per parenthesis, and the
 * big integers grow with the number of digits.
 */
export function evaluate(text: string): Evaluation {
  if (!ALPHABET.test(text) || EMPTY_GROUP.test(text)) return { ok: false, code: 'BAD_EXPRESSION' };
  try {
    const value = fractions.toNumber(valueOf(parse(text)));
    return value === null ? { ok: false, code: 'RESULT_OUT_OF_RANGE' } : { ok: true, value };
  } catch (error) {
    if (error instanceof Unevaluable) return { ok: false, code: error.code };
    throw error;
  }
}

/** The whole text is judged before any of it is worked out: an expression that is none divides by nothing. */
function parse(text: string): jsep.Expression {
  const root = parsed(text);
  if (root === null || !isArithmetic(root)) throw new Unevaluable('BAD_EXPRESSION');
  return root;
}

function parsed(text: string): jsep.Expression | null {
  try {
    return jsep(text);
  } catch {
    // Whatever jsep throws, it throws about the text.
    return null;
  }
}

function isArithmetic(node: jsep.Expression): boolean {
  if (isLiteral(node)) return NUMBER.test(node.raw);
  if (isUnary(node)) return isArithmetic(node.argument);
  return isBinary(node) && isArithmetic(node.left) && isArithmetic(node.right);
}

function valueOf(node: jsep.Expression): Fraction {
  if (isLiteral(node)) return fractions.fractionOf(node.raw);
  if (isUnary(node)) {
    const value = valueOf(node.argument);
    return node.operator === '-' ? fractions.negate(value) : value;
  }
  if (isBinary(node)) return combine(node.operator, valueOf(node.left), valueOf(node.right));
  throw new Error(`no arithmetic: ${node.type}`);
}

function combine(operator: string, left: Fraction, right: Fraction): Fraction {
  switch (operator) {
    case '+':
      return fractions.add(left, right);
    case '-':
      return fractions.subtract(left, right);
    case '*':
      return fractions.multiply(left, right);
    case '/':
      return fractions.divide(left, divisor(right));
    case '//':
      return fractions.floorDivide(left, divisor(right));
    case '%':
      return fractions.remainder(left, divisor(right));
    default:
      throw new Error(`no arithmetic: ${operator}`);
  }
}

function divisor(value: Fraction): Fraction {
  if (fractions.isZero(value)) throw new Unevaluable('DIVISION_BY_ZERO');
  return value;
}

const isLiteral = (node: jsep.Expression): node is jsep.Literal => node.type === 'Literal';
const isUnary = (node: jsep.Expression): node is jsep.UnaryExpression => node.type === 'UnaryExpression';
const isBinary = (node: jsep.Expression): node is jsep.BinaryExpression => node.type === 'BinaryExpression';
