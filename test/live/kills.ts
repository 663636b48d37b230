/**
 * `npm run kills [-- --kills N] [--seed TEXT]`: the built Worker under load, with its state on disk, is killed (SIGKILL) and
 * started again N times; after each restart everything it was asked and everything it did must be one story (truth.ts).
 * The seed gives what agents and approvers do, and after how many milliseconds the kill comes or waits for a write of the
 * ledger. It does not give the schedule: two runs of one seed die at different moments.
 */
import { parseArgs } from 'node:util';
import { Campaign } from './campaign.ts';
import { onStage } from './stage.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '3' }, seed: { type: 'string', default: String(Date.now()) } },
});
const kills = Number(values.kills);
if (!Number.isInteger(kills) || kills < 1) throw new Error('--kills takes a number from 1 on.');

console.log(`Seed ${values.seed}: building and starting …`);
await onStage('kills', async (worker) => {
  const campaign = new Campaign(worker, values.seed);
  for (let kill = 1; kill <= kills; kill += 1) console.log(`kill ${kill}: ${await campaign.round()}`);
  console.log(await campaign.end());
});
