/** Distinguishes HTML markup from less-than signs, as an HTML tokenizer does (HTML Standard, "Tokenization"). */

const words = (list: string): string[] => list.split(' ');

/** Elements that break the line, except those that every HTML reader knows. */
export const BLOCKS: readonly string[] = [
  ...words('h1 h2 h3 h4 h5 h6 blockquote ul ol li dl dt dd pre address center table caption tr th td details summary'),
  ...words('fieldset legend option figure figcaption'),
];
const BREAKS: ReadonlySet<string> = new Set([
  ...BLOCKS,
  ...words('article aside body br dialog div footer form header hr html main nav p section tbody tfoot thead title'),
]);
const FORMATTING: ReadonlySet<string> = new Set(words('a b i p q s u'));
const OTHER_ELEMENTS: ReadonlySet<string> = new Set([
  ...words(
    'abbr acronym animate applet area audio base basefont bdi bdo big blink button canvas cite code col colgroup',
  ),
  ...words(
    'data datalist del dfn dir em embed font foreignobject frame frameset head hgroup iframe image img input ins',
  ),
  ...words('isindex kbd keygen label layer link listing map mark marquee math menu meta meter nobr noembed noframes'),
  ...words('noscript object optgroup output param picture plaintext progress rp rt ruby samp script search select set'),
  ...words(
    'slot small source span strike strong style sub sup svg template textarea time track tt var video wbr xml xmp',
  ),
]);

const START = /<(?=[a-z/!?])/gi;
const COMMENT_END = /--!?>/g;
const NAME = /^\/?([a-z]\w*)/i;
/** Attributes that act on any element. */
const ACTIVE_ATTRIBUTE = /\b(?:on\w*|style|href|src)\s*=/i;
/** The left operand of a less-than sign or of type parameters. */
const LEFT_OPERAND = /[\p{L}\p{N}\p{Sc})\]] ?$/u;

/**
 * `markup`: a whole tag, comment or declaration. `comparison` and `type` (`List<String>`): has the form of a tag but
 * names no known element. `open`: an unfinished tag that later text could complete.
 */
type Reading = 'markup' | 'comparison' | 'type' | 'open';

/** Replaces markup as a whole. In anything else that begins like markup, replaces only the `<`. */
export function replaceMarkup(text: string, replace: (reading: Reading, source: string) => string): string {
  let done = '';
  let at = 0;
  for (const { index } of text.matchAll(START)) {
    if (index < at) continue;
    done += text.slice(at, index);
    const end = endOf(text, index);
    const source = text.slice(index, end ?? text.length);
    const reading = readingOf(done, source, end !== null);
    done += replace(reading, source);
    at = index + (reading === 'markup' ? source.length : 1);
  }
  return done + text.slice(at);
}

/** True for a tag that separates words: `one<br>two` is two words, `o<b>n</b>e` is one. */
export const breaksLine = (tag: string): boolean => BREAKS.has(nameOf(tag));

const nameOf = (tag: string): string => NAME.exec(tag.slice(1))?.[1]?.toLowerCase() ?? '';

function readingOf(before: string, source: string, isClosed: boolean): Reading {
  const name = nameOf(source);
  const isElement = name.length > 1 && (BREAKS.has(name) || OTHER_ELEMENTS.has(name));
  const rest = source.slice(1 + name.length, isClosed ? -1 : undefined);
  const isOperand = name !== '' && source[1] !== '/' && LEFT_OPERAND.test(before) && !ACTIVE_ATTRIBUTE.test(rest);
  if (!isClosed) return isOperand && !isElement ? 'comparison' : 'open';
  if (!isOperand || isElement || /["'`=/]|^[-:]/.test(rest)) return 'markup';
  if (/^[\s&|,]+[^\s&|,]/.test(rest)) return 'comparison';
  return before.endsWith(' ') || (rest === '' && FORMATTING.has(name)) ? 'markup' : 'type';
}

/** The end of the markup at `start`, or null if the text ends first. */
function endOf(text: string, start: number): number | null {
  if (text.startsWith('<!--', start)) {
    COMMENT_END.lastIndex = start + 2;
    return COMMENT_END.test(text) ? COMMENT_END.lastIndex : null;
  }
  if (/[a-z]/i.test(text.charAt(start + (text[start + 1] === '/' ? 2 : 1)))) return endOfTag(text, start + 1);
  const end = text.indexOf('>', start);
  return end === -1 ? null : end + 1;
}

/** A `>` ends a tag unless it is in a quoted value; quotes count only after the `=` of an attribute. */
function endOfTag(text: string, start: number): number | null {
  let state: 'name' | 'between' | 'attribute' | 'equals' | 'unquoted' = 'name';
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '>') return at + 1;
    const isSpace = /\s/.test(character);
    if (state === 'equals') {
      if (character === '"' || character === "'") {
        at = text.indexOf(character, at + 1);
        if (at === -1) return null;
        state = 'between';
      } else if (!isSpace) state = 'unquoted';
    } else if (isSpace || (character === '/' && state !== 'unquoted')) {
      if (state !== 'attribute' || character === '/') state = 'between';
    } else if (state === 'attribute' && character === '=') state = 'equals';
    else if (state === 'between') state = 'attribute';
  }
  return null;
}
