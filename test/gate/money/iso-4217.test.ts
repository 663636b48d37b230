import { describe, expect, it } from 'vitest';
import { decimalsOf, symbolsOf } from '../../../src/gate/money/iso-4217.ts';
import { formatMoney, phraseMatches } from '../../../src/gate/money/money.ts';

describe('decimalsOf', () => {
  it.each([
    ['JPY', 0],
    ['UYI', 0],
    ['EUR', 2],
    // CLDR says none for these.
    ['IDR', 2],
    ['LAK', 2],
    ['IRR', 2],
    ['KWD', 3],
    ['CLF', 4],
    ['UYW', 4],
  ])('is that of ISO 4217 for %s', (currency, decimals) => expect(decimalsOf(currency)).toBe(decimals));

  it.each(['XAU', 'XDR', 'XXX', 'XTS', 'ABC', 'eur', '', 'constructor'])('is null for %s', (currency) =>
    expect(decimalsOf(currency)).toBeNull(),
  );

  it('knows what the platform knows, but for its cash digits', () => {
    const unknown = Intl.supportedValuesOf('currency').filter((code) => decimalsOf(code) === null);
    // Withdrawn ones, and those without a minor unit.
    for (const code of ['EUR', 'USD', 'BRL', 'GBP', 'CHF', 'XAF', 'TND', 'CLF']) expect(unknown).not.toContain(code);
  });
});

describe('a phrase', () => {
  it.each([
    ['R$ 0,61', 'BRL', 61],
    ['0,61 R$', 'BRL', 61],
    ['€12.00', 'EUR', 1200],
    ['US$ 12.00', 'USD', 1200],
    ['$12.00', 'USD', 1200],
    ['¥1200', 'JPY', 1200],
  ])('may be written %s', (typed, currency, amount_cents) => {
    const phrase = formatMoney({ amount_cents, currency }).replace(` ${currency}`, '');
    expect(phraseMatches(typed, phrase, currency)).toBe(true);
  });

  it.each([
    ['R$ 0,61', 'USD'],
    ['€0.61', 'BRL'],
    ['R$R$0,61', 'BRL'],
  ])('may not be written %s in %s', (typed, currency) => expect(phraseMatches(typed, '0.61', currency)).toBe(false));

  it('has the longest symbol cut first', () => expect(symbolsOf('USD')).toEqual(['US$', '$']));
});
