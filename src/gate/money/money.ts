/**
 * Amounts as people read and type them. Only integers of minor units go in and no arithmetic is done on them: the digits
 * are cut, never divided, so that 2590 cannot become 25.899999.
 */
import type { Money } from '../ports.ts';
import { decimalsOf, symbolsOf } from './iso-4217.ts';

/** `25.90 USD`: ASCII digits, one point, the currency's own number of decimals, no grouping. Refuses what is no amount. */
export function formatMoney(money: Money): string {
  return `${amountDigits(money)} ${money.currency}`;
}

/** Whether an argument is read with the amount already: where it is written as money, it need not be repeated. */
export const isPartOfMoney = (name: string, value: unknown, money: Money | null): boolean =>
  money !== null && (name === 'amount_cents' || name === 'currency') && value === money[name];

/**
 * What an approver must type: the digits of the amount (`25.90`), so that nobody approves a figure they have not read, or
 * the end of the approval's id where there is no amount.
 */
export function phraseOf(money: Money | null, approvalId: string): string {
  return money === null ? approvalId.slice(-6) : amountDigits(money);
}

/**
 * Forgives what changes no figure: spaces of any kind, the currency's code in any case before or after, a comma for the
 * decimal point. Nothing else: `2590` and `25.9` are other ways of writing 25.90, and also the two commonest slips.
 */
export function phraseMatches(typed: string, phrase: string, currency: string | null = null): boolean {
  const bare = typed.replaceAll(/[\s\u200B]/g, '');
  const amount = currency === null ? bare : withoutUnit(bare, currency);
  return amount.replace(',', '.') === phrase;
}

/** Cuts the currency's code or symbol, before or after. The letters of a code must be ASCII: upper-casing alone would take a long s (U+017F) for an S. */
function withoutUnit(text: string, currency: string): string {
  const isCode = (part: string): boolean => /^[A-Za-z]{3}$/.test(part) && part.toUpperCase() === currency;
  if (isCode(text.slice(0, 3))) return text.slice(3);
  if (isCode(text.slice(-3))) return text.slice(0, -3);
  const symbol = symbolsOf(currency).find((each) => text.startsWith(each) || text.endsWith(each));
  if (symbol === undefined) return text;
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
