/**
 * Writes and reads amounts for people. Digits of minor units are cut, never divided, so 2590 cannot become 25.899999.
 */
import type { Money } from '../ports.ts';
import { decimalsOf, symbolsOf } from './iso-4217.ts';

/** Such as `25.90 USD`: ASCII digits, the currency's own decimals, no grouping. Throws if `money` is not an amount. */
export function formatMoney(money: Money): string {
  return `${amountDigits(money)} ${money.currency}`;
}

/** Whether an argument is part of an amount that is already shown. */
export const isPartOfMoney = (name: string, value: unknown, money: Money | null): boolean =>
  money !== null && (name === 'amount_cents' || name === 'currency') && value === money[name];

/**
 * What an approver must type: the digits of the amount, so that a person has read them, or else the end of the
 * approval's id.
 */
export function phraseOf(money: Money | null, approvalId: string): string {
  return money === null ? approvalId.slice(-6) : amountDigits(money);
}

/**
 * Accepts any spaces, the currency before or after, and a decimal comma. It accepts nothing else: `2590` and `25.9` for
 * 25.90 are also the two most common slips.
 */
export function phraseMatches(typed: string, phrase: string, currency: string | null = null): boolean {
  const bare = typed.replaceAll(/[\s\u200B]/g, '');
  const amount = currency === null ? bare : withoutUnit(bare, currency);
  return amount.replace(',', '.') === phrase;
}

/** Cuts the code or symbol. A code must be ASCII, because the long s (U+017F) becomes S in upper case. */
function withoutUnit(text: string, currency: string): string {
  const isCode = (part: string): boolean => /^[A-Za-z]{3}$/.test(part) && part.toUpperCase() === currency;
  if (isCode(text.slice(0, 3))) return text.slice(3);
  if (isCode(text.slice(-3))) return text.slice(0, -3);
  const symbol = symbolsOf(currency).find((each) => text.startsWith(each) || text.endsWith(each)) ?? '';
  return text.startsWith(symbol) ? text.slice(symbol.length) : text.slice(0, -symbol.length);
}

function amountDigits({ amount_cents, currency }: Money): string {
  if (!Number.isSafeInteger(amount_cents) || amount_cents < 0)
    throw new RangeError('an amount is a whole number of minor units, zero or more');
  const decimals = decimalsOf(currency);
  if (decimals === null) throw new RangeError('a currency is a code of ISO 4217 that has a minor unit');
  const digits = String(amount_cents).padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
