/** What the documents show of a call: the registered tools bring the examples, since the gate knows no tool by name. */
import type { JsonObject } from '../../json.ts';
import { toOutcome, type Outcome } from '../../outcome.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Registry } from '../../tool/registry.ts';

/** A call as an agent proposes it; of the first tool that only reads and declares an example, if there is one. */
export function exampleCall({ tools }: Registry): { tool: string; arguments: JsonObject } {
  const tool = tools.find(({ effect, example }) => effect === 'none' && example !== null) ?? tools[0];
  return { tool: tool?.name ?? '…', arguments: tool?.example ?? {} };
}

/** One good and one refused answer, written by what writes all of them. */
export function exampleOutcomes(registry: Registry): [Outcome, Outcome] {
  const { tool } = exampleCall(registry);
  const ok = { ok: true, replayed: false, data: { '…': '…' } } as const;
  const refused = { ok: false, refusal: { code: 'TOOL_NOT_ALLOWED' } } as const;
  return [
    toOutcome({ call_id: 'call_1', tool, step: 1 }, ok),
    toOutcome({ call_id: 'call_2', tool, step: 2 }, refused),
  ];
}

/** The outcomes as a provider's next request takes them. */
export const resultsOf = (provider: Provider, outcomes: Outcome[]): string =>
  outcomes
    .map(({ ok, call_id: id, tool: name }) =>
      JSON.stringify(provider.result({ id, name, arguments: {}, echo: {} }, { ok, text: ok ? '…' : '(refused) …' })),
    )
    .join('\n');
