/** What an effect in another system costs (docs/storage.md#what-a-call-costs), line by line. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { sessionMethods } from '../support/session-class.ts';
import { moveOn, standStill } from '../support/effects.ts';
import {
  effectKeyIn,
  elsewhere,
  foundThere,
  lost,
  lostAfter,
  network,
  passTime,
  reachDouble,
  stripe,
  type Elsewhere,
  type NetworkFault,
} from '../support/elsewhere.ts';
import { isRefused, watchD1 } from '../support/faults.ts';
import { runAlarm, rowsIn } from '../support/inside.ts';
import { meterSession } from '../support/metered-session.ts';

type Cost = { hops: number; session: number; d1: number };
const refused: NetworkFault = async () => Response.json({ error: { code: 'charge_disputed' } }, { status: 400 });

beforeEach(() => {
  standStill();
  reachDouble();
});
afterEach(moveOn);

/** `hops`: the RPC, each trip to D1 and each request to the other system; all of them follow one another. */
async function costOf({ agent }: Elsewhere, act: () => Promise<unknown>): Promise<Cost> {
  const written = await meterSession(agent.object);
  const rpc = (['call', 'settleEffect'] as const).map((method) => vi.spyOn(sessionMethods, method).mockClear());
  const d1 = watchD1();
  d1.fault('report', isRefused);
  network.requests = 0;
  await act();
  const trips = d1.trips.filter(({ kind }) => kind !== 'report');
  const calls = rpc.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  const rows = trips.flatMap((trip) => trip.written).reduce((sum, count) => sum + count, 0);
  return { hops: calls + trips.length + network.requests, session: written().session, d1: rows };
}

it('costs 5 hops, 5 rows and 3 in D1, and one for the total, where it is applied', async () => {
  const ready = await elsewhere();
  expect(await costOf(ready, ready.begin)).toEqual({ hops: 5, session: 5, d1: 4 });
});

it('costs 5 hops, 5 rows and 3 in D1 where the other system refuses it', async () => {
  const ready = await elsewhere();
  network.planned = [refused];
  expect(await costOf(ready, ready.begin)).toEqual({ hops: 5, session: 5, d1: 3 });
});

it('costs 3 hops, 3 rows and 1 in D1 where the journal refuses it', async () => {
  const ready = await elsewhere();
  network.planned = [lost, lost];
  await ready.ask('first');
  const { agent, payment } = ready;
  const other = { payment, amount: 100, currency: 'USD', reason: 'duplicate' };
  expect(await costOf(ready, () => agent.call('refund_payment', other))).toEqual({ hops: 3, session: 3, d1: 1 });
});

it('costs 2 hops, 1 row and 1 in D1 more for a resend that the call itself makes, and a hop for its look-up', async () => {
  const ready = await elsewhere();
  network.planned = [lost];
  expect(await costOf(ready, ready.begin)).toEqual({ hops: 5 + 1 + 2, session: 5 + 1, d1: 4 + 1 });
});

it('costs the alarm 2 hops, 3 rows and 2 in D1, and one for the total, to settle an unknown by one look-up', async () => {
  const ready = await elsewhere();
  network.planned = [lostAfter, lost];
  await ready.begin();
  await passTime(ready.agent);
  expect(await costOf(ready, () => runAlarm(ready.agent.object))).toEqual({ hops: 2, session: 3, d1: 3 });
  expect(stripe.refundedOf(ready.payment)).toBe(2_590);
});

it('costs 2 hops, 3 rows and 2 in D1, and one for the total, when an operator settles it', async () => {
  const ready = await elsewhere();
  network.planned = [lostAfter, lost];
  await ready.begin();
  const key = await effectKeyIn(ready.agent);
  const settles = () => ready.agent.stub().settleEffect(key, foundThere(ready), 'req');
  expect(await costOf(ready, settles)).toEqual({ hops: 2, session: 3, d1: 3 });
});

it('costs nothing while an operator is waited for', async () => {
  const ready = await elsewhere();
  network.planned = [lostAfter, lost];
  await ready.begin();
  await rowsIn(ready.agent.object, "UPDATE record SET place = 'another account'");
  await passTime(ready.agent);
  expect(await costOf(ready, () => runAlarm(ready.agent.object))).toEqual({ hops: 0, session: 0, d1: 0 });
});
