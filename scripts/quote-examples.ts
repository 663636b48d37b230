/** `npm run docs:quote`: writes the files that documents quote into them as they are now. A test fails while a quotation is another. */
import { readFileSync, writeFileSync } from 'node:fs';
import { DOCUMENTS, withQuotes } from './quotes.ts';

const read = (path: string): string => readFileSync(path, 'utf8');

for (const document of DOCUMENTS) writeFileSync(document, withQuotes(read(document), read));
