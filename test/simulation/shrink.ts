/** Takes out of a failing story whatever it does not need to fail. */
import type { Scenario } from './scenario.ts';

type Fails = (scenario: Scenario) => Promise<boolean>;

/** Rounds of taking out, until one takes out nothing. */
export async function shrink(scenario: Scenario, fails: Fails): Promise<Scenario> {
  let best = scenario;
  for (;;) {
    const before = JSON.stringify(best).length;
    for (const smaller of simplifications(best)) {
      // Made from an earlier best: a part that is gone already is taken out once more for nothing.
      const next = smaller(best);
      if (next !== null && JSON.stringify(next) !== JSON.stringify(best) && (await fails(next))) best = next;
    }
    if (JSON.stringify(best).length >= before) return best;
  }
}

type Simplification = (scenario: Scenario) => Scenario | null;

function simplifications({ clients, operators, disturbances, faults }: Scenario): Simplification[] {
  const without = <T>(items: readonly T[], item: T | undefined): T[] => items.filter((other) => other !== item);
  return [
    (scenario) => (scenario.long ? { ...scenario, long: false } : null),
    (scenario) => ({ ...scenario, operators: [] }),
    (scenario) => ({ ...scenario, disturbances: [] }),
    ...Object.keys(faults).map((kind): Simplification => (scenario) => ({
      ...scenario,
      faults: { ...scenario.faults, [kind]: 0 },
    })),
    ...clients.map((client): Simplification => (scenario) => ({
      ...scenario,
      clients: scenario.clients.filter(({ name }) => name !== client.name),
    })),
    ...operators.map((_, i): Simplification => (scenario) => ({
      ...scenario,
      operators: without(scenario.operators, operators[i]),
    })),
    ...disturbances.map((_, i): Simplification => (scenario) => ({
      ...scenario,
      disturbances: without(scenario.disturbances, disturbances[i]),
    })),
    ...clients.flatMap(({ name, steps }) =>
      steps.map((_, i): Simplification => (scenario) => ({
        ...scenario,
        clients: scenario.clients.map((client) =>
          client.name === name ? { ...client, steps: without(client.steps, steps[i]) } : client,
        ),
      })),
    ),
  ];
}
