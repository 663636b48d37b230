import { beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/gate/outcome.ts';
import { agentApp } from '../../support/agent-app.ts';
import { nodeSession } from '../../support/node-session.ts';
import { allTools } from '../../support/tools.ts';

const ALL = { order_id: 'ORD-1001', amount_cents: 12_000, currency: 'BRL', reason: 'damaged' };

let gate: Awaited<ReturnType<typeof nodeSession>>;
beforeEach(async () => {
  gate = await nodeSession(allTools);
  gate.shared.exec(
    "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', 12000, 'BRL')",
  );
});

async function refund(changes: Partial<typeof ALL>): Promise<Outcome> {
  const { post } = await agentApp(gate.session, gate.uid);
  return (await post('/v1/calls', { tool: 'refund_order', arguments: { ...ALL, ...changes } })).json();
}

describe('refund_order', () => {
  it('says how much can still be refunded, to be asked for instead', async () => {
    expect(await refund({ amount_cents: 12_001 })).toMatchObject({
      code: 'AMOUNT_EXCEEDS_REFUNDABLE',
      message: 'At most 120.00 BRL (12000 in minor units) of this order can still be refunded.',
      next: 'fix_and_retry',
    });
  });

  it('ends the attempts at an order that is refunded in full', async () => {
    expect(await refund({})).toMatchObject({ code: 'OK' });
    expect(await refund({ amount_cents: 1, reason: 'customer_request' })).toMatchObject({
      code: 'AMOUNT_EXCEEDS_REFUNDABLE',
      message: 'Nothing of this order can still be refunded.',
      next: 'stop_and_tell_user',
    });
  });
});
