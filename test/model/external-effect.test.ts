/** The model of effects in other systems at small bounds; `npm run model` searches it whole. */
import { describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';
import { CONFIGS, explore, PLANTED } from './external-effect.mjs';

/** One call, one death, one fault of each kind, and in `npm test` the nearest states alone: seconds instead of minutes. */
const SMALL = { calls: 1, crashes: 1, net: 1, d1: 1, maxStates: isWhole ? 300_000 : 10_000, secs: 20 };

describe('the design', () => {
  it.each(CONFIGS.map(({ name, cfg = {} }) => [name, cfg] as const))('breaks no invariant: %s', (name, cfg) => {
    const { violations, states } = explore({ name, cfg: { ...cfg, ...SMALL } });
    expect(violations.map(({ id, why }) => `${id}: ${why}`)).toEqual([]);
    expect(states).toBeGreaterThan(100);
  });
});

/** Of the mistakes that `npm run test:whole` looks for. */
const SAMPLE = /pause|approved action|asked again|void leaves|judged afresh|at once/;

describe('a mistake in the design', () => {
  const due = PLANTED.filter(({ expect: id = '', name }) => id !== '' && (isWhole || SAMPLE.test(name)));
  it.each(due.map((plant) => [plant.name, plant] as const))('is found: %s', (_name, plant) => {
    const found = explore({ ...plant, cfg: { maxStates: 3_000_000, ...plant.cfg } }).violations.map(({ id }) => id);
    expect(
      found.some((id) => new RegExp(`^(?:${plant.expect ?? ''})`).test(id)),
      found.join(),
    ).toBe(true);
  });
});
