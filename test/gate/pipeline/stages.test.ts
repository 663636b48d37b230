/** What single stages hold to, by the session's own code: whom a call asks, what it is known by, what it is told. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { hashOf } from '../../../src/gate/canonical.ts';
import type { JsonObject } from '../../../src/gate/json.ts';
import type { Policy } from '../../../src/gate/ports.ts';
import { defineTool, type Tool } from '../../../src/gate/tool/define-tool.ts';
import { allTools } from '../../support/tools.ts';
import { nodeSession } from '../../support/node-session.ts';

/** Risky, and without an amount. */
const closeAccount = defineTool({
  name: 'close_account',
  description: 'Closes an account.',
  risky: true,
  input: z.strictObject({ account_id: z.string().describe('Account id.') }),
  output: z.strictObject({ account_id: z.string() }),
  codes: {},
  check: async () => ({ ok: true, seen: {} }),
  effect: {
    ledger: 'accounts',
    send: () => {
      throw new Error('it was carried out');
    },
  },
});

const refund = { order_id: 'ORD-1001', amount_cents: 2590, currency: 'BRL', reason: 'damaged' };

/** A session with ORD-1001 over 120.00 BRL; its calls, and the approver's look at what is pending. */
async function openSession(tools: readonly Tool[], policy: Partial<Policy> = {}) {
  const { session, uid, shared, audit } = await nodeSession(tools, policy);
  shared.exec(
    "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', 12000, 'BRL')",
  );
  let calls = 0;
  const call = async (tool: string, args: JsonObject) => {
    const answer = await session.call({ uid, tool, arguments: args, call_id: `c${(calls += 1)}`, request_id: 'r' });
    if ('refused' in answer) throw new Error(`refused: ${answer.refused}`);
    return answer.outcome;
  };
  return { session, uid, shared, audit, call };
}

describe('resolve', () => {
  it('names the allowed tools, sorted, where there is no such tool', async () => {
    const allowed_tools = ['refund_order', 'calculator', 'get_order'];
    const { call } = await openSession(allTools, { allowed_tools });
    expect(await call('no_such_tool', {})).toMatchObject({
      available: ['calculator', 'get_approval', 'get_order', 'refund_order'],
    });
  });
});

describe('idempotency', () => {
  it('knows a call by SHA-256 of RFC 8785 ["toolgate-1", caller, uid, tool, arguments], defaults filled in', async () => {
    const { session, uid, audit, call } = await openSession(allTools);
    await call('search_transactions', { start_date: '2026-01-01', account_id: 'ACC-98124501', min_amount_cents: null });
    await session.alarm();
    const whole = {
      account_id: 'ACC-98124501',
      start_date: '2026-01-01',
      transaction_type: 'ALL',
      min_amount_cents: 0,
    };
    const key = hashOf(['toolgate-1', 'c'.repeat(16), uid, 'search_transactions', whole]);
    expect(audit.prepare('SELECT key FROM audit').all()).toEqual([{ key }]);
  });

  it('sends an attempt under SHA-256 of RFC 8785 [call key, attempt]', async () => {
    const { uid, shared, call } = await openSession(allTools);
    await call('refund_order', refund);
    const call_key = hashOf(['toolgate-1', 'c'.repeat(16), uid, 'refund_order', refund]);
    const attempt = { call_key, attempt: 1, effect_key: hashOf([call_key, 1]) };
    expect(shared.prepare('SELECT call_key, attempt, effect_key FROM attempts').all()).toEqual([attempt]);
  });
});

describe('confirmation', () => {
  it('asks a person above confirm_above_cents, and not at it', async () => {
    for (const [confirm_above_cents, code] of [
      [2590, 'OK'],
      [2589, 'CONFIRMATION_REQUIRED'],
    ] as const) {
      const { call } = await openSession(allTools, { confirm_above_cents });
      expect((await call('refund_order', refund)).code).toBe(code);
    }
  });

  it('asks a person whatever the limit where a risky tool has no amount', async () => {
    const { call } = await openSession([closeAccount], { confirm_above_cents: 50_000 });
    const { code, approval } = await call('close_account', { account_id: 'ACC-98124501' });
    expect({ code, status: approval?.status }).toEqual({ code: 'CONFIRMATION_REQUIRED', status: 'pending' });
  });
});
