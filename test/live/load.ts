/**
 * `npm run load [-- --minutes N] [--seed TEXT]`: the built Worker on this machine under a soak of N minutes, a spike, and half
 * the soak again. Afterwards the accounts must agree exactly (a row for every call answered, an effect for every refund told as
 * done, truth.ts), and workerd must not have grown, where the soak was a minute or more.
 */
import { parseArgs } from 'node:util';
import { account, checkConsents } from './accounts.ts';
import type { BuiltWorker } from './built-worker.ts';
import { Crowd } from './crowd.ts';
import { Memory } from './memory.ts';
import { untilTold } from './settling.ts';
import { onStage } from './stage.ts';
import { checkBooks, checkLedger, checkRows, checkTold, inTime, verifyAudit, Violation } from './truth.ts';

/** Enough to see the accounts agree. */
const SHORT_MINUTES = '0.05';
/** Before that workerd is still taking what it needs, and its size says nothing. */
const MEMORY_SOAK_MS = 60_000;
const SOAK_WIDTH = 8;
const SPIKE_WIDTH = 64;
const SPIKE_SHARE = 1 / 3;
const MAX_SPIKE_MS = 30_000;
/** workerd at the end of the second soak over workerd at the end of the first: between them lies the spike. */
const MAX_GROWTH = 2;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: SHORT_MINUTES },
    seed: { type: 'string', default: String(Date.now()) },
  },
});
const soakMs = Number(values.minutes) * 60_000;
if (!(soakMs > 0)) throw new Error('--minutes takes a number above 0.');

console.log(`Seed ${values.seed}: building and starting …`);
await onStage('load', async (worker) => {
  const crowd = await Crowd.of(worker, values.seed);
  const growth = await load(worker, crowd);
  await untilTold(crowd.agents);
  const calls = crowd.agents.flatMap((agent) => agent.calls);
  await checkLedger(worker);
  await checkTold(worker, calls);
  // Nobody decides here: nothing that waits for a person may have moved.
  await checkConsents(worker, []);
  for (const agent of crowd.agents) await inTime(() => checkRows(worker, agent.session, agent.calls));
  await inTime(() => checkBooks(worker));
  console.log(await account(worker, calls));
  console.log(await verifyAudit(worker));
  if (soakMs >= MEMORY_SOAK_MS && growth > MAX_GROWTH)
    throw new Violation(`workerd grew by ${growth.toFixed(2)}, more than ${MAX_GROWTH}`);
});

/** How much workerd has grown from the end of the first soak to that of the second. */
async function load(worker: BuiltWorker, crowd: Crowd): Promise<number> {
  const memory = new Memory(worker);
  try {
    console.log(`soak:  ${await crowd.busyFor(soakMs, SOAK_WIDTH)}`);
    const before = memory.lately();
    console.log(`spike: ${await crowd.busyFor(Math.min(soakMs * SPIKE_SHARE, MAX_SPIKE_MS), SPIKE_WIDTH)}`);
    console.log(`soak:  ${await crowd.busyFor(soakMs / 2, SOAK_WIDTH)}`);
    return memory.lately() / before;
  } finally {
    console.log(memory.end());
  }
}
