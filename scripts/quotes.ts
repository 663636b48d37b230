/** Documents quote whole files of examples/, each below a comment that names it, so that what is read is what is compiled and run. */

const QUOTE = /^<!-- (?<path>examples\/[\w./-]+) -->\n```ts\n[^]*?^```$/gm;

/** The document with each quotation as `read` gives that file now. */
export const withQuotes = (document: string, read: (path: string) => string): string =>
  document.replaceAll(QUOTE, (_quote, path: string) => `<!-- ${path} -->\n\`\`\`ts\n${read(path)}\`\`\``);
