/** Each provider's format over HTTP into the real stages, and back. */
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/gate/json.ts';
import type { Outcome } from '../../../src/gate/outcome.ts';
import { allTools } from '../../support/tools.ts';
import { agentApp } from '../../support/agent-app.ts';
import { nodeSession } from '../../support/node-session.ts';
import { providerBodies, type WireCall } from '../../support/provider-bodies.ts';

const refund = { order_id: 'ORD-1001', amount_cents: 2590, currency: 'BRL', reason: 'damaged' };

describe.each(providerBodies)('POST /v1/calls/$provider', (wire) => {
  const written = (args: JsonObject): JsonValue => (wire.argumentsAre === 'text' ? JSON.stringify(args) : args);
  const wrongType: JsonValue =
    wire.argumentsAre === 'text' ? refund : wire.argumentsAre === 'object' ? JSON.stringify(refund) : 7;

  /** A new session with ORD-1001 over 120.00 BRL and an account; what it answers to one response with these calls. */
  async function outcomesOf(...calls: WireCall[]): Promise<Outcome[]> {
    const { session, uid, shared } = await nodeSession(allTools);
    shared.exec(`
      INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', 12000, 'BRL');
      INSERT INTO accounts (account_id, customer_id, currency) VALUES ('ACC-98124501', 'CUS-1', 'USD');`);
    const { post } = await agentApp(session, uid);
    const response = await post(`/v1/calls/${wire.provider}`, wire.body(calls.map((call) => wire.item(call))));
    expect(response.status).toBe(200);
    const { results, outcomes } = await response.json<{ results: JsonObject[]; outcomes: Outcome[] }>();
    expect(results).toHaveLength(calls.length);
    return outcomes;
  }

  it('moves the money of parallel calls once for each intent', async () => {
    const call = { id: 'id_1', name: 'refund_order', arguments: written(refund) };
    const other = { ...call, id: 'id_2', arguments: written({ ...refund, amount_cents: 410 }) };
    const outcomes = await outcomesOf(call, { ...call, id: 'id_3' }, other);
    expect(outcomes).toMatchObject([
      { ok: true, step: 1, replayed: false, data: { remaining_refundable_cents: 9410 } },
      { ok: true, step: 2, replayed: true, data: { remaining_refundable_cents: 9410 } },
      { ok: true, step: 3, replayed: false, data: { remaining_refundable_cents: 9000 } },
    ]);
  });

  it('takes a repeated id for no retry and no reuse', async () => {
    const read = { id: 'id_1', name: 'get_order', arguments: written({ order_id: 'ORD-1001' }) };
    const outcomes = await outcomesOf(read, { ...read, name: 'refund_order', arguments: written(refund) }, read);
    expect(outcomes.map(({ code, step }) => [code, step])).toStrictEqual([
      ['OK', 1],
      ['OK', 2],
      ['OK', 3],
    ]);
  });

  it('refuses malformed items in the order of the stages', async () => {
    const outcomes = await outcomesOf(
      { id: 'id_1', name: 7, arguments: wrongType },
      { id: 'id_2', arguments: written(refund) },
      { id: 'id_3', name: 'math.factorial', arguments: written({}) },
      { id: 'id_4', name: 'a'.repeat(65), arguments: wrongType },
      { id: 'id_5', name: 'refund_order', arguments: wrongType },
      { id: 'id_6', name: 'refund_order', arguments: null },
      { id: 'id_7', name: 'refund_order', arguments: written({ ...refund, amount_cents: '2590' }) },
      { id: 'id_8', name: 'refund_order' },
    );
    expect(outcomes.map(({ code, step }) => [code, step])).toStrictEqual([
      ['UNKNOWN_TOOL', 1],
      ['UNKNOWN_TOOL', 2],
      ['UNKNOWN_TOOL', 3],
      ['UNKNOWN_TOOL', 4],
      ['INVALID_JSON', 5],
      ['INVALID_JSON', 6],
      ['INVALID_ARGUMENTS', 7],
      ['INVALID_ARGUMENTS', 8],
    ]);
    expect(outcomes[3]?.tool).toBe('a'.repeat(40));
  });

  it('takes null for an argument that has a default, as strict models write it', async () => {
    const search = {
      account_id: 'ACC-98124501',
      start_date: '2026-01-01',
      transaction_type: null,
      min_amount_cents: null,
    };
    expect(await outcomesOf({ name: 'search_transactions', arguments: written(search) })).toMatchObject([{ ok: true }]);
  });

  it('answers 128 calls, most of them past the budget', async () => {
    const call = { name: 'get_order', arguments: written({ order_id: 'ORD-1001' }) };
    const outcomes = await outcomesOf(...Array.from({ length: 128 }, () => call));
    const codes = outcomes.map(({ code }) => code);
    expect(codes.slice(0, 4)).toStrictEqual(['OK', 'OK', 'OK', 'LOOP_DETECTED']);
    expect(new Set(codes.slice(10))).toStrictEqual(new Set(['STEP_LIMIT']));
  });
});
