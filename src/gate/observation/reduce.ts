/**
 * Reduces Markdown and HTML to text; scripts, styles and comments lose their content. The result is not clean: decoded
 * entities may be markup again.
 */
import { compile } from 'html-to-text';
import { micromark } from 'micromark';
import { BLOCKS, replaceMarkup } from './markup.ts';

export type OutsideKind = 'plain' | 'markdown' | 'html';

/** Text without link targets, bullets or capitalized headings. */
const compileReader = () =>
  compile({
    wordwrap: false,
    // Without the zero-width space, which must not split a phrase.
    whitespaceCharacters: ' \t\r\n\f',
    selectors: [
      ...BLOCKS.map((selector) => ({ selector, format: 'block' })),
      { selector: 'a', format: 'inline' },
      { selector: 'img', format: 'skip' },
      { selector: 'hr', format: 'lineBreak' },
    ],
  });

/** Compiled on first use: it takes a tenth of the start-up time. */
let htmlText: ReturnType<typeof compileReader> | undefined;

/** Never throws: if a parser throws, the characters that form markup are removed. */
export function reduceToText(value: string, kind: OutsideKind): string {
  if (kind === 'plain') return value;
  try {
    htmlText ??= compileReader();
    return htmlText(kind === 'html' ? value : micromark(withComparisonsApart(value), { allowDangerousHtml: true }));
  } catch {
    return value.replace(/[<>&*_`~#|[\]\\]/g, '');
  }
}

/** Markdown parses `List<String>` and `a <b and c> d` as HTML and would lose text. A space keeps it. */
const withComparisonsApart = (markdown: string): string =>
  replaceMarkup(markdown, (reading, source) => {
    if (reading === 'markup') return source;
    return reading === 'open' ? '<' : '< ';
  });
