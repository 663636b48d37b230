import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JsonObject } from '../../../src/gate/json.ts';
import { definitionFormats } from '../../../src/gate/providers/index.ts';
import { defineTool, type Tool } from '../../../src/gate/tool/define-tool.ts';
import { registryOf } from '../../../src/gate/tool/registry.ts';
import { CURRENCIES, orders } from '../../../src/tools/orders/orders.ts';
import { toolNamed } from '../../support/tools.ts';
import { nodeSession } from '../../support/node-session.ts';

/** The same refund under a changed contract: the reason is free text. */
const refundOrderV2 = defineTool({
  name: 'refund_order_v2',
  description: 'Refunds part or all of one order, for a reason in words.',
  risky: true,
  reads: { orders },
  input: z.strictObject({
    order_id: z.string().describe('Order id.'),
    amount_cents: z.int().positive().describe('Refund amount in minor units (cents).'),
    currency: z.enum(CURRENCIES).describe("The order's currency."),
    reason: z.string().min(1).max(100).describe('Why the customer is refunded.'),
  }),
  output: z.strictObject({
    order_id: z.string(),
    refunded_cents: z.int().positive(),
    remaining_refundable_cents: z.int().min(0),
  }),
  codes: { ORDER_NOT_FOUND: () => 'No such order exists for this session.' },
  async check({ order_id }, { orders }, { customer_id }) {
    const order = await orders.find(order_id, customer_id);
    return order === null ? { ok: false, code: 'ORDER_NOT_FOUND', facts: {} } : { ok: true, seen: { ...order } };
  },
  effect: {
    ledger: 'orders',
    money: ({ amount_cents, currency }) => ({ amount_cents, currency }),
    subject: ({ order_id }) => order_id,
    send: ({ order_id, amount_cents }) => ({
      sql: `
        SELECT NULL AS code, NULL AS facts, json_object(
          'order_id', ?1,
          'refunded_cents', CAST(?2 AS INTEGER),
          'remaining_refundable_cents', total_cents - coalesce(applied_cents, 0) - CAST(?2 AS INTEGER)) AS answer
        FROM orders LEFT JOIN subject_totals ON backend = 'ledger:orders' AND subject = order_id
        WHERE order_id = ?1`,
      params: [order_id, amount_cents],
    }),
  },
});

/** The published tool on the day its successor is published. */
function deprecated(): Tool {
  const refundOrder = toolNamed('refund_order');
  if (refundOrder === undefined) throw new Error('refund_order is gone');
  const description = `${refundOrder.description} Deprecated: use refund_order_v2.`;
  return { ...refundOrder, description, deprecatedBy: 'refund_order_v2' };
}

const sideBySide = [deprecated(), refundOrderV2];

async function openSession() {
  const { session, uid, shared } = await nodeSession(sideBySide);
  shared.exec(
    "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', 12000, 'BRL')",
  );
  let calls = 0;
  return async (tool: string, changes: JsonObject = {}) => {
    const args = { order_id: 'ORD-1001', amount_cents: 2590, currency: 'BRL', reason: 'damaged', ...changes };
    const call_id = `c${(calls += 1)}`;
    const answer = await session.call({ uid, tool, arguments: args, call_id, request_id: 'req' });
    if ('refused' in answer) throw new Error(`refused: ${answer.refused}`);
    return answer.outcome;
  };
}

describe('a tool and its successor', () => {
  it.each([...definitionFormats.values()])('are both shown to $name, the old one saying what to use', (format) => {
    const shown = JSON.stringify(format.tools(sideBySide));
    expect(shown).toContain('"refund_order"');
    expect(shown).toContain('"refund_order_v2"');
    expect(shown).toContain('Deprecated: use refund_order_v2."');
  });

  it('both work, and every outcome of the old one says what to use', async () => {
    const call = await openSession();
    const done = await call('refund_order');
    expect(done).toMatchObject({ ok: true, deprecated: 'refund_order_v2' });
    expect(await call('refund_order', { amount_cents: 0 })).toMatchObject({ ok: false, deprecated: 'refund_order_v2' });

    const successor = await call('refund_order_v2', { reason: 'the vase arrived in two pieces' });
    expect(successor).toMatchObject({ ok: true, data: { remaining_refundable_cents: 6820 } });
    expect(successor).not.toHaveProperty('deprecated');
  });

  it('are two intents: what the old one did is no answer to the new one', async () => {
    const call = await openSession();
    await call('refund_order');
    expect(await call('refund_order_v2')).toMatchObject({ ok: true, replayed: false });
  });

  it('have contracts of their own', () => {
    const [old, successor] = sideBySide.map(({ contract }) => contract);
    expect(old).toBe(toolNamed('refund_order')?.contract);
    expect(successor).not.toBe(old);
  });
});

describe('registryOf', () => {
  it('refuses two tools of one name', () => {
    expect(() => registryOf([refundOrderV2, refundOrderV2])).toThrow('two tools are named refund_order_v2');
  });
});

describe('defineTool', () => {
  it('refuses a deprecated tool whose description does not say what to use', () => {
    const declared = {
      name: 'old_tool',
      effect: 'none',
      risky: false,
      input: z.strictObject({}),
      output: z.strictObject({}),
      codes: {},
      run: async () => ({ ok: true, data: {} }) as const,
      deprecatedBy: 'new_tool',
    } as const;
    expect(() => defineTool({ ...declared, description: 'Does a thing.' })).toThrow('Deprecated: use new_tool.');
    expect(defineTool({ ...declared, description: 'Does a thing. Deprecated: use new_tool.' }).deprecatedBy).toBe(
      'new_tool',
    );
  });
});
