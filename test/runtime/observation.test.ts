import { describe, expect, it } from 'vitest';
import { cleanText } from '../../src/gate/observation/clean.ts';

// Both parsers also ship builds for browsers, which need a document; workerd has none.
describe('cleanText in workerd', () => {
  it.each([
    ['html', '<p>&copy; &AMP; <b>x</b></p><script>y</script>'],
    ['markdown', '&copy; &AMP; **x**\n\n<script>y</script>'],
  ] as const)('parses %s and its named entities', (kind, value) => {
    expect(cleanText(value, kind)).toBe('© & x');
  });
});
