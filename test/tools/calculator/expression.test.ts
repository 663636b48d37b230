import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../src/tools/calculator/expression.ts';

const codeOf = (text: string): string => {
  const evaluation = evaluate(text);
  return evaluation.ok ? `value ${evaluation.value}` : evaluation.code;
};
const valueOf = (text: string): number | string => {
  const evaluation = evaluate(text);
  return evaluation.ok ? evaluation.value : evaluation.code;
};

describe('evaluate', () => {
  it.each([
    ['12 * (3 + 4)', 84],
    ['7 // 2 + 0.5', 3.5],
    ['-5 + 10 % 4', -3],
    ['12 * (3 + 4) - 10 / 4', 81.5],
    ['-7 // 2', -4],
    ['-7 % 3', 2],
    ['0.1 + 0.2', 0.3],
    ['(1 / 3 * 3) // 1', 1],
  ])('%s is %d', (text, value) => expect(valueOf(text)).toBe(value));

  it.each([
    ['7 // -2', -4],
    ['-7 // -2', 3],
    ['7 % -3', -2],
    ['-7 % -3', -1],
    ['5.5 % 2', 1.5],
    ['-5.5 // 2', -3],
    ['-6 // 2', -3],
    ['-6 % 2', 0],
    ['6 % -2', 0],
    ['2 - 3 - 4', -5],
    ['100 / 10 / 2', 5],
    ['100 // 7 % 4', 2],
    ['2 * 7 // 3', 4],
    ['2 + 3 * 4 % 5', 4],
    ['-2 * -3', 6],
    ['--5', 5],
    ['5 - -+-5', 0],
    ['+5', 5],
    ['0 * -1', 0],
  ])('gives %s the value %d, as Python does', (text, value) => expect(valueOf(text)).toBe(value));

  it.each([
    ['.5', 0.5],
    ['5.', 5],
    ['007', 7],
    ['0.50', 0.5],
    ['\t1\n+\r2 ', 3],
  ])('reads %j', (text, value) => expect(valueOf(text)).toBe(value));

  it.each([
    ...['2 ** 999999', 'abs(-1)', 'x + 1', 'True + 1', "'a' * 3", '1 +', '1e3', "__import__('os')"],
    ...[
      '',
      ' ',
      '.',
      '1.2.3',
      '1..2',
      '1 2',
      '1 .5',
      '(1)(2)',
      '2(3)',
      '()',
      '5 ()',
      '5()',
      '(5 ())',
      '1 / 0 + (1 2)',
      '1;',
      ',1',
      '(1,)',
    ],
    ...['1,000', '1_000', '0x10', '10n', '1E3', '1 < 2', '1 ? 2 : 3', '1 && 2', '~1', '!0', '1 & 2', '1 ^ 2', '1 << 2'],
    ...[
      '[1]',
      '[1][0]',
      '(1).constructor',
      'this',
      'null',
      'NaN',
      'Infinity',
      '/',
      '* 2',
      '1 / / 2',
      '7 /// 2',
      '2 * * 2',
    ],
    ...[
      '(1',
      '1)',
      ')(',
      '1 /* 2 */',
      '1 // ',
      '1\u00a0+ 2',
      '１ + ２',
      '٣',
      '1 − 2',
      '2 × 3',
      '1 # 2',
      '50%',
      '\u0000',
      '"1"',
      '`1`',
    ],
  ])('refuses %j', (text) => expect(codeOf(text)).toBe('BAD_EXPRESSION'));

  it.each(['1 / 0', '1 // 0', '1 % 0', '1 / (0.1 + 0.2 - 0.3)', '0 / 0', '1 / -0.0', '0 * (1 / 0)'])(
    'finds the zero that %s divides by',
    (text) => expect(codeOf(text)).toBe('DIVISION_BY_ZERO'),
  );

  it.each([
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
    ['9007199254740990.5 * 2 / 2 + 0.5', 9007199254740991],
    ['999999999999999.4', 999999999999999],
    ['99999999999999.95 - 0.05', 99999999999999.9],
    ['123456789012345.6', 123456789012346],
    ['-123456789012345.5', -123456789012346],
    ['123456789012344.5', 123456789012344],
  ])('gives %s whole', (text, value) => expect(valueOf(text)).toBe(value));

  it.each([
    '9007199254740992',
    '-9007199254740992',
    '9007199254740991 + 1',
    '1000000000000000.5',
    '-1000000000000000.1',
    '9'.repeat(100),
    '1 / 0.000000000000000000000000000001',
  ])('has no exact answer for %s', (text) => expect(codeOf(text)).toBe('RESULT_OUT_OF_RANGE'));

  it.each([
    ['1 / 3', 0.3333333333],
    ['2 / 3', 0.6666666667],
    ['0.00000000005', 0],
    ['0.00000000015', 2e-10],
    ['0.00000000025', 2e-10],
    ['-0.00000000015', -2e-10],
    ['0.000000000050000001', 1e-10],
    ['10000 / 3', 3333.3333333333],
    ['1000000 / 3', 333333.333333333],
    ['100000000000000 / 3', 33333333333333.3],
    ['0.99999999999', 1],
  ])('rounds %s once, half to even, to %d', (text, value) => expect(valueOf(text)).toBe(value));

  it('never answers minus zero', () => {
    for (const text of ['-0', '0 / -5', '-0.00000000001', '-6 % 3']) expect(Object.is(valueOf(text), 0)).toBe(true);
  });
});
