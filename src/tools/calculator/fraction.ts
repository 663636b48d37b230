/**
 * Exact arithmetic on fractions of big integers, with Python's meaning of `//` and `%`. Nothing is reduced or rounded on
 * the way: every operation adds the digits of its operands at most, so a text of n digits never grows beyond a multiple of n.
 */

/** `bottom` is always positive. */
export type Fraction = { readonly top: bigint; readonly bottom: bigint };

/** Any number that is not an integer is shown with at most this many decimals. */
const MAX_DECIMALS = 10;
/** What a double keeps of every decimal number; more digits would be noise. */
const SIGNIFICANT_DIGITS = 15;
const NON_INTEGER_LIMIT = 10n ** BigInt(SIGNIFICANT_DIGITS);
const INTEGER_LIMIT = BigInt(Number.MAX_SAFE_INTEGER);

/** Reads ASCII digits with at most one point. */
export function fractionOf(decimal: string): Fraction {
  const [whole = '', decimals = ''] = decimal.split('.');
  return { top: BigInt(whole + decimals), bottom: 10n ** BigInt(decimals.length) };
}

export const negate = ({ top, bottom }: Fraction): Fraction => ({ top: -top, bottom });

export const isZero = ({ top }: Fraction): boolean => top === 0n;

export const add = (a: Fraction, b: Fraction): Fraction => ({
  top: a.top * b.bottom + b.top * a.bottom,
  bottom: a.bottom * b.bottom,
});

export const subtract = (a: Fraction, b: Fraction): Fraction => add(a, negate(b));

export const multiply = (a: Fraction, b: Fraction): Fraction => ({ top: a.top * b.top, bottom: a.bottom * b.bottom });

/** The divisor must not be zero. */
export function divide(a: Fraction, b: Fraction): Fraction {
  const sign = b.top < 0n ? -1n : 1n;
  return { top: sign * a.top * b.bottom, bottom: sign * a.bottom * b.top };
}

/** Rounds the quotient down, toward minus infinity. The divisor must not be zero. */
export const floorDivide = (a: Fraction, b: Fraction): Fraction => {
  const { top, bottom } = divide(a, b);
  return { top: floor(top, bottom), bottom: 1n };
};

/** What floor division leaves; it has the divisor's sign. The divisor must not be zero. */
export const remainder = (a: Fraction, b: Fraction): Fraction => subtract(a, multiply(b, floorDivide(a, b)));

/**
 * The nearest number that can be written down, rounded once, half to even. Null where it would not be true to its digits:
 * integers beyond ±(2^53−1), and from 10^15 on everything else.
 */
export function toNumber({ top, bottom }: Fraction): number | null {
  const size = top < 0n ? -top : top;
  if (size % bottom === 0n) {
    const integer = size / bottom;
    return integer > INTEGER_LIMIT ? null : signed(top, Number(integer));
  }
  if (size >= NON_INTEGER_LIMIT * bottom) return null;
  const whole = size / bottom;
  const wholeDigits = whole === 0n ? 0 : String(whole).length;
  const decimals = Math.min(MAX_DECIMALS, SIGNIFICANT_DIGITS - wholeDigits);
  const scaled = roundHalfEven(size * 10n ** BigInt(decimals), bottom);
  // Read as a decimal text, so that no second rounding happens on the way to a double.
  return signed(top, Number(`${scaled}e-${decimals}`));
}

const floor = (top: bigint, bottom: bigint): bigint => {
  const truncated = top / bottom;
  return top < 0n && truncated * bottom !== top ? truncated - 1n : truncated;
};

const roundHalfEven = (top: bigint, bottom: bigint): bigint => {
  const down = top / bottom;
  const twiceRest = 2n * (top % bottom);
  if (twiceRest === bottom) return down + (down % 2n);
  return twiceRest > bottom ? down + 1n : down;
};

/** Never −0, which JSON readers disagree about. */
const signed = (sign: bigint, size: number): number => (sign < 0n && size !== 0 ? -size : size);
