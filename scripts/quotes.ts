/** Documents quote whole files, each below a comment that names it, so that what is read is what is compiled and run. */
import { globSync } from 'node:fs';

/** Every document of the repository. */
export const DOCUMENTS = ['README.md', ...globSync('docs/**/*.md').toSorted()];

const QUOTE = /^<!-- (?<path>(?:examples|src)\/[\w./-]+) -->\n```ts\n[^]*?^```$/gm;
const CODE = /^```(?:[jt]sx?|javascript|typescript)\b.*\n[^]*?^```$/gm;

/** The document with each quotation as `read` gives that file now. */
export const withQuotes = (document: string, read: (path: string) => string): string =>
  document.replaceAll(QUOTE, (_quote, path: string) => `<!-- ${path} -->\n\`\`\`ts\n${read(path)}\`\`\``);

/** The files that a document quotes. */
export const quotedIn = (document: string): string[] => [...document.matchAll(QUOTE)].map(([, path = '']) => path);

/** The code of a document that is no quotation: nothing would notice that it does not run. */
export const unquotedIn = (document: string): string[] => document.replaceAll(QUOTE, '').match(CODE) ?? [];
