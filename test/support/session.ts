/** One live session in the real object over the real D1: a caller, an order nobody else uses, and what the ledger says of it. */
import { ANY_CUSTOMER } from '../../src/gate/policy/customer-pattern.ts';
import { env } from 'cloudflare:workers';
import type { Policy } from '../../src/gate/ports.ts';
import type { CallAnswer, OpenRequest, SessionRpc } from '../../src/gate/session/rpc.ts';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import { objectStub } from '../../src/gate/http/shared/context.ts';
import { createCaller } from '../../src/gate/ledger/caller-changes.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';

/** Of the one API key that each caller here has. */
export const KEY_HASH = '0'.repeat(64);
export const APPROVERS = ['ana@shop.test', 'bo@shop.test'];
/** How a test waits for what an approval says: a session answers 60 polls a minute. */
export const POLLING = { interval: 250, timeout: 10_000 };

const policy: Policy = {
  allowed_tools: ['get_order', 'refund_order'],
  approvers: APPROVERS,
  customer_scope: 'any',
  max_refund_cents: 50_000,
  max_session_refund_cents: null,
  confirm_above_cents: 0,
  limits: {},
  customer_pattern: ANY_CUSTOMER,
  max_steps: 10,
  max_duplicate_calls: 3,
  approval_ttl_seconds: 86_400,
  identical_effects: 'replay',
};

let counter = 0;
const unique = (): number => (counter += 1);
/** An order id has four digits, so they are counted apart. */
let orders = 2000;

/** A caller with the default policy but for `changes`. */
export async function newCaller(changes: Partial<Policy> = {}): Promise<string> {
  const caller_id = `caller${String(unique()).padStart(10, '0')}`;
  const caller = { name: 'Shop', policy: { ...policy, ...changes }, key_hash: KEY_HASH };
  await createCaller(ledgerSql(env.DB), caller, { caller_id, at: Date.now(), request_id: 'req' });
  return caller_id;
}

/** An order of its own, 120.00 BRL of CUS-1 but for `changes`. */
export async function newOrder(changes: Partial<{ customer_id: string; total_cents: number; currency: string }> = {}) {
  const { customer_id = 'CUS-1', total_cents = 12_000, currency = 'BRL' } = changes;
  const order_id = `ORD-${String((orders += 1))}`;
  await env.DB.prepare('INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES (?, ?, ?, ?)')
    .bind(order_id, customer_id, total_cents, currency)
    .run();
  return order_id;
}

export type Ledger = { refunded_cents: number; applied: number; voids: number };

/** What moved: the order's sum, and its attempts. */
export async function ledgerOf(order_id: string): Promise<Ledger> {
  const [order, attempts] = await env.DB.batch<Record<string, number>>([
    env.DB.prepare(
      "SELECT total(applied_cents) AS refunded_cents FROM subject_totals WHERE backend = 'ledger:orders' AND subject = ?",
    ).bind(order_id),
    env.DB.prepare(
      "SELECT total(applied) AS applied, total(1 - applied) AS voids FROM attempts WHERE backend = 'ledger:orders' AND subject = ?",
    ).bind(order_id),
  ]);
  return {
    refunded_cents: order?.results[0]?.['refunded_cents'] ?? -1,
    applied: attempts?.results[0]?.['applied'] ?? -1,
    voids: attempts?.results[0]?.['voids'] ?? -1,
  };
}

/** As if another session had refunded that much of the order. */
export async function moved(order_id: string, amount_cents: number): Promise<void> {
  const key = `other-${unique()}`;
  await env.DB.prepare(
    `INSERT INTO attempts
       (backend, subject, effect_key, call_key, attempt, uid, tool, amount_cents, currency, details, applied, answer, at)
     SELECT 'ledger:orders', order_id, ?2, ?2, 1, 'other', 'refund_order', ?3, currency, '{}', 1, '{}', 0
     FROM orders WHERE order_id = ?1`,
  )
    .bind(order_id, key, amount_cents)
    .run();
}

/** A fresh stub: one that saw its object die stays broken. */
export const stubOf = (name: string): SessionRpc => objectStub(env, name);

/** Valid arguments of a refund of 25.90 but for `changes`. */
export const refund = (order_id: string, changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  order_id,
  amount_cents: 2590,
  currency: 'BRL',
  reason: 'damaged',
  ...changes,
});

export type Agent = Awaited<ReturnType<typeof newAgent>>;

/** An open session, and the agent's hand on it. */
export async function newAgent(changes: Partial<Policy> = {}, opening: Partial<OpenRequest> = {}) {
  const caller_id = opening.caller_id ?? (await newCaller(changes));
  const session_id = opening.session_id ?? `s-${unique()}`;
  const object = sessionObjectName(caller_id, session_id);
  const opened = await stubOf(object).open({
    ttl_seconds: 3600,
    key_hash: KEY_HASH,
    ...opening,
    caller_id,
    session_id,
  });
  if ('refused' in opened) throw new Error(`not opened: ${JSON.stringify(opened)}`);
  const { uid } = opened;
  return {
    caller_id,
    session_id,
    object,
    uid,
    stub: () => stubOf(object),
    call: (tool: string, args: unknown, call_id = `c-${unique()}`): Promise<CallAnswer> =>
      stubOf(object).call({ uid, tool, arguments: args, call_id, request_id: 'req' }),
  };
}

/** The outcome of an answer that has one. */
export function outcomeOf(answer: CallAnswer) {
  if ('refused' in answer) throw new Error(`refused: ${answer.refused}`);
  return answer.outcome;
}
