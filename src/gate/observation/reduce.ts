/**
 * Reduces Markdown and HTML to their text; scripts, styles and comments go with their content. What comes out is not yet
 * clean: entities have become the characters they stand for, which may be markup again.
 */
import { compile } from 'html-to-text';
import { micromark } from 'micromark';
import { BLOCKS, replaceMarkup } from './markup.ts';

export type OutsideKind = 'plain' | 'markdown' | 'html';

/** Text alone: no link targets, no bullets, no capitals for headings. */
const compileReader = () =>
  compile({
    wordwrap: false,
    // The zero-width space is no space here: it must not part a phrase.
    whitespaceCharacters: ' \t\r\n\f',
    selectors: [
      ...BLOCKS.map((selector) => ({ selector, format: 'block' })),
      { selector: 'a', format: 'inline' },
      { selector: 'img', format: 'skip' },
      { selector: 'hr', format: 'lineBreak' },
    ],
  });

/** Compiled with the first text that needs it: it would take a tenth of every start. */
let htmlText: ReturnType<typeof compileReader> | undefined;

/** Never throws: where a parser does, the string comes back without the characters that markup is made of. */
export function reduceToText(value: string, kind: OutsideKind): string {
  if (kind === 'plain') return value;
  try {
    htmlText ??= compileReader();
    return htmlText(kind === 'html' ? value : micromark(withComparisonsApart(value), { allowDangerousHtml: true }));
  } catch {
    return value.replace(/[<>&*_`~#|[\]\\]/g, '');
  }
}

/** Markdown takes `List<String>` and `a <b and c> d` for HTML, which loses its tags. A space keeps them. */
const withComparisonsApart = (markdown: string): string =>
  replaceMarkup(markdown, (reading, source) => {
    if (reading === 'markup') return source;
    return reading === 'open' ? '<' : '< ';
  });
