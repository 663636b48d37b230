import { check } from 'recheck';
import { describe, expect, it } from 'vitest';
import { ANY_CUSTOMER, isCustomerId, isCustomerPattern } from '../../../src/gate/policy/customer-pattern.ts';

describe('isCustomerPattern', () => {
  it.each([
    ANY_CUSTOMER,
    String.raw`^CUS-\d{1,12}$`,
    '^[0-9a-f]{8}-[0-9a-f]{4}$',
    String.raw`^gid://shop/Customer/\d+$`,
    String.raw`^\w{3,20}$`,
    String.raw`^a{0,128}b{0,128}c{0,128}d+$`,
  ])('takes %s, which takes no long time', async (pattern) => {
    expect(isCustomerPattern(pattern)).toBe(true);
    expect((await check(pattern, 'u')).status).toBe('safe');
  });

  it.each([
    ['no anchor', 'CUS-1'],
    ['a group', '^(a+)+$'],
    ['two unbounded repetitions', '^a*a*$'],
    ['an unbounded range twice', '^a{1,}b+$'],
    ['six bounded repetitions, which took seconds', String.raw`^\w{1,99}\w{1,99}\w{1,99}\w{1,99}\w{1,99}\w{1,99}-$`],
    ['five optional characters', '^a?a?a?a?a?$'],
    ['a look-ahead', '^(?=a)a$'],
    ['a back-reference', String.raw`^(a)\1$`],
    ['an alternation', '^a|b$'],
    ['what is no pattern', '^[a$'],
    ['a range in the wrong order', '^[z-a]$'],
    ['201 characters', `^${'a'.repeat(199)}$`],
    ['nothing', ''],
  ])('refuses %s', (_, pattern) => expect(isCustomerPattern(pattern)).toBe(false));
});

describe('isCustomerId', () => {
  it('takes what the pattern takes, whole, up to 128 characters', () => {
    expect(isCustomerId('CUS-12', String.raw`^CUS-\d{1,12}$`)).toBe(true);
    expect(isCustomerId('CUS-12\n', String.raw`^CUS-\d{1,12}$`)).toBe(false);
    expect(isCustomerId('a'.repeat(129), '^a+$')).toBe(false);
  });
});
