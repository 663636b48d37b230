/**
 * Cleans strings that were written outside before a model or a person reads them
 * (docs/specification.md#what-the-model-reads). A courtesy, not the guard: it
 * makes the usual attacks harmless and text readable, and every stage of the gate holds without it.
 */
import { withoutAddresses } from './addresses.ts';
import { breaksLine, replaceMarkup } from './markup.ts';
import { POSING_PHRASES } from './posing-phrases.ts';
import { reduceToText, type OutsideKind } from './reduce.ts';

const MAX_CHARACTERS = 2_000;
const MAX_PASSES = 5;
const REMOVED = '[removed]';

/**
 * All that Unicode calls "other" (controls, bidirectional and other format characters, tags, halves of pairs, private and
 * unassigned ones) or ignorable (zero widths, soft hyphens, variation selectors, fillers), and the empty Braille cell. Line
 * breaks stay for now: they part words and give Markdown its shape. The price: joined emoji come apart, and Persian loses
 * its joiners.
 */
const UNSEEN = /(?![\t\n\v\f\r\u0085])[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const SPACES = /[\s\u0085]+/g;

/**
 * One line of text: no unseen character, tag, URL, e-mail address or posing phrase, at most `maxCharacters` UTF-16 units.
 * The string is cut before anything reads it, which bounds the time. A pass may uncover what the next must remove (in HTML
 * `&lt;script>` is the text `<script>`), so passes repeat until one changes nothing; a string that keeps changing is
 * `[removed]`. Cleaning a clean string changes nothing.
 */
export function cleanText(value: string, kind: OutsideKind, maxCharacters = MAX_CHARACTERS): string {
  let text = value;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const next = cleanOnce(text.slice(0, maxCharacters), kind);
    if (next === text) return text;
    text = next;
  }
  return REMOVED;
}

function cleanOnce(text: string, kind: OutsideKind): string {
  const line = reduceToText(text.replace(UNSEEN, ''), kind).replace(SPACES, ' ');
  const untagged = withoutMarkup(withoutAddresses(line), kind).replace(SPACES, ' ');
  return POSING_PHRASES.reduce((rest, phrase) => rest.replace(phrase, REMOVED), untagged).trim();
}

/**
 * A `<` that stays gets a space where more text, or another parser, could make a tag of it. In plain text `x<y` stays as it
 * is; what was HTML or Markdown may be read as that again.
 */
const withoutMarkup = (text: string, kind: OutsideKind): string =>
  replaceMarkup(text, (reading, source) => {
    if (reading === 'markup') return breaksLine(source) ? ' ' : '';
    return reading === 'comparison' && kind === 'plain' ? '<' : '< ';
  });
