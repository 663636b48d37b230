/** `npm run simulate:planted [-- NAME]`: every planted bug must be caught within 2,000 seeds. Says which seed caught which. */
import type { PlantedBug } from './planted/bug.ts';
import { FURTHER } from './planted/further.ts';
import { NAMED } from './planted/named.ts';
import type { Failed } from './shard.ts';
import { cores, runJob, spansOf } from './shards.ts';
import { tellStory } from './story.ts';

const WITHIN_SEEDS = 2_000;

const wanted = process.argv.slice(2);
const bugs = [...NAMED, ...FURTHER].filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const escaped: string[] = [];

async function hunt({ name, replacements }: PlantedBug): Promise<void> {
  const caught: Failed[] = [];
  await runJob({
    ...{ spans: spansOf(1, WITHIN_SEEDS, true), planted: replacements, processes: 1 },
    ended: ({ failed }) => (caught.push(...failed), failed.length > 0),
  }).catch((error: unknown) => process.stdout.write(`${name}: ${String(error)}\n`));
  const [first] = caught;
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
