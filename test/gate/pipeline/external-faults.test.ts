/** Every fault between the gate and another system, for every class of recipe, in a call, a decision and the alarm. */
import { describe, expect, it } from 'vitest';
import { CLASSES, ShopApi, toolOf, VARIABLES } from '../../support/external-tool.ts';
import { FAULTS, meetFault, MOMENTS, type FaultRun } from '../../support/fault-run.ts';

const runOf = (kind: (typeof CLASSES)[number]): FaultRun => ({
  tool: toolOf(kind),
  arguments: { card: 'card-1', amount_cents: 2_500 },
  variables: VARIABLES,
  double: () => {
    const api = new ShopApi(() => Date.now());
    return { handle: (request) => api.serve(request), effects: () => api.effects.length };
  },
});

describe.each(CLASSES)('a backend with %s', (kind) => {
  describe.each(MOMENTS)('in %s', (moment) => {
    it.each(Object.keys(FAULTS))('makes one effect at most where the request %s', async (fault) => {
      await meetFault(runOf(kind), fault, moment);
    });
  });
});

describe('an answer that is lost', () => {
  it('is settled by itself within 30 seconds, with one key and the same bytes', async () => {
    const run = await meetFault(runOf('key only'), 'is done, and its answer lost', 'a call');
    expect(run.settledAfterMs).toBeLessThan(30_000);
    expect(new Set(run.sent.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(run.effects).toBe(1);
  });
});
