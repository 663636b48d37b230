import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rangesOf } from '../../scripts/ranges.ts';

const uidOf = (opened: number): string => `${opened.toString(16).padStart(12, '0')}${'0'.repeat(32)}`;
const timesOf = (text: string | undefined, otherwise: number): number =>
  text === undefined ? otherwise : Date.parse(text);

describe('rangesOf', () => {
  it('divides sessions into parts of about one size', () => {
    const uids = Array.from({ length: 800 }, (_, place) => uidOf(1_000 * place));
    const ranges = rangesOf(uids, 8);
    expect(ranges).toHaveLength(8);
    expect(ranges[3]).toEqual({ from: '1970-01-01T00:05:00.000Z', to: '1970-01-01T00:06:40.000Z' });
  });

  it('holds each moment from the first on in one range, whatever the uids are', () => {
    const opened = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(
        fc.array(opened),
        opened,
        fc.option(opened),
        fc.integer({ min: 1, max: 9 }),
        (times, at, from, parts) => {
          const uids = [...times.map(uidOf), 'uid-1'];
          const ranges = rangesOf(uids, parts, from === null ? {} : { from: new Date(from).toISOString() });
          const holding = ranges.filter((range) => timesOf(range.from, 0) <= at && at < timesOf(range.to, Infinity));
          expect(holding).toHaveLength(at < (from ?? 0) ? 0 : 1);
        },
      ),
    );
  });
});
