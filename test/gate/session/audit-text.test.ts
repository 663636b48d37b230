import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength } from '../../../src/gate/canonical.ts';
import { auditText } from '../../../src/gate/session/audit-text.ts';

describe('auditText', () => {
  it('keeps text as it was written, and writes anything else as JSON', () => {
    expect(auditText(' {"a" : 1.0}')).toBe(' {"a" : 1.0}');
    expect(auditText('')).toBe('');
    expect(auditText({ b: 1, a: ['<é>'] })).toBe('{"b":1,"a":["<é>"]}');
    expect([null, true, 2590, [1]].map(auditText)).toEqual(['null', 'true', '2590', '[1]']);
    expect(auditText(undefined)).toBeNull();
  });

  it('escapes controls, line separators and halves of pairs, and nothing else', () => {
    expect(auditText('\u0000\n\u001b\u007f\u009f\u2028\u2029')).toBe(
      String.raw`\u0000\u000a\u001b\u007f\u009f\u2028\u2029`,
    );
    expect(auditText('\ud83d\ude00\ud83d-\ude00\ud83d\ud83d\ude00')).toBe(`😀${String.raw`\ud83d-\ude00\ud83d`}😀`);
    expect(auditText('\u00a0\\ud83d')).toBe('\u00a0\\ud83d');
  });

  it.each([
    ['a', 1],
    ['é', 2],
    ['€', 3],
    ['😀', 4],
    ['\ud83d', 6],
  ])('is at most 4,096 bytes, cut before the %j that has no room', (character, bytes) => {
    for (const before of [0, 1, 2, 3, 4]) {
      const text = auditText('x'.repeat(before) + character.repeat(5_000)) ?? '';
      expect(byteLength(text)).toBe(before + Math.floor((4_096 - before) / bytes) * bytes);
    }
  });

  it('takes no half of a pair that stood whole at the cut', () => {
    expect(auditText(`${'x'.repeat(4_095)}😀`)).toBe('x'.repeat(4_095));
    expect(auditText(`${'x'.repeat(4_092)}😀`)).toBe(`${'x'.repeat(4_092)}😀`);
  });

  it('is well formed, without controls, and the beginning of what was written', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 3_000 });
    fc.assert(
      fc.property(anyText, fc.nat(5_000), (text, padding) => {
        const kept = auditText('x'.repeat(padding) + text) ?? '';
        expect(kept.isWellFormed()).toBe(true);
        expect(kept).not.toMatch(/\p{Cc}/u);
        expect(byteLength(kept)).toBeLessThanOrEqual(4_096);
        expect(auditText(kept)).toBe(kept);
      }),
      { numRuns: 300 },
    );
  });
});
