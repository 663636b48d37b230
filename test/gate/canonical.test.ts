import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength, canonicalJson, hashOf, sha256Hex } from '../../src/gate/canonical.ts';
import { type JsonValue, parseStrictJson } from '../../src/gate/json.ts';
import { describeCorpus } from '../support/corpora.ts';

/** What the reader makes of `text`, the only source of values here. */
function read(text: string): JsonValue {
  const reading = parseStrictJson(text);
  if (!reading.ok) throw new Error(reading.reason);
  return reading.value;
}

describe('canonicalJson', () => {
  it('sorts names by UTF-16 unit and writes numbers in their shortest form', () => {
    expect(canonicalJson({ '\ufb33': 1, '😀': 2, b: [1e21, -0, 1.5], a: {} })).toBe(
      '{"a":{},"b":[1e+21,0,1.5],"😀":2,"\ufb33":1}',
    );
  });

  it('keeps __proto__ and toJSON as the names they are', () => {
    expect(canonicalJson(read('{"toJSON":"x","__proto__":{"b":1,"a":2}}'))).toBe(
      '{"__proto__":{"a":2,"b":1},"toJSON":"x"}',
    );
  });

  it('throws on half a surrogate pair, which has no UTF-8 to hash', () => {
    expect(() => canonicalJson(['\ud83d'])).toThrow('surrogate');
    expect(() => canonicalJson({ '\ude00': 1 })).toThrow('surrogate');
  });

  it('is stable: reading it and writing it again changes nothing', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const canonical = canonicalJson(read(text));
        expect(canonicalJson(read(canonical))).toBe(canonical);
      }),
    );
  });
});

describe('sha256Hex', () => {
  it('hashes the UTF-8 of the text', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256Hex('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
  });
});

describe('hashOf', () => {
  it('gives equal values one hash and a number and its text two', () => {
    expect(hashOf(read('{"a":2590.0,"b":1}'))).toBe(hashOf(read('{"b":1,"a":2590}')));
    expect(hashOf(['1'])).not.toBe(hashOf([1]));
    expect(hashOf(['a', 'b'])).not.toBe(hashOf(['ab']));
  });

  it('is the hash of the canonical text', () => {
    expect(hashOf({ b: 1, a: 2 })).toBe(sha256Hex('{"a":2,"b":1}'));
  });
});

describe('byteLength', () => {
  it('counts UTF-8, not characters', () => {
    expect([byteLength(''), byteLength('a'), byteLength('é'), byteLength('😀')]).toEqual([0, 1, 2, 4]);
  });
});

describeCorpus('jcs/input', (inputs) => {
  describeCorpus('jcs/output', (outputs) => {
    it.each(inputs.names)('%s', (name) => {
      expect(canonicalJson(read(inputs.text(name)))).toBe(outputs.text(name));
    });
  });
});
