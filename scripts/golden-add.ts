/**
 * `npm run golden:add`: writes newly published tools into test/golden. It adds and never changes: where an entry differs
 * from what is published now, it says so and writes nothing.
 */
import { writeFileSync } from 'node:fs';
import { tools } from '../src/tools/index.ts';
import { driftOf, goldenPath, publishedBy, readGolden } from './golden.ts';

const files = [...publishedBy(tools)].map(([file, published]) => {
  const golden = readGolden(file);
  return { file, golden, published, drift: driftOf(file, golden, published) };
});

const broken = files.flatMap(({ drift }) => drift).filter(({ kind }) => kind !== 'new');
if (broken.length > 0) {
  for (const { message } of broken) console.error(message);
  process.exitCode = 1;
} else {
  for (const { file, golden, published, drift } of files) {
    if (drift.length === 0) continue;
    const sorted = Object.entries({ ...published, ...golden }).toSorted(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(goldenPath(file), `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
    console.log(`test/golden/${file}.json: ${drift.length} added`);
  }
}
