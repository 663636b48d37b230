/** Exact arithmetic for models, which are bad at it. It uses no port and stores nothing. */
import * as z from 'zod';
import { evaluate } from './expression.ts';
import { defineTool } from '../../gate/index.ts';

export const calculator = defineTool({
  name: 'calculator',
  description:
    'Evaluates one arithmetic expression exactly. Use it for every sum, difference, product or quotient of numbers. ' +
    'The value is rounded once, to at most 10 decimals and 15 significant digits.',
  input: z.strictObject({
    expression: z
      .string()
      .min(1)
      .max(100)
      .describe(
        'Numbers such as 12 or 0.5, + - * / // (rounds down) % (sign of the divisor), parentheses. Example: 12 * (3 + 4)',
      ),
  }),
  example: { expression: '12 * (3 + 4)' },
  output: z.strictObject({ value: z.number().describe('The result.') }),
  codes: {
    BAD_EXPRESSION: () =>
      'The expression is not arithmetic this tool knows: digits with at most one point, + - * / // %, parentheses. No names, calls, powers, exponents, strings or commas.',
    DIVISION_BY_ZERO: () => 'The expression divides by zero.',
    RESULT_OUT_OF_RANGE: () =>
      'The result is too large to be given exactly: integers up to 9007199254740991 in size, other results below 1000000000000000.',
  },
  effect: 'none',
  risky: false,
  run: async ({ expression }) => {
    const evaluation = evaluate(expression);
    return evaluation.ok
      ? { ok: true, data: { value: evaluation.value } }
      : { ok: false, code: evaluation.code, facts: {} };
  },
});
