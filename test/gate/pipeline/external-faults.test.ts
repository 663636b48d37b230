/** Every fault between the gate and another system, for every class of recipe, in a call, a decision and the alarm. */
import { describe } from 'vitest';
import { CLASSES, ShopApi, toolOf, VARIABLES } from '../../support/external-tool.ts';
import { testFaults } from '../../support/fault-run.ts';

describe.each(CLASSES)('a backend with %s', (kind) => {
  testFaults({
    tool: toolOf(kind),
    arguments: { card: 'card-1', amount_cents: 2_500 },
    variables: VARIABLES,
    double: () => {
      const api = new ShopApi(() => Date.now());
      return { handle: (request) => api.serve(request), effects: () => api.effects.length };
    },
  });
});
