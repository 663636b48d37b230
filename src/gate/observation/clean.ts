/**
 * Cleans outside strings before a model or a person reads them (docs/specification.md#what-the-model-reads). Cleaning
 * makes the usual attacks harmless; no stage of the gate depends on it.
 */
import { withoutAddresses } from './addresses.ts';
import { breaksLine, replaceMarkup } from './markup.ts';
import { reduceToText, type OutsideKind } from './reduce.ts';

const MAX_CHARACTERS = 2_000;
const MAX_PASSES = 5;
const REMOVED = '[removed]';

/**
 * Unicode's "other" and ignorable characters, and the empty Braille cell. Line breaks stay for now: they separate words
 * and structure Markdown. The cost: joined emoji come apart, and Persian loses its joiners.
 */
const UNSEEN = /(?![\t\n\v\f\r\u0085])[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const SPACES = /[\s\u0085]+/g;

/** Phrases that pose as instructions, matched after white space is reduced to single spaces. Each must match in linear time. */
const POSING_PHRASES: readonly RegExp[] = [
  /system override/gi,
  /(?:ignore|disregard|forget) (?:(?:all|any|the|your|my|of) ){0,3}(?:previous|prior|above) (?:instructions|directives|rules|prompts)/gi,
];

/**
 * Returns one line without invisible characters, tags, URLs, e-mail addresses and posing phrases, of at most
 * `maxCharacters` UTF-16 units. Cutting the string first bounds the time. One pass may uncover markup for the next
 * (`&lt;script>` becomes `<script>`), so passes repeat until nothing changes; a string that keeps changing becomes
 * `[removed]`.
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
 * Puts a space after a remaining `<` if more text, or another parser, could make a tag of it. In plain text `x<y`
 * stays; text from HTML or Markdown may be parsed as markup again.
 */
const withoutMarkup = (text: string, kind: OutsideKind): string =>
  replaceMarkup(text, (reading, source) => {
    if (reading === 'markup') return breaksLine(source) ? ' ' : '';
    return reading === 'comparison' && kind === 'plain' ? '<' : '< ';
  });
