/** Documents quote whole files, each below a comment that names it, so that what is read is what is compiled and run. */

/** The documents that do. */
export const QUOTING = ['README.md', 'docs/agents.md'];

const QUOTE = /^<!-- (?<path>(?:examples|src)\/[\w./-]+) -->\n```ts\n[^]*?^```$/gm;

/** The document with each quotation as `read` gives that file now. */
export const withQuotes = (document: string, read: (path: string) => string): string =>
  document.replaceAll(QUOTE, (_quote, path: string) => `<!-- ${path} -->\n\`\`\`ts\n${read(path)}\`\`\``);
