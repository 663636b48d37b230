/** Every crawler of a public list opens the link of an approval, and nothing comes of it (docs/specification.md#the-page-and-the-decision). */
import crawlers from 'crawler-user-agents';
import type { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { allTools, app } from '../../support/tools.ts';
import { nodeSession } from '../../support/node-session.ts';
import { isWhole } from '../../support/whole.ts';

const variables = {
  PUBLIC_URL: 'https://toolgate.test',
  ADMIN_TOKEN: 'a'.repeat(64),
  TOOLGATE_SECRET: 'b'.repeat(64),
  MAIL_FROM: 'gate@toolgate.test',
};

const listed: readonly { instances?: string[]; tags?: string[] }[] = crawlers;
/** In `npm test` only those that follow links in mails and chats, each under its first name. */
const agents = isWhole
  ? listed.flatMap(({ instances }) => instances ?? [])
  : listed
      .filter(({ tags }) => tags?.some((tag) => tag === 'scanner' || tag === 'social-preview'))
      .flatMap(({ instances }) => instances?.slice(0, 1) ?? []);

/** A refund that waits for its approver, behind the Worker's own surface. */
async function parkedRefund() {
  const { session, uid, object, own, shared } = await nodeSession(allTools, { confirm_above_cents: 0 });
  shared.exec(
    "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', 90, 'BRL')",
  );
  const args = { order_id: 'ORD-1001', amount_cents: 10, currency: 'BRL', reason: 'damaged' };
  const answer = await session.call({ uid, tool: 'refund_order', arguments: args, call_id: 'c', request_id: 'r' });
  const approval_id = ('outcome' in answer ? answer.outcome.approval?.id : undefined) ?? '';
  const task = await session.mailTask({ type: 'approval', object, approval_id, approver: 0 });
  if (task?.kind !== 'approval') throw new Error('nobody is asked');
  const bindings = { ...variables, SESSION: { getByName: (name: string) => (name === object ? session : null) } };
  return {
    open: async (method: string, agent: string) =>
      app.request(task.link, { method, headers: { 'user-agent': agent } }, bindings),
    kept: () =>
      JSON.stringify([rowsOf(own, ['session', 'log', 'record']), rowsOf(shared, ['orders', 'attempts', 'approvals'])]),
  };
}

const rowsOf = (database: DatabaseSync, tables: string[]): unknown[] =>
  tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all());

describe('an approval link that crawlers follow', () => {
  let parked: Awaited<ReturnType<typeof parkedRefund>>;
  beforeAll(async () => {
    vi.spyOn(console, 'log').mockReturnValue();
    parked = await parkedRefund();
  });
  afterAll(() => vi.restoreAllMocks());

  it.each([
    ['GET', 200],
    ['HEAD', 200],
    ['OPTIONS', 405],
  ])('is as it was, whichever of them sends %s', { timeout: 60_000 }, async (method, status) => {
    expect(agents.length).toBeGreaterThan(isWhole ? 1_500 : 100);
    const before = parked.kept();
    for (const agent of agents) {
      const answer = await parked.open(method, agent);
      await answer.text();
      expect({ agent, status: answer.status }).toEqual({ agent, status });
    }
    expect(parked.kept()).toBe(before);
  });
});
