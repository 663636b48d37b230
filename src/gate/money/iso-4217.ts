/**
 * The currencies of ISO 4217 (list one, with its amendments to 2026) by their number of decimals. A table of our own, because
 * `Intl` follows CLDR, whose digits are those of cash: none for IDR and LAK, where ISO has two. Metals, units of account
 * and codes for tests have no minor unit and are not here: no amount can be written in them. The one file of the gate that
 * names currencies.
 */

const CODES: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY ' +
    'COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR ' +
    'IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD ' +
    'NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP ' +
    'SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

/** What people write for a currency instead of its code, longest first. */
const SYMBOLS =
  'AUD A$ $, BRL R$, CAD CA$ C$ $, CHF Fr. Fr, CLP $, CNY ¥ 元, COP $, CZK Kč, DKK kr. kr, EUR €, GBP £, ' +
  'HKD HK$ $, HUF Ft, IDR Rp, ILS ₪, INR ₹, JPY ¥ ￥ 円, KRW ₩, MXN MX$ $, NOK kr, NZD NZ$ $, PLN zł, RUB ₽, ' +
  'SEK kr, SGD S$ $, THB ฿, TRY ₺, TWD NT$ $, UAH ₴, USD US$ $, VND ₫, ZAR R';

const DECIMALS = new Map(
  Object.entries(CODES).flatMap(([decimals, codes]) =>
    codes.split(' ').map((code) => [code, Number(decimals)] as const),
  ),
);

const SYMBOLS_OF = new Map(SYMBOLS.split(', ').map((each) => [each.slice(0, 3), each.slice(4).split(' ')]));

/** How many decimals a currency has; null for a code that ISO 4217 does not name or that has no minor unit. */
export const decimalsOf = (currency: string): number | null => DECIMALS.get(currency) ?? null;

export const symbolsOf = (currency: string): readonly string[] => SYMBOLS_OF.get(currency) ?? [];
