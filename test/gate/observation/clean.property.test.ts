import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText } from '../../../src/gate/observation/clean.ts';
import { flawsIn } from '../../support/clean-text.ts';
import { isWhole } from '../../support/whole.ts';

const KINDS = ['plain', 'markdown', 'html'] as const;

/** Pieces of what is removed, in any order, so that removing one may make another. */
const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(
      '<',
      '>',
      '</',
      '<b',
      '<!--',
      '-->',
      '<script>',
      '</script>',
      '&lt;',
      '&amp;',
      '&#8203;',
      '&#64;',
      '"',
      "'",
    ),
    fc.constantFrom(
      'http',
      's://',
      ':',
      '//',
      'www.',
      '@',
      '.',
      'a',
      'b.co',
      '/',
      'javascript:',
      'mailto:',
      'data:',
      'text/',
    ),
    fc.constantFrom(
      'system',
      ' ',
      'override',
      'ignore',
      'all',
      'previous',
      'instructions',
      '[link]',
      '[removed]',
      '\n',
      '\t',
    ),
    fc.constantFrom(
      '\u200b',
      '\u00ad',
      '\u202e',
      '\u{e0041}',
      '\ufe0f',
      '\u0000',
      '\ud83d',
      '\ude00',
      '\u2028',
      '\u0085',
      '\u3000',
    ),
    fc.constantFrom('*', '_', '`', '#', '- ', '1. ', '> ', '[', ']', '(', ')', '![', '\\', '~', '|', '---'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  ),
  { maxLength: 30 },
);
const hostile = pieces.map((parts) => parts.join(''));

describe('cleanText', () => {
  describe.each(KINDS)('of any %s', (kind) => {
    const runs = { numRuns: (kind === 'plain' ? 5_000 : 1_500) / (isWhole ? 1 : 10) };

    it('lets no unseen character, tag, address or posing phrase through', () => {
      fc.assert(
        fc.property(hostile, (value) => {
          expect(flawsIn(cleanText(value, kind), kind)).toEqual([]);
        }),
        runs,
      );
    });

    it('changes nothing the second time and keeps to its limit', () => {
      fc.assert(
        fc.property(hostile, fc.integer({ min: 9, max: 80 }), (value, limit) => {
          const cleaned = cleanText(value, kind, limit);
          expect(cleanText(cleaned, kind, limit)).toBe(cleaned);
          expect(cleaned.length).toBeLessThanOrEqual(limit);
        }),
        runs,
      );
    });

    it('leaves words alone', () => {
      const words = fc.array(fc.stringMatching(/^[a-zA-Zäöüéñ0-9]{1,12}$/), { minLength: 1, maxLength: 20 });
      fc.assert(
        fc.property(words, (parts) => {
          const text = parts.join(' ');
          expect(cleanText(text, kind)).toBe(text);
        }),
        { numRuns: 300 },
      );
    });

    it.each([
      ...['<', '>', '<a ', '<!--', '<b>', '</b>', '<table><tr><td>', '&', '&amp;', '&#x200b;'],
      ...[
        '[',
        '*a ',
        'a**b',
        '**x*',
        '_',
        '`a``b```',
        '> ',
        '- ',
        '- a\n',
        '1. ',
        '[a](b)',
        '![](',
        '[a]: b\n',
        '\\',
        '\n',
      ],
      ...[
        'a',
        'a.',
        'a-',
        'a@',
        'a@b.',
        'a@b.c ',
        'http:',
        '/',
        '//a',
        '.aaaaaaaaaaaaaaaaaaaaaaaa',
        ' ',
        'ignore ',
        '\u200b',
      ],
      ...['***a***', '*_[`<!', '<a href="', '~~~', '[[[]]]('],
    ])('answers 2,000 characters of %j within a second', (piece) => {
      const started = performance.now();
      cleanText(piece.repeat(Math.ceil(2_000 / piece.length)), kind);
      expect(performance.now() - started).toBeLessThan(1_000);
    });
  });

  it('reads no more of a long string than its limit', () => {
    const started = performance.now();
    expect(cleanText('*a '.repeat(1_000_000), 'markdown').length).toBeLessThanOrEqual(2_000);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
