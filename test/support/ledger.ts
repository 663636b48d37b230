/** Valid callers, orders, attempts and refunds for tests of the ledger; each under a name no other test uses. */
import { env } from 'cloudflare:workers';
import type { Attempt, Policy, Refund } from '../../src/gate/ports.ts';
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

/** The first attempt of a call nobody else made. */
export function attempt(callerId: string, changes: Partial<Attempt> = {}): Attempt {
  const call_key = hashOf(['call', fresh()]);
  const shared = { call_key, attempt: 1, uid: 'uid-1', caller_id: callerId, tool: 'refund_order', ...changes };
  return { ...shared, effect_key: hashOf([shared.call_key, shared.attempt]) };
}

export const refundOf = (orderId: string, changes: Partial<Refund> = {}): Refund => ({
  order_id: orderId,
  amount_cents: 2_590,
  currency: 'BRL',
  reason: 'damaged',
  ...changes,
});

export async function refundedCents(orderId: string): Promise<number | null> {
  return env.DB.prepare('SELECT refunded_cents FROM orders WHERE order_id = ?').bind(orderId).first('refunded_cents');
}
