import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withQuotes } from '../../scripts/quotes.ts';

const read = (path: string): string => readFileSync(path, 'utf8');

describe('docs/agents.md', () => {
  it('quotes the examples as they are (npm run docs:quote)', () => {
    const document = read('docs/agents.md');
    expect(withQuotes(document, read)).toBe(document);
    expect(withQuotes(document, () => 'other\n')).not.toBe(document);
  });
});
