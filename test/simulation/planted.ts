/** `npm run simulate:planted [-- NAME]`: every planted bug must be caught within 20,000 seeds, as many as `npm run simulate` plays. Says which seed caught which. */
import type { PlantedBug } from './planted/bug.ts';
import { EXTERNAL_BUGS } from './planted/external.ts';
import { FURTHER } from './planted/further.ts';
import { NAMED } from './planted/named.ts';
import type { Failed, SpanResult } from './shard.ts';
import { cores, runJob, spansOf } from './shards.ts';
import { tellStory } from './story.ts';

const WITHIN_SEEDS = 20_000;

/** These say that something went wrong, not what: a plant that merely crashes shows nothing about the rules. */
const CRASHES = new Set(['thrown', 'uncaught', 'no-replay']);

const wanted = process.argv.slice(2);
const bugs = [...NAMED, ...FURTHER, ...EXTERNAL_BUGS].filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
if (bugs.length === 0) throw new Error(`no planted bug is named like ${wanted.join(' or ')}`);
const escaped: string[] = [];

/** The first failure that a rule names. A span ends at its first failure: after a crash the hunt goes on behind it. */
async function firstCaught({ replacements }: PlantedBug): Promise<Failed | undefined> {
  for (let from = 1; from <= WITHIN_SEEDS;) {
    const ends: SpanResult[] = [];
    await runJob({
      spans: spansOf(from, WITHIN_SEEDS, true),
      planted: replacements,
      processes: 1,
      ended: (result) => (ends.push(result), result.failed.length > 0),
    });
    const last = ends.at(-1);
    const caught = last?.failed.find(({ rule }) => !CRASHES.has(rule));
    if (last === undefined || caught !== undefined) return caught;
    from = (last.failed.find(({ rule }) => rule !== 'no-replay')?.seed ?? last.to) + 1;
  }
  return undefined;
}

async function hunt(bug: PlantedBug): Promise<void> {
  const { name, replacements } = bug;
  const first = await firstCaught(bug).catch(
    (error: unknown) => void process.stdout.write(`${name}: ${String(error)}\n`),
  );
  if (first === undefined) escaped.push(name);
  process.stdout.write(
    `${first === undefined ? 'ESCAPED' : `seed ${String(first.seed).padStart(4)}`}  ${name}${first === undefined ? '' : `: ${first.rule}`}\n`,
  );
  if (first !== undefined && wanted.length === 1)
    await tellStory(first.seed, (line) => process.stdout.write(`${line}\n`), replacements);
}

const rest = [...bugs];
const lane = async (): Promise<void> => {
  for (let bug = rest.shift(); bug !== undefined; bug = rest.shift()) await hunt(bug);
};
await Promise.all(Array.from({ length: cores() }, lane));
process.stdout.write(`${bugs.length - escaped.length} of ${bugs.length} planted bugs caught\n`);
process.exitCode = escaped.length === 0 ? 0 : 1;
