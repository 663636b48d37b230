/** One process of a run: takes spans of seeds from its parent and tells what each of them broke. */
import './platform.ts';
import { scenarioOf } from './generate.ts';

// Faults are errors by the million; whoever tells the story of a seed has their stacks.
Error.stackTraceLimit = 0;

const { run } = await import('./run.ts');

export type Span = { from: number; to: number; stopAtFirst: boolean };
export type Failed = { seed: number; rule: string; text: string };
export type SpanResult = { from: number; to: number; failed: Failed[]; events: number; http: number };

process.on('message', (span: Span) => void work(span));

async function work({ from, to, stopAtFirst }: Span): Promise<void> {
  const failed: Failed[] = [];
  let [events, http, firstHash] = [0, 0, ''];
  for (let seed = from; seed <= to; seed += 1) {
    const scenario = scenarioOf(seed);
    const result = await run(scenario);
    if (seed === from) firstHash = result.hash;
    events += result.events;
    http += scenario.http ? 1 : 0;
    const [first] = result.violations;
    if (first !== undefined) failed.push({ seed, rule: first.rule, text: first.text });
    if (first !== undefined && stopAtFirst) break;
  }
  // Another place in another order of worlds: what a world leaves behind must not show in the next.
  const [once, again] = [await run(scenarioOf(from)), await run(scenarioOf(from))];
  if (once.hash !== firstHash || again.hash !== firstHash)
    failed.push({ seed: from, rule: 'no-replay', text: `${firstHash}, then ${once.hash} and ${again.hash}` });
  process.send?.({ from, to, failed, events, http } satisfies SpanResult);
}
process.on('disconnect', () => process.exit());
process.send?.('ready');
