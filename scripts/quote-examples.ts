/** `npm run docs:quote`: writes the examples into docs/agents.md as they are now. A test fails while a quotation is another. */
import { readFileSync, writeFileSync } from 'node:fs';
import { withQuotes } from './quotes.ts';

const DOCUMENT = 'docs/agents.md';
const read = (path: string): string => readFileSync(path, 'utf8');

writeFileSync(DOCUMENT, withQuotes(read(DOCUMENT), read));
