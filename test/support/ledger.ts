/** Valid callers, orders, attempts and refunds for tests of the ledger; each under a name no other test uses. */
import { ANY_CUSTOMER } from '../../src/gate/policy/customer-pattern.ts';
import { env } from 'cloudflare:workers';
import type { Attempt, Kit, Policy } from '../../src/gate/ports.ts';
import { refundOrder } from '../../src/tools/orders/refund-order.ts';
import { createCaller } from '../../src/gate/ledger/caller-changes.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';
import { hashOf } from '../../src/gate/canonical.ts';

let made = 0;
/** Distinct in this file's storage. */
export const fresh = (): string => String((made += 1)).padStart(4, '0');

export const policy = (changes: Partial<Policy> = {}): Policy => ({
  allowed_tools: ['get_order', 'refund_order'],
  approvers: ['ana@example.com'],
  customer_scope: 'required',
  max_refund_cents: 50_000,
  max_session_refund_cents: null,
  confirm_above_cents: 0,
  limits: {},
  customer_pattern: ANY_CUSTOMER,
  max_steps: 10,
  max_duplicate_calls: 3,
  approval_ttl_seconds: 86_400,
  identical_effects: 'replay',
  ...changes,
});

/** The hash of a live caller's key. */
export const keyOf = (callerId: string): string => `key-${callerId}`;

/** A live caller with a key of its own. */
export async function liveCaller(): Promise<string> {
  const caller_id = `caller${fresh()}`;
  const caller = { name: 'Shop assistant', policy: policy(), key_hash: keyOf(caller_id) };
  await createCaller(ledgerSql(env.DB), caller, { caller_id, at: 1_000, request_id: 'req-create' });
  return caller_id;
}

/** An order of CUS-1 over 12000 BRL of which nothing is refunded. */
export async function order(changes: { total_cents?: number; currency?: string } = {}): Promise<string> {
  const id = `ORD-${fresh()}`;
  await env.DB.prepare('INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES (?, ?, ?, ?)')
    .bind(id, 'CUS-1', changes.total_cents ?? 12_000, changes.currency ?? 'BRL')
    .run();
  return id;
}

export type Refund = { order_id: string; amount_cents: number; currency: string; reason: string };

/** A refund of 25.90 BRL of an order. */
export const refundOf = (orderId: string, changes: Partial<Refund> = {}): Refund => ({
  order_id: orderId,
  amount_cents: 2_590,
  currency: 'BRL',
  reason: 'damaged',
  ...changes,
});

/** The first attempt of a call nobody else made, to refund `refund`. */
export function attempt(callerId: string, refund: Refund, changes: Partial<Attempt> = {}): Attempt {
  const call_key = changes.call_key ?? hashOf(['call', fresh()]);
  const { order_id, amount_cents, currency } = refund;
  const shared = { call_key, attempt: 1, uid: 'uid-1', caller_id: callerId, tool: 'refund_order', ...changes };
  return {
    ...shared,
    effect_key: hashOf([call_key, shared.attempt]),
    backend: 'ledger:orders',
    subject: order_id,
    money: { amount_cents, currency },
    waits: false,
  };
}

/** Sends an attempt as the refund tool does. */
export async function sendRefund(kit: Kit, sent: Attempt, refund: Refund, customerId: string | null) {
  const valid = refundOrder.bind({ ...refund });
  if (!valid.ok || valid.bound.effect === 'none' || valid.bound.external !== null) throw new Error('no valid refund');
  return valid.bound.send(kit, sent, { customer_id: customerId, signal: AbortSignal.timeout(10_000) });
}

export async function refundedCents(orderId: string): Promise<number | null> {
  return env.DB.prepare("SELECT applied_cents FROM subject_totals WHERE backend = 'ledger:orders' AND subject = ?")
    .bind(orderId)
    .first('applied_cents');
}
