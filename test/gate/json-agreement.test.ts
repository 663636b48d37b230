import { parse as momoa } from '@humanwhocodes/momoa';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson } from '../../src/gate/json.ts';
import { describeCorpus } from '../support/corpora.ts';
import { isWhole } from '../support/whole.ts';

/** What mangled JSON is made of, besides blanks. */
const fragments =
  String.raw`{ } [ ] , : " \ / 0 1 - . e E u + a {"a":1} "a": "b":[ "\u0061": // true null 1.5 1e400 1e-400
  "\ud83d\ude00" "\udc00"`.split(/\s+/);

describe('parseStrictJson beside other readers', () => {
  it('agrees with JSON.parse on all that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
        expect(parseStrictJson(text)).toStrictEqual({ ok: true, value: JSON.parse(text) as unknown });
      }),
    );
  });

  it('accepts a mangled text exactly when two other readers agree that it is flawless', () => {
    const piece = fc.constantFrom(' ', '\n', '\ufeff', ...fragments);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        expect(parseStrictJson(text).ok).toBe(isFlawless(text));
      }),
      { numRuns: isWhole ? 20_000 : 2_000 },
    );
  });
});

describeCorpus('json-test-suite/test_parsing', (parsing) => {
  const beginningWith = (prefix: string) => parsing.names.filter((name) => name.startsWith(prefix));

  it.each(beginningWith('y_'))('%s', (name) => {
    const text = parsing.text(name);
    const expected = name.includes('duplicated_key') ? { ok: false } : { ok: true, value: JSON.parse(text) as unknown };
    expect(parseStrictJson(text)).toMatchObject(expected);
  });

  it.each(beginningWith('n_'))('%s', (name) => {
    expect(parseStrictJson(parsing.text(name)).ok).toBe(false);
  });

  it.each(beginningWith('i_'))('%s', (name) => {
    const text = parsing.text(name);
    const isLeftToTheSchema = /^i_number_(too_big|very_big)/.test(name);
    // Broken UTF-8 is for the reader of bytes to refuse; replaced by U+FFFD, such a string is whole.
    const isMadeWhole = text.includes('\ufffd') && isFlawless(text);
    expect(parseStrictJson(text).ok).toBe(isLeftToTheSchema || isMadeWhole);
  });
});

describeCorpus('json-test-suite/test_transform', (transform) => {
  it.each(transform.names)('%s', (name) => {
    const text = transform.text(name);
    expect(parseStrictJson(text)).toMatchObject(
      isFlawless(text) ? { ok: true, value: JSON.parse(text) as unknown } : { ok: false },
    );
  });
});

/** The verdict of JSON.parse and of Momoa's syntax tree, put together from what each is good at. */
function isFlawless(text: string): boolean {
  if (/^\ufeff|\p{Surrogate}/u.test(text)) return false;
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  return isFlawlessNode(momoa(text).body, text);
}

function isFlawlessNode(node: ReturnType<typeof momoa>['body'], text: string): boolean {
  if (node.type === 'Array') return node.elements.every(({ value }) => isFlawlessNode(value, text));
  if (node.type === 'Object') {
    const names = node.members.map(({ name }) => (name.type === 'String' ? name.value : name.name));
    const distinct = new Set(names).size === names.length;
    return (
      distinct &&
      names.every((name) => name.isWellFormed()) &&
      node.members.every(({ value }) => isFlawlessNode(value, text))
    );
  }
  if (node.type === 'String') return node.value.isWellFormed();
  if (node.type !== 'Number') return true;
  const literal = text.slice(node.loc.start.offset, node.loc.end.offset);
  return Number.isFinite(node.value) && (!Number.isInteger(node.value) || isIntegerExactly(literal));
}

/** By big integers instead of counting zeros; a power beyond the length of any mantissa here divides only zero. */
function isIntegerExactly(literal: string): boolean {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', decimals = ''] = mantissa.split('.');
  const shift = Number(exponent) - decimals.length;
  return shift >= 0 || BigInt(whole + decimals) % 10n ** BigInt(Math.min(-shift, 1000)) === 0n;
}
