/** What a call is told when a backend is slow, out of reach, or broken, before any effect was sent (docs/specification.md#stage-8-execute). */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { auditIn, rowsIn } from '../support/inside.ts';
import { newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

afterEach(() => vi.restoreAllMocks());

/** Reads of orders answer as `read` does; counts them. */
function ordersAnswer(read: () => Promise<D1Result>): { reads: number } {
  const prepare = env.DB.prepare.bind(env.DB);
  const seen = { reads: 0 };
  vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql);
    if (!sql.includes('FROM orders')) return statement;
    const bind = statement.bind.bind(statement);
    statement.bind = (...values) => {
      const bound = bind(...values);
      bound.all = <Row>() => {
        seen.reads += 1;
        return read() as Promise<D1Result<Row>>;
      };
      return bound;
    };
    return statement;
  });
  return seen;
}
const failing = (message: string) => ordersAnswer(() => Promise.reject(new Error(message)));
const silent = () => ordersAnswer(() => new Promise(() => undefined));

type Asking = [tool: string, args: (order_id: string) => Record<string, unknown>];
const reading: Asking = ['get_order', (order_id) => ({ order_id })];
const tools: Asking[] = [reading, ['refund_order', (order_id) => refund(order_id)]];

/** Asks of a new order, and checks that the call left its row and nothing else. */
async function ask(agent: Agent, [tool, args]: Asking) {
  const outcome = outcomeOf(await agent.call(tool, args(await newOrder())));
  expect((await auditIn(agent.object)).at(-1)).toMatchObject({
    step: outcome.step,
    code: outcome.code,
    ok: outcome.ok,
  });
  expect(await rowsIn(agent.object, 'SELECT 1 FROM record')).toEqual([]);
  return outcome;
}

describe('a backend', () => {
  it('that keeps silent is a TIMEOUT to a read, and out of reach to an effect', async () => {
    const agent = await newAgent();
    silent();
    const [read, effect] = await Promise.all(tools.map((tool) => ask(agent, tool)));
    expect(read).toMatchObject({ code: 'TIMEOUT', next: 'stop_and_tell_user' });
    expect(effect).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', next: 'stop_and_tell_user' });
    for (const outcome of [read, effect]) expect(outcome?.message).toContain('Nothing was changed.');
  });

  it.each(tools)('that is overloaded is asked once for %s', async (...tool) => {
    const agent = await newAgent();
    const seen = failing('D1 DB is overloaded. Requests queued for too long.');
    expect(await ask(agent, tool)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', next: 'stop_and_tell_user' });
    expect(seen.reads).toBe(1);
  });

  it.each(tools)('that loses the connection is asked three times for %s', async (...tool) => {
    const agent = await newAgent();
    const seen = failing('Network connection lost.');
    const started = Date.now();
    expect(await ask(agent, tool)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(seen.reads).toBe(3);
    expect(Date.now() - started).toBeGreaterThanOrEqual(600);
  });

  it('that comes back in time is not noticed', async () => {
    const agent = await newAgent();
    const order_id = await newOrder();
    const answer = await env.DB.prepare('SELECT *, 0 AS refunded_cents FROM orders WHERE order_id = ?')
      .bind(order_id)
      .all();
    const faults = [new Error('Network connection lost.'), new Error('Network connection lost.')];
    ordersAnswer(() => {
      const fault = faults.pop();
      return fault === undefined ? Promise.resolve(answer) : Promise.reject(fault);
    });
    expect(outcomeOf(await agent.call('get_order', { order_id }))).toMatchObject({ code: 'OK', data: { order_id } });
  });

  it.each(tools)('that is broken is one fixed text and an id that the log explains, for %s', async (...tool) => {
    const agent = await newAgent();
    const lines = vi.spyOn(console, 'log');
    const seen = failing('D1_ERROR: no such column: password_of_ana');
    const outcome = await ask(agent, tool);
    expect(outcome).toMatchObject({ code: 'INTERNAL_ERROR', next: 'stop_and_tell_user' });
    const [, id] = /^Something went wrong inside\. Nothing was changed\. Error id: (err_[0-9a-f]{32})$/.exec(
      outcome.message ?? '',
    ) ?? ['', 'no id'];
    expect(JSON.stringify(outcome)).not.toContain('password');
    expect(lines.mock.calls.flat().find((line) => String(line).includes(`"error_id":"${id}"`))).toContain('password');
    expect(seen.reads).toBe(1);
  });

  it('that answers with what no order is, is broken', async () => {
    const agent = await newAgent();
    const drifted = { order_id: 'ORD-1', total_cents: 'a lot' };
    const answer = await env.DB.prepare('SELECT 1').all();
    ordersAnswer(async () => ({ ...answer, results: [drifted] }));
    const outcome = await ask(agent, reading);
    expect(outcome.code).toBe('INTERNAL_ERROR');
    expect(JSON.stringify(outcome)).not.toContain('a lot');
  });

  it('that failed once is asked afresh by the next call', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const order = await newOrder();
    failing('D1 DB is overloaded.');
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('UPSTREAM_UNAVAILABLE');
    vi.restoreAllMocks();
    expect(outcomeOf(await agent.call('refund_order', refund(order)))).toMatchObject({ code: 'OK', replayed: false });
  });
});
