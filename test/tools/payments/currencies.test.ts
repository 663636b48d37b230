/** Every currency of docs.stripe.com/currencies ("Supported presentment currencies" and "Special cases"). */
import { describe, expect, it } from 'vitest';
import { decimalsOf } from '../../../src/gate/money/iso-4217.ts';
import { hasIsoUnit } from '../../../src/tools/payments/stripe.ts';

const PRESENTMENT = (
  'USD AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP ' +
  'CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JPY KES ' +
  'KGS KHR KMF KRW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD ' +
  'PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STD SZL THB TJS TOP TRY TTD TWD TZS ' +
  'UAH UGX UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW'
).split(' ');
const ZERO_DECIMAL = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF'.split(' ');
/** Sent with two decimals for the sake of old callers. */
const TWO_DECIMAL_AFTER_ALL = new Set(['ISK', 'UGX']);
/** Currencies that the page lists and ISO 4217 no longer has. */
const RETIRED = new Set(['ANG', 'STD']);

function decimalsAtStripe(currency: string): number {
  if (TWO_DECIMAL_AFTER_ALL.has(currency)) return 2;
  return ZERO_DECIMAL.includes(currency) ? 0 : 2;
}

describe('hasIsoUnit', () => {
  it.each(PRESENTMENT.filter((currency) => !RETIRED.has(currency)))(
    'says of %s whether Stripe counts it in the minor unit of ISO 4217',
    (currency) => {
      expect(hasIsoUnit(currency)).toBe(decimalsOf(currency) === decimalsAtStripe(currency));
    },
  );

  it('refuses the special cases and what has three decimals, and no other', () => {
    expect(PRESENTMENT.filter((currency) => !hasIsoUnit(currency))).toEqual(['ISK', 'MGA', 'UGX']);
    expect(['BHD', 'JOD', 'KWD', 'OMR', 'TND'].filter(hasIsoUnit)).toEqual([]);
  });

  it('leaves retired codes to the rule that an amount must be writable', () => {
    expect([...RETIRED].map(decimalsOf)).toEqual([null, null]);
  });
});
