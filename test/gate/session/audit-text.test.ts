import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength, canonicalJson } from '../../../src/gate/canonical.ts';
import type { JsonObject } from '../../../src/gate/json.ts';
import { readArguments } from '../../../src/gate/pipeline/stages/2-parse.ts';
import { auditText, hasRoom } from '../../../src/gate/session/audit-text.ts';

const textOf = (raw: unknown) => auditText(raw, readArguments(raw));
/** Of what is no JSON object. */
const keptOf = (raw: string): string => auditText(raw, { ok: false, reason: 'no' })?.kept ?? '';

describe('auditText', () => {
  it('writes what parses as RFC 8785 text, and keeps anything else as it was written', () => {
    for (const written of [' {"b" : 1.0,\n"a":["<é>"]}', '{"a":["<é>"],"b":1}', { b: 1, a: ['<é>'] }])
      expect(textOf(written)).toMatchObject({ whole: '{"a":["<é>"],"b":1}', kept: '{"a":["<é>"],"b":1}' });
    expect(textOf('')?.whole).toBe('{}');
    expect(textOf(' {"a" : 1,}')?.whole).toBe(' {"a" : 1,}');
    expect([null, true, 2590, [1]].map((raw) => textOf(raw)?.whole)).toEqual(['null', 'true', '2590', '[1]']);
    expect(textOf(undefined)).toBeNull();
  });

  it('leaves no trace of blanks around and within arguments that parse', () => {
    const padded = `{"amount_cents":${' '.repeat(8_000)}2590}${' '.repeat(8_000)}`;
    expect(textOf(padded)).toEqual({ whole: '{"amount_cents":2590}', kept: '{"amount_cents":2590}', bytes: 21 });
  });

  it('escapes controls, line separators and halves of pairs, and nothing else', () => {
    expect(keptOf('\u0000\n\u001b\u007f\u009f\u2028\u2029')).toBe(
      String.raw`\u0000\u000a\u001b\u007f\u009f\u2028\u2029`,
    );
    expect(keptOf('\ud83d\ude00\ud83d-\ude00\ud83d\ud83d\ude00')).toBe(`😀${String.raw`\ud83d-\ude00\ud83d`}😀`);
    expect(keptOf('\u00a0\\ud83d')).toBe('\u00a0\\ud83d');
  });

  it.each([
    ['a', 1],
    ['é', 2],
    ['€', 3],
    ['😀', 4],
    ['\ud83d', 6],
  ])('keeps at most 4,096 bytes, cut before the %j that has no room', (character, bytes) => {
    for (const before of [0, 1, 2, 3, 4]) {
      const text = keptOf('x'.repeat(before) + character.repeat(5_000));
      expect(byteLength(text)).toBe(before + Math.floor((4_096 - before) / bytes) * bytes);
    }
  });

  it('takes no half of a pair that stood whole at the cut', () => {
    expect(keptOf(`${'x'.repeat(4_095)}😀`)).toBe('x'.repeat(4_095));
    expect(keptOf(`${'x'.repeat(4_092)}😀`)).toBe(`${'x'.repeat(4_092)}😀`);
  });

  it('is well formed, without controls, and keeps the beginning of the whole', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 3_000 });
    fc.assert(
      fc.property(anyText, fc.nat(5_000), (text, padding) => {
        const {
          whole = '',
          kept = '',
          bytes,
        } = auditText('x'.repeat(padding) + text, { ok: false, reason: 'no' }) ?? {};
        expect(whole.isWellFormed()).toBe(true);
        expect(whole).not.toMatch(/\p{Cc}/u);
        expect(whole.startsWith(kept)).toBe(true);
        expect(bytes).toBe(byteLength(kept));
        expect(bytes).toBeLessThanOrEqual(4_096);
        expect(keptOf(kept)).toBe(kept);
      }),
      { numRuns: 300 },
    );
  });

  it('is the same value as what was written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const { whole = '' } = textOf(value) ?? {};
        expect(canonicalJson(JSON.parse(whole) as JsonObject)).toBe(canonicalJson(value as JsonObject));
      }),
      { numRuns: 100 },
    );
  });
});

describe('hasRoom', () => {
  it('lets a session keep 256 KiB of arguments', () => {
    const text = { whole: 'x'.repeat(4_096), kept: 'x'.repeat(4_096), bytes: 4_096 };
    expect(hasRoom(63 * 4_096, text)).toBe(true);
    expect(hasRoom(63 * 4_096 + 1, text)).toBe(false);
  });
});
