/** Spreads spans of seeds over processes, one a core. */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Replacement } from './planted/bug.ts';
import type { Span, SpanResult } from './shard.ts';

const SHARD = `${import.meta.dirname}/shard.ts`;
const LOADER = `${import.meta.dirname}/loader.ts`;

/** Many short spans keep all cores busy to the end, and an interrupted run loses little. */
const SPAN_SEEDS = 250;

export type Job = {
  spans: Span[];
  planted?: Replacement[];
  processes?: number;
  /** Told of each span as it ends; `true` ends the job early. */
  ended(result: SpanResult): boolean;
};

export const cores = (): number => availableParallelism();

export function spansOf(from: number, to: number, stopAtFirst = false): Span[] {
  const spans: Span[] = [];
  for (let start = from; start <= to; start += SPAN_SEEDS)
    spans.push({ from: start, to: Math.min(to, start + SPAN_SEEDS - 1), stopAtFirst });
  return spans;
}

/**
 * Does every span. A process that dies (a machine short of memory kills some) has its span done again by a new one; a span
 * that kills two rejects, because a run that skipped seeds must not look like one that passed.
 */
export async function runJob({ spans, planted = [], processes = cores(), ended }: Job): Promise<void> {
  const rest = [...spans];
  const killers = new Set<Span>();
  const stopped = (): boolean => rest.length === 0;
  const one = async (): Promise<void> => {
    while (!stopped()) {
      const died = await runProcess(rest, planted, (result) => {
        if (ended(result)) rest.length = 0;
      });
      if (died === null) return;
      if (died.span === null || killers.has(died.span)) throw new Error(`a process of the run died with ${died.why}`);
      killers.add(died.span);
      rest.unshift(died.span);
    }
  };
  await Promise.all(Array.from({ length: Math.min(processes, spans.length) }, one));
}

type Death = { span: Span | null; why: string };

/** One process, until no span is left; or which span it died of. */
function runProcess(rest: Span[], planted: Replacement[], ended: (result: SpanResult) => void): Promise<Death | null> {
  const env = { ...process.env, SIMULATION_PLANTED: JSON.stringify(planted) };
  // A world's objects die young: with room for them the collector costs a fifth less of the run.
  const collector = '--max-semi-space-size=64';
  const execArgv = [
    '--import',
    LOADER,
    collector,
    '--disable-warning=DEP0204',
    '--disable-warning=ExperimentalWarning',
  ];
  const child = fork(SHARD, { execArgv, env });
  let span: Span | null = null;
  child.on('message', (message: 'ready' | SpanResult) => {
    if (message !== 'ready') ended(message);
    span = rest.shift() ?? null;
    if (span === null) child.disconnect();
    else child.send(span);
  });
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve(code === 0 ? null : { span, why: String(code ?? signal) }));
  });
}
