import { describe, expect, it } from 'vitest';
import { calculator } from '../../../src/tools/calculator/calculator.ts';
import { readWith, refusedFields } from '../../support/bound-tool.ts';

describe('calculator', () => {
  it('answers with only the value', async () => {
    expect(await readWith(calculator, { expression: '12 * (3 + 4)' })).toEqual({ ok: true, data: { value: 84 } });
  });

  it.each([
    ['1 +', 'BAD_EXPRESSION'],
    ['1 / 0', 'DIVISION_BY_ZERO'],
    ['9007199254740992', 'RESULT_OUT_OF_RANGE'],
  ])('refuses %s with %s and a message that holds none of it', async (expression, code) => {
    expect(await readWith(calculator, { expression })).toEqual({ ok: false, code, facts: {} });
    expect(calculator.codes).toContain(code);
    expect(calculator.refusal(code, {}).message).not.toContain(expression);
  });

  it('takes 1 to 100 characters', () => {
    expect(refusedFields(calculator, { expression: '' })).toEqual(['expression']);
    expect(refusedFields(calculator, { expression: '1'.repeat(100) })).toEqual([]);
    expect(refusedFields(calculator, { expression: '1'.repeat(101) })).toEqual(['expression']);
  });

  it('takes no number for an expression', () => {
    expect(refusedFields(calculator, { expression: 1 })).toEqual(['expression']);
  });
});
