/** What somebody can do to the databases who may write to them, and how `audit:verify` finds it (docs/specification.md#audit). */
import { env, exports } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Break } from '../../scripts/breaks.ts';
import type { Piece } from '../../scripts/evidence.ts';
import { OperatorView } from '../../scripts/operator-view.ts';
import { VerificationRun } from '../../scripts/verify.ts';
import type { Head } from '../../src/gate/session/rpc.ts';
import { approves, parks, rejects } from '../support/effects.ts';
import { auditIn, runAlarm, withoutAlarms } from '../support/inside.ts';
import { ADMIN_TOKEN } from '../support/over-http.ts';
import { sessionMethods } from '../support/session-class.ts';
import { newAgent, newOrder, outcomeOf, refund, type Agent } from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

type Ask = (url: URL, init: RequestInit) => Promise<Response>;
const reach: Ask = (url, init) => exports.default.fetch(new Request(url, init));

/** What is wrong with a session, its subjects, or nobody's; other tests of this file leave their own. */
async function breaksOf(agent: Agent, order: string, evidence: Piece[] = [], ask = reach): Promise<Break[]> {
  const pieces = (async function* () {
    yield* evidence;
  })();
  const view = new OperatorView(new URL('https://toolgate.test'), ADMIN_TOKEN, ask);
  const run = new VerificationRun(view, { evidence: pieces, travelMs: 0 });
  const found = await run.breaks();
  return found.filter(({ uid, kind, problem }) => {
    const isOwn = uid === agent.uid || problem.includes(order);
    return isOwn || (kind === 'unreadable' && uid === null);
  });
}

const told = ({ kind, seq, problem }: Break): string => `${kind}: ${seq === null ? '' : `row ${seq} `}${problem}`;

/** Rows 1 to 5: a refund, one that a person approved, one that a person rejected. All of it is in D1. */
async function story() {
  const agent = await newAgent({ confirm_above_cents: 2_590 });
  const order = await newOrder();
  expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('OK');
  const approved = await parks(agent, refund(order, { amount_cents: 2_591 }));
  expect(await approves(agent, approved, { refunded_cents: 2_590 })).toEqual({ decided: 'approved' });
  const rejected = await parks(agent, refund(order, { amount_cents: 2_592 }));
  expect(await rejects(agent, rejected)).toEqual({ decided: 'rejected' });
  await runAlarm(agent.object);
  return { agent, order, approved, rejected };
}

/** Changes a table behind its triggers, which stand again afterwards. */
async function tamper(database: D1Database, table: string, ...statements: string[]): Promise<void> {
  const list = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?";
  const { results } = await database.prepare(list).bind(table).all<{ name: string; sql: string }>();
  for (const { name } of results) await database.prepare(`DROP TRIGGER ${name}`).run();
  for (const statement of statements) await database.prepare(statement).run();
  for (const { sql } of results) await database.prepare(sql).run();
}

const evidenceOf = async ({ object }: Agent): Promise<Piece[]> =>
  (await auditIn(object)).map(({ uid, seq, hash, caller_id, session_id }) => ({
    uid,
    seq,
    hash,
    caller_id,
    session_id,
  }));

