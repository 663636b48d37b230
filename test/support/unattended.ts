/** An agent over HTTP whose refunds up to 50.00 nobody is asked about, and an order over 120.00 BRL. */
import type { JsonObject } from '../../src/gate/json.ts';
import type { Outcome } from '../../src/gate/outcome.ts';
import type { Policy } from '../../src/gate/ports.ts';
import { agentApp } from './agent-app.ts';
import { nodeSession } from './node-session.ts';
import { allTools } from './tools.ts';

export type ProviderAnswer = {
  results: JsonObject[];
  outcomes: Outcome[];
  problems?: { item: number; problem: string }[];
};

/** A refund of so many cents of the order. */
export const refundOf = (amount_cents: number): JsonObject => ({
  order_id: 'ORD-1001',
  amount_cents,
  currency: 'BRL',
  reason: 'damaged',
});

export async function unattended(changes: Partial<Policy> = {}) {
  const { session, uid, shared, own } = await nodeSession(allTools, { confirm_above_cents: 5_000, ...changes });
  shared.exec(
    `INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', 12000, 'BRL')`,
  );
  const { get, post } = await agentApp(session, uid);
  return {
    session,
    uid,
    send: (path: string, body: unknown, headers: Record<string, string> = {}) => post(path, body, undefined, headers),
    /** As a host's `fetch` would reach it at any address, with a good token whatever the request brings. */
    async fetch(url: string, { body, headers }: RequestInit = {}): Promise<Response> {
      const { pathname, search } = new URL(url);
      const { authorization: _brought, ...sent } = Object.fromEntries(new Headers(headers));
      return typeof body === 'string' ? post(pathname, body, undefined, sent) : get(`${pathname}${search}`);
    },
    /** What a provider route answers. */
    async answer(provider: string, body: unknown, headers: Record<string, string> = {}): Promise<ProviderAnswer> {
      const response = await post(`/v1/calls/${provider}`, body, undefined, headers);
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return response.json();
    },
    /** The amounts that the ledger has moved. */
    moved: () =>
      shared
        .prepare('SELECT amount_cents FROM attempts WHERE applied = 1 ORDER BY amount_cents')
        .all()
        .map(({ amount_cents }) => Number(amount_cents)),
    /** Call id, code and step of every row of the audit. */
    rows: () =>
      own
        .prepare('SELECT row FROM log ORDER BY seq')
        .all()
        .map(({ row }) => JSON.parse(String(row)) as { call_id: string; code: string; step: number }),
  };
}
