/**
 * `npm run kills [-- --kills N] [--seed TEXT]`: the built Worker under load, with its state on disk, is killed (SIGKILL) and
 * started again N times; after each restart everything it was asked and everything it did must be one story (truth.ts).
 * Then N times more with refunds in another system, which lives on, and whose own books are compared (wire.ts).
 * The seed gives what agents and approvers do, and after how many milliseconds the kill comes or waits for a write of the
 * ledger. It does not give the schedule: two runs of one seed die at different moments.
 */
import { parseArgs } from 'node:util';
import { serveDouble } from '../../demo/serve-double.ts';
import { StripeDouble } from '../../demo/stripe-double.ts';
import type { BuiltWorker } from './built-worker.ts';
import { Campaign } from './campaign.ts';
import { onStage } from './stage.ts';
import { Wire, WireCampaign } from './wire.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '3' }, seed: { type: 'string', default: String(Date.now()) } },
});
const kills = Number(values.kills);
if (!Number.isInteger(kills) || kills < 1) throw new Error('--kills takes a number from 1 on.');

console.log(`Seed ${values.seed}: building and starting …`);
const double = new StripeDouble();
const wire = new Wire(double, values.seed);
const { url } = await serveDouble(wire.handle);

async function play(worker: BuiltWorker): Promise<void> {
  for (const campaign of [new Campaign(worker, values.seed), new WireCampaign(worker, double, wire, values.seed)]) {
    for (let kill = 1; kill <= kills; kill += 1) console.log(`kill ${kill}: ${await campaign.round()}`);
    console.log(await campaign.end());
  }
}

await onStage('kills', play, undefined, { STRIPE_ORIGIN: url, STRIPE_ACCOUNT: 'kills', STRIPE_SECRET: 'sk_kills' });
