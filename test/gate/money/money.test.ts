import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMoney, phraseMatches, phraseOf } from '../../../src/gate/money/money.ts';

const CURRENCIES = [
  { currency: 'BRL', decimals: 2 },
  { currency: 'USD', decimals: 2 },
  { currency: 'JPY', decimals: 0 },
  { currency: 'KWD', decimals: 3 },
  { currency: 'BHD', decimals: 3 },
] as const;

const amounts = fc.record({ amount_cents: fc.maxSafeNat(), of: fc.constantFrom(...CURRENCIES) });

describe('formatMoney', () => {
  it.each([
    [2590, 'BRL', '25.90 BRL'],
    [0, 'BRL', '0.00 BRL'],
    [5, 'USD', '0.05 USD'],
    [123456789, 'USD', '1234567.89 USD'],
    [2590, 'JPY', '2590 JPY'],
    [0, 'JPY', '0 JPY'],
    [2590, 'KWD', '2.590 KWD'],
    [7, 'BHD', '0.007 BHD'],
    [Number.MAX_SAFE_INTEGER, 'BRL', '90071992547409.91 BRL'],
  ])('writes %i minor units of %s as %s', (amount_cents, currency, written) => {
    expect(formatMoney({ amount_cents, currency })).toBe(written);
  });

  it('loses no digit of any amount', () => {
    fc.assert(
      fc.property(amounts, ({ amount_cents, of: { currency, decimals } }) => {
        const [digits = '', code] = formatMoney({ amount_cents, currency }).split(' ');
        expect(digits).toMatch(decimals === 0 ? /^(0|[1-9]\d*)$/ : new RegExp(`^(0|[1-9]\\d*)\\.\\d{${decimals}}$`));
        expect(BigInt(digits.replace('.', ''))).toBe(BigInt(amount_cents));
        expect(code).toBe(currency);
      }),
    );
  });

  it.each([-1, -0.5, 25.9, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1])(
    'refuses %s as an amount',
    (amount_cents) => {
      expect(() => formatMoney({ amount_cents, currency: 'BRL' })).toThrow(RangeError);
    },
  );

  it.each(['', 'brl', 'BR', 'BRLX', 'BRL ', '123'])('refuses %j as a currency', (currency) => {
    expect(() => formatMoney({ amount_cents: 1, currency })).toThrow(RangeError);
  });
});

describe('phraseOf', () => {
  it('is the digits of the amount', () => {
    expect(phraseOf({ amount_cents: 2590, currency: 'BRL' }, 'apr_0123456789abcdef')).toBe('25.90');
  });

  it('is the last six characters of the approval id without an amount', () => {
    expect(phraseOf(null, 'apr_0123456789abcdef')).toBe('abcdef');
  });
});

describe('phraseMatches', () => {
  it.each([
    '25.90',
    '25,90',
    ' 25.90 ',
    '25.90 BRL',
    '25,90 brl',
    'BRL 25.90',
    'bRl25,90',
    '25.90\u00A0BRL',
    '25.90\u202FBRL',
    '\u200925.90\t',
    '25 .90',
    '\u200B25.90',
    '\uFEFF25.90',
  ])('accepts %j for 25.90 BRL', (typed) => {
    expect(phraseMatches(typed, '25.90', 'BRL')).toBe(true);
  });

  it.each([
    '',
    ' ',
    '2590',
    '25.9',
    '25.900',
    '025.90',
    '25',
    '+25.90',
    '-25.90',
    '25..90',
    '25,,90',
    '25.90,',
    '25.90 USD',
    'BRL 25.90 BRL',
    '２５.９０',
    '25٫90',
    '25.90.',
    'yes',
  ])('refuses %j for 25.90 BRL', (typed) => {
    expect(phraseMatches(typed, '25.90', 'BRL')).toBe(false);
  });

  it('does not take grouping for a decimal comma', () => {
    expect(phraseMatches('1,234.56', '1234.56', 'USD')).toBe(false);
    expect(phraseMatches('1.234,56', '1234.56', 'USD')).toBe(false);
    expect(phraseMatches('2,590', '2590', 'JPY')).toBe(false);
  });

  it('takes no look-alike letter for the code', () => {
    expect(phraseMatches('25.90 U\u017FD', '25.90', 'USD')).toBe(false);
  });

  it('forgives spaces, and nothing else, in the end of an id', () => {
    expect(phraseMatches(' 9k3 2mx', '9k32mx')).toBe(true);
    expect(phraseMatches('9K32MX', '9k32mx')).toBe(false);
    expect(phraseMatches('9k32m', '9k32mx')).toBe(false);
  });

  it('accepts an amount in every forgiven spelling and no other amount', () => {
    fc.assert(
      fc.property(amounts, fc.maxSafeNat(), fc.boolean(), fc.boolean(), (amount, other, comma, codeFirst) => {
        const { currency } = amount.of;
        const phrase = phraseOf({ amount_cents: amount.amount_cents, currency }, 'apr_0123456789abcdef');
        const spelt = (digits: string): string => {
          const written = comma ? digits.replace('.', ',') : digits;
          return codeFirst ? `${currency.toLowerCase()} ${written}` : `${written}\u00A0${currency}`;
        };
        expect(phraseMatches(spelt(phrase), phrase, currency)).toBe(true);
        const otherPhrase = phraseOf({ amount_cents: other, currency }, 'apr_0123456789abcdef');
        expect(phraseMatches(spelt(otherPhrase), phrase, currency)).toBe(other === amount.amount_cents);
      }),
    );
  });
});
