import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { QUOTING, withQuotes } from '../../scripts/quotes.ts';

const read = (path: string): string => readFileSync(path, 'utf8');

describe.each(QUOTING)('%s', (path) => {
  it('quotes files as they are (npm run docs:quote)', () => {
    const document = read(path);
    expect(withQuotes(document, read)).toBe(document);
    expect(withQuotes(document, () => 'other\n')).not.toBe(document);
  });
});
