/**
 * `npm run simulate -- [--seeds N] [--from N] [--resume FILE]` runs seeds over all cores and says which broke what;
 * `npm run simulate -- --seed N` tells one seed's story, twice, and shrinks it where it breaks something.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Failed, Span } from './shard.ts';
import { cores, runJob, spansOf } from './shards.ts';
import { tellStory } from './story.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    /** Keeps what is done in a file, so that a long run can be interrupted. */
    resume: { type: 'string' },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function numberIn(name: 'seeds' | 'from' | 'seed'): number {
  const number = Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} takes a number from 1 on.`);
  return number;
}

if (values.seed !== undefined) process.exitCode = (await tellStory(numberIn('seed'), print)) ? 0 : 1;
else process.exitCode = await runAll(numberIn('from'), numberIn('seeds'), values.resume);

type Kept = { done: [number, number][]; failed: Failed[] };

async function runAll(from: number, seeds: number, file: string | undefined): Promise<number> {
  const kept: Kept =
    file !== undefined && existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8')) as Kept)
      : { done: [], failed: [] };
  // A span that is done in part is done again as a whole.
  const isDone = (span: Span): boolean => kept.done.some(([first, last]) => first <= span.from && span.to <= last);
  const spans = spansOf(from, from + seeds - 1).filter((span) => !isDone(span));
  const began = process.hrtime.bigint();
  const seconds = (): number => Number(process.hrtime.bigint() - began) / 1e9;
  let [run, events, http, told] = [0, 0, 0, 0];
  print(`${seeds} seeds from ${from}, ${cores()} processes`);
  await runJob({
    spans,
    ended(result) {
      run += result.to - result.from + 1;
      [events, http] = [events + result.events, http + result.http];
      kept.done.push([result.from, result.to]);
      const isKnown = ({ seed, rule }: Failed): boolean =>
        kept.failed.some((failed) => failed.seed === seed && failed.rule === rule);
      kept.failed.push(...result.failed.filter((failed) => !isKnown(failed)));
      for (const { seed, rule, text } of result.failed) print(`seed ${seed}: ${rule}: ${text}`);
      if (file !== undefined) writeFileSync(file, JSON.stringify(kept));
      if (seconds() - told > 30) {
        told = seconds();
        print(`${run} seeds in ${told.toFixed(0)} s, ${kept.failed.length} failed`);
      }
      return false;
    },
  });
  const rate = run === 0 ? 0 : (seconds() * 1_000 * cores()) / run;
  print(
    `${run} seeds in ${seconds().toFixed(0)} s (${rate.toFixed(1)} ms a seed and core), ${events} events, ${http} seeds over HTTP, ${kept.failed.length} failed`,
  );
  const [first] = kept.failed;
  if (first !== undefined) await tellStory(first.seed, print);
  return kept.failed.length === 0 ? 0 : 1;
}