describe('audit:verify', () => {
  it('finds nothing wrong with what the gate wrote', async () => {
    const { agent, order } = await story();
    expect(await breaksOf(agent, order, await evidenceOf(agent))).toEqual([]);
  });

  it('finds an amount that was changed in the ledger, its total with it', async () => {
    const { agent, order } = await story();
    await tamper(
      env.DB,
      'attempts',
      `UPDATE attempts SET amount_cents = 259 WHERE subject = '${order}' AND amount_cents = 2590`,
    );
    await tamper(
      env.DB,
      'subject_totals',
      `UPDATE subject_totals SET applied_cents = 259 + 2591 WHERE subject = '${order}'`,
    );
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      `figures: row 1 was written of another result than the ledger has now (ledger:orders ${order}, 259 BRL)`,
    ]);
  });

  it('finds an attempt that was added, with its total', async () => {
    const { agent, order } = await story();
    const key = 'f'.repeat(64);
    await env.DB.prepare(
      `INSERT INTO attempts
         (backend, subject, effect_key, call_key, attempt, uid, tool, amount_cents, currency, details, applied, answer, at)
       VALUES ('ledger:orders', '${order}', '${key}', '${key}', 1, '${agent.uid}', 'refund_order', 100, 'BRL', '{}', 1, '{}', 1)`,
    ).run();
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      `effect: no row tells of the effect that the ledger has: call key ${key}, attempt 1`,
    ]);
  });

  it('finds a total that leaves more to refund', async () => {
    const { agent, order } = await story();
    await tamper(env.DB, 'subject_totals', `UPDATE subject_totals SET applied_cents = 0 WHERE subject = '${order}'`);
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      `total: ledger:orders ${order}: the total is 0, 5181 was applied`,
    ]);
  });

  it('finds an approver whose address was changed, of a yes and of a no', async () => {
    const { agent, order, approved, rejected } = await story();
    for (const id of [approved, rejected])
      await env.DB.prepare("UPDATE approvals SET delivery = replace(delivery, 'ana@', 'eve@') WHERE approval_id = ?")
        .bind(id)
        .run();
    const problem = 'was decided by another person than eve@shop.test, whom the list names now';
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      `approval: row 3 ${problem} (approval ${approved})`,
      `approval: row 5 ${problem} (approval ${rejected})`,
    ]);
  });

  it('finds facts that were changed after the decision', async () => {
    const { agent, order, approved } = await story();
    await env.DB.prepare("UPDATE approvals SET shown = '0' WHERE approval_id = ?").bind(approved).run();
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      `approval: row 3 was decided on other facts than the list says (approval ${approved})`,
    ]);
  });

  it('finds a decision whose approval was removed', async () => {
    const { agent, order, rejected } = await story();
    await env.DB.prepare('DELETE FROM approvals WHERE approval_id = ?').bind(rejected).run();
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      `approval: row 5 decides approval ${rejected}, which the list of approvals does not have`,
    ]);
  });

  it('finds a tail that was cut', async () => {
    const { agent, order } = await story();
    await tamper(env.AUDIT, 'audit', `DELETE FROM audit WHERE uid = '${agent.uid}' AND seq > 3`);
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      'missing: rows 4 to 5 are missing: the session object has rows up to 5',
      expect.stringContaining('is rejected, but no row tells of the decision') as unknown,
    ]);
  });

  it('finds every row that was changed or removed, and what its arguments became', async () => {
    const { agent, order } = await story();
    await tamper(
      env.AUDIT,
      'audit',
      `UPDATE audit SET code = 'POLICY_LIMIT' WHERE uid = '${agent.uid}' AND seq = 1`,
      `UPDATE audit SET arguments = '{}' WHERE uid = '${agent.uid}' AND seq = 2`,
      `DELETE FROM audit WHERE uid = '${agent.uid}' AND seq = 4`,
    );
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      'changed: row 1 was changed, or the row before it',
      'arguments: row 2 has other arguments than were hashed',
      'missing: row 4 is missing',
    ]);
  });

  it('finds a session of refusals that was removed everywhere only by evidence, and then each of its rows', async () => {
    const agent = await newAgent();
    for (const _ of [1, 2]) await agent.call('nothing', {});
    await runAlarm(agent.object);
    const evidence = await evidenceOf(agent);
    await tamper(env.AUDIT, 'audit', `DELETE FROM audit WHERE uid = '${agent.uid}'`);
    await env.DB.prepare('DELETE FROM sessions WHERE uid = ?').bind(agent.uid).run();
    expect(await breaksOf(agent, agent.uid)).toEqual([]);
    expect((await breaksOf(agent, agent.uid, evidence)).map(told)).toEqual(
      [1, 2].map((seq) => `evidence: row ${seq} is in the evidence, but the audit has no row of this session`),
    );
  });

  it('names the chain of a session that was removed from the list of sessions', async () => {
    const { agent, order } = await story();
    await env.DB.prepare('DELETE FROM sessions WHERE uid = ?').bind(agent.uid).run();
    expect((await breaksOf(agent, order)).map(told)).toEqual(['unknown: no session object vouches for this chain']);
  });

  it('shows the arguments of a refund that were padded with blanks', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const args = refund(await newOrder());
    const padded = JSON.stringify(args).replaceAll(',', `,${' '.repeat(7_000)}`);
    expect(outcomeOf(await agent.call('refund_order', padded)).code).toBe('OK');
    await runAlarm(agent.object);
    const stored = env.AUDIT.prepare('SELECT arguments FROM audit WHERE uid = ?').bind(agent.uid);
    expect(JSON.parse(String(await stored.first('arguments')))).toEqual(args);
  });

  it('is not stopped by an answer or a delivery that cannot be read', async () => {
    const { agent, order, approved } = await story();
    const isFirst = `subject = '${order}' AND amount_cents = 2590`;
    await tamper(env.DB, 'attempts', `UPDATE attempts SET answer = '5' WHERE ${isFirst}`);
    await env.DB.prepare("UPDATE approvals SET delivery = '5' WHERE approval_id = ?").bind(approved).run();
    expect((await breaksOf(agent, order)).map(told)).toEqual([
      `figures: row 1 was written of another result than the ledger has now (ledger:orders ${order}, 2590 BRL)`,
      `approval: row 3 was decided by another person than nobody, whom the list names now (approval ${approved})`,
    ]);
  });

  it('says of a list that cannot be read that it could not, and what is wrong with the others', async () => {
    const { agent, order } = await story();
    await tamper(env.DB, 'subject_totals', `UPDATE subject_totals SET applied_cents = 0 WHERE subject = '${order}'`);
    const broken: Ask = (url, init) =>
      url.pathname === '/admin/approvals' ? Promise.resolve(new Response('gone', { status: 404 })) : reach(url, init);
    expect((await breaksOf(agent, order, [], broken)).map(told)).toEqual([
      'unreadable: the list of approvals could not be read: GET /admin/approvals answered 404: gone',
      `total: ledger:orders ${order}: the total is 0, 5181 was applied`,
    ]);
  });

  it('says of an object that cannot be read that it could not, and what is wrong with others', async () => {
    const { agent, order } = await story();
    const other = await story();
    await tamper(env.AUDIT, 'audit', `UPDATE audit SET ok = 0 WHERE uid = '${other.agent.uid}' AND seq = 1`);
    const heads: () => Promise<Head[]> = sessionMethods.heads;
    vi.spyOn(sessionMethods, 'heads').mockImplementation(function (this: { ctx: DurableObjectState }) {
      if (this.ctx.id.name === agent.object) throw new Error('the object dies');
      return heads.call(this);
    });
    expect((await breaksOf(agent, order)).map(told)).toEqual(['unreadable: its session object could not be read']);
    expect((await breaksOf(other.agent, other.order)).map(told)).toEqual([
      'changed: row 1 was changed, or the row before it',
    ]);
  });
});
