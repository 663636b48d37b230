import { describe, expect, it } from 'vitest';
import { readVariables } from '../../scripts/variables.ts';

describe('--var', () => {
  it('takes NAME=VALUE, any number of times', () => {
    expect(readVariables(['A=1', 'SHOP_ORIGIN=http://127.0.0.1:9000/?a=b'])).toEqual({
      A: '1',
      SHOP_ORIGIN: 'http://127.0.0.1:9000/?a=b',
    });
  });

  it.each(['A', 'A=', '=1', 'a=1', 'A B=1', 'PUBLIC_URL=http://elsewhere.test'])(
    'refuses %j, and says what to write',
    (pair) => {
      expect(() => readVariables([pair])).toThrow('--var takes NAME=VALUE');
    },
  );
});
