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

/** Rejects if a process dies: a run that skipped seeds must not look like one that passed. */
export async function runJob({ spans, planted = [], processes = cores(), ended }: Job): Promise<void> {
  const rest = [...spans];
  let stopped = false;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const env = { ...process.env, SIMULATION_PLANTED: JSON.stringify(planted) };
      const child = fork(SHARD, {
        execArgv: ['--import', LOADER, '--disable-warning=DEP0204', '--disable-warning=ExperimentalWarning'],
        env,
      });
      const next = (): void => {
        const span = stopped ? undefined : rest.shift();
        if (span === undefined) child.disconnect();
        else child.send(span);
      };
      child.on('message', (message: 'ready' | SpanResult) => {
        if (message !== 'ready' && ended(message)) stopped = true;
        next();
      });
      child.on('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`a process of the run died with ${code ?? 'a signal'}`)),
      );
    });
  await Promise.all(Array.from({ length: Math.min(processes, spans.length) }, one));
}
