import { describe, expect, it } from 'vitest';
import { refundPayment } from '../../../src/tools/payments/refund-payment.ts';
import { testFaults } from '../../support/fault-run.ts';
import { nodeSession } from '../../support/node-session.ts';
import { ask, backendsOver, doubleWith, recipe, VARIABLES, type Handle } from '../../support/payments.ts';

describe('refund_payment', () => {
  it('does not believe that nothing is left after an answer was lost: its own refund may be why', async () => {
    const double = doubleWith();
    let [now, posts] = [1_800_000_000_000, 0];
    const losingFirst: Handle = async (request) => {
      const isFirst = request.method === 'POST' && (posts += 1) === 1;
      const response = await double.handle(request);
      if (!isFirst) return response;
      // The key is forgotten early, and lists do not show the refund yet.
      double.forgetKeys();
      double.lagMs = Infinity;
      throw new TypeError('fetch failed');
    };
    const stage = await nodeSession([refundPayment], {}, { backends: backendsOver(losingFirst), now: () => now });
    const call = async (call_id: string) => {
      const asked = { uid: stage.uid, tool: 'refund_payment', arguments: ask({ amount: 10_000 }), request_id: 'req' };
      return stage.session.call({ ...asked, call_id });
    };
    expect(await call('call-1')).toMatchObject({ outcome: { code: 'UPSTREAM_UNAVAILABLE' } });
    expect(double.posted).toHaveLength(2);
    double.lagMs = 0;
    now += 10_000;
    await stage.fireAlarm();
    expect(await call('call-2')).toMatchObject({ outcome: { ok: true, replayed: true, data: { amount: 10_000 } } });
    expect([double.refunds.length, [...double.effectsByKey().values()]]).toEqual([1, [1]]);
  });

  it('tells a refusal of the first send at once, also one that is kept under the key', async () => {
    const double = doubleWith();
    const error = { type: 'card_error', code: 'insufficient_funds' };
    double.onExecute = async () => Response.json({ error }, { status: 402 });
    const stage = await nodeSession([refundPayment], {}, { backends: backendsOver(double.handle) });
    const call = { uid: stage.uid, tool: 'refund_payment', arguments: ask(), request_id: 'req' };
    expect(await stage.session.call({ ...call, call_id: 'call-1' })).toMatchObject({
      outcome: { code: 'REFUND_FAILED', next: 'stop_and_tell_user' },
    });
    // Another attempt has another key.
    expect(await stage.session.call({ ...call, call_id: 'call-2' })).toMatchObject({ outcome: { ok: true } });
    expect(new Set(double.posted.map(({ key }) => key)).size).toBe(2);
  });

  it('never counts an absent refund as proven while Stripe may complete a request that it answered with 500', () => {
    const { quietMs, keepMs, refusals } = recipe.backend;
    expect(quietMs).toBeGreaterThanOrEqual(6 * 60 * 60_000);
    expect([keepMs, refusals, recipe.lagMs]).toEqual([24 * 60 * 60_000, 'not_kept', 60_000]);
  });
});

testFaults({
  tool: refundPayment,
  arguments: ask(),
  variables: VARIABLES,
  double: () => {
    const double = doubleWith();
    return { handle: double.handle, effects: () => double.refunds.length };
  },
});
