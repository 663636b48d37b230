/** The session's log: one row for everything that happened, chained, and what of it goes where (docs/specification.md#audit). */
import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hashOf } from '../../src/gate/canonical.ts';
import type { AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { decide, linkOf, parkedRefund, parkIn, reject, type Parked } from '../support/approver.ts';
import { AHEAD, alarmOf, auditIn, changePolicy, rowsIn, runAlarm, withoutAlarms } from '../support/inside.ts';
import { APPROVERS, newAgent, newOrder, outcomeOf, POLLING, refund, type Agent } from '../support/session.ts';

const at = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: ms });
beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The places at which rows do not follow from the row before, as docs/specification.md#audit words it. */
function breaksOf({ caller_id, session_id, uid }: Agent, rows: AuditRow[]): number[] {
  let previous = hashOf([caller_id, session_id, uid]);
  return rows.flatMap((row, place) => {
    const { arguments: text, salt, hash, ...chained } = row;
    const expected = hashOf([2, previous, chained]);
    const argumentsFit = text === null || (row.arguments_cut ? row.kept_hash : row.args_hash) === hashOf([salt, text]);
    previous = hash;
    return row.seq === place + 1 && hash === expected && argumentsFit ? [] : [place];
  });
}

const told = ({ kind, code, actor, ok }: AuditRow): string => `${kind} ${code} ${actor} ${ok}`;

describe('the log', () => {
  it('holds one row for each call, decision and event, in the order of settling, and each proves the one before', async () => {
    const parked = await parkedRefund({ max_steps: 20, approval_ttl_seconds: 60 });
    const { agent, order } = parked;
    const stub = agent.stub();
    await agent.call('refund_order', refund(order));
    await stub.resend(parked.id, 'req-operator');
    await decide(parked, { decision: null });
    await decide(parked, { phrase: '1' });
    await decide(parked);
    await decide(parked);
    await agent.call('refund_order', refund(order));
    await reject(await parkIn(agent));
    await stub.withdraw((await parkIn(agent)).id, 'req-operator');
    const failing = await parkIn(agent);
    await changePolicy(agent, { max_refund_cents: 1 });
    await decide(failing);
    await changePolicy(agent, { max_refund_cents: 50_000 });
    await parkIn(agent);
    at(AHEAD + 60_000);
    await runAlarm(agent.object);
    await stub.approval(agent.uid, parked.id, 0);
    await parkIn(agent);
    await stub.end(null);

    const rows = await auditIn(agent.object);
    expect(rows.map(told)).toEqual([
      'call CONFIRMATION_REQUIRED agent false',
      'call CONFIRMATION_REQUIRED agent false',
      'event MAIL_RESENT operator true',
      'decision OK approver:0 true',
      'call OK agent true',
      'call CONFIRMATION_REQUIRED agent false',
      'decision CONFIRMATION_REJECTED approver:0 false',
      'call CONFIRMATION_REQUIRED agent false',
      'event WITHDRAWN operator false',
      'call CONFIRMATION_REQUIRED agent false',
      'decision POLICY_LIMIT approver:0 false',
      'call CONFIRMATION_REQUIRED agent false',
      'event APPROVAL_EXPIRED alarm false',
      'call CONFIRMATION_REQUIRED agent false',
      'event SESSION_ENDED session false',
      'event SESSION_ENDED session true',
    ]);
    expect(breaksOf(agent, rows)).toEqual([]);
    expect(rows.flatMap(({ attempt }, place) => (attempt === null ? [] : [[place, attempt]]))).toEqual([[3, 1]]);
    expect(rows.map(({ step }) => step)).toEqual([
      1,
      2,
      null,
      null,
      3,
      4,
      null,
      5,
      null,
      6,
      null,
      7,
      null,
      8,
      null,
      null,
    ]);
    expect(rows.map(({ approval_id }) => approval_id !== null).indexOf(false)).toBe(15);
    const [first, , resent, decision, replay] = rows;
    expect(new Set([first, resent, decision, replay].map((row) => row?.approval_id))).toEqual(new Set([parked.id]));
    expect(replay).toMatchObject({ replayed: true, key: first?.key, contract: first?.contract });
    expect(decision).toMatchObject({
      key: first?.key,
      contract: first?.contract,
      request_id: 'req-decide',
      tool: 'refund_order',
    });
    expect(resent).toMatchObject({ request_id: 'req-operator', arguments: null, args_hash: null, step: null });
  });

  it('has one author: of calls that settle together no two follow the same row', async () => {
    const agent = await newAgent({ max_steps: 50 });
    const orders = await Promise.all(Array.from({ length: 10 }, () => newOrder()));
    const answers = await Promise.all([...orders, ...orders].map((order_id) => agent.call('get_order', { order_id })));
    const rows = await auditIn(agent.object);
    expect(rows).toHaveLength(20);
    expect(breaksOf(agent, rows)).toEqual([]);
    const places = answers.map((answer) => ('audit' in answer ? answer.audit : null));
    expect(places.toSorted((a, b) => (a?.seq ?? 0) - (b?.seq ?? 0))).toEqual(
      rows.map(({ seq, hash }) => ({ seq, hash })),
    );
  });

  it('names the fields that did not fit, and the tool as it may be shown', async () => {
    const agent = await newAgent();
    await agent.call('refund_order', refund('1001', { amount_cents: '1' }));
    await agent.call('r\u0000m <x>', {});
    expect(await auditIn(agent.object)).toMatchObject([
      { fields: ['order_id', 'amount_cents'] },
      { fields: null, tool: 'r?m??x?' },
    ]);
  });

  it('keeps arguments that parse as RFC 8785 text, others as they were written, cut and escaped', async () => {
    const agent = await newAgent();
    const written = `{ "order_id" :"\u0000\u009b\ud800${'é'.repeat(4096)}`;
    for (const args of [written, { order_id: '\u2028é' }, undefined, null, ' {"b":2.0, "a":1}'])
      await agent.call('get_order', args);
    const rows = await auditIn(agent.object);
    expect(rows.map(({ arguments: text }) => text)).toEqual([
      `{ "order_id" :"\\u0000\\u009b\\ud800${'é'.repeat(2031)}`,
      '{"order_id":"\\u2028é"}',
      null,
      'null',
      '{"a":1,"b":2}',
    ]);
    expect(rows.map(({ arguments_cut }) => arguments_cut)).toEqual([true, false, false, false, false]);
    const whole = `{ "order_id" :"\\u0000\\u009b\\ud800${'é'.repeat(4096)}`;
    expect(rows[0]?.args_hash).toBe(hashOf([rows[0]?.salt ?? '', whole]));
    expect(breaksOf(agent, rows)).toEqual([]);
    expect(new Set(rows.map(({ salt }) => salt)).size).toBe(5);
  });

  it('shows the arguments of a refund whatever blanks they were padded with', async () => {
    const agent = await newAgent({ confirm_above_cents: 50_000 });
    const args = refund(await newOrder());
    const padded = JSON.stringify(args).replace('{', `{${' '.repeat(20_000)}`);
    expect(outcomeOf(await agent.call('refund_order', padded)).code).toBe('OK');
    const [row] = await auditIn(agent.object);
    expect(JSON.parse(row?.arguments ?? '')).toEqual(args);
    expect(row?.arguments_cut).toBe(false);
  });

  it('keeps 256 KiB of arguments, also across the death of the object, and then their hash', async () => {
    const agent = await newAgent({ max_steps: 100 });
    const text = (n: number): string => `${n}${'x'.repeat(4_200)}`;
    for (let n = 0; n < 66; n += 1) {
      if (n === 60) await evictDurableObject(env.SESSION.getByName(agent.object));
      await agent.call('nothing', text(n));
    }
    const rows = await auditIn(agent.object);
    expect(rows.map(({ arguments_omitted }) => arguments_omitted)).toEqual(rows.map((_, n) => n >= 64));
    expect(rows.slice(64).map((row) => row.arguments)).toEqual([null, null]);
    for (const [n, row] of rows.entries()) expect(row.args_hash).toBe(hashOf([row.salt ?? '', text(n)]));
    expect(breaksOf(agent, rows)).toEqual([]);
  });

  it('says which policy a call was judged under, at which stage, and in which trace', async () => {
    const agent = await newAgent();
    await agent.call('nothing', {});
    await changePolicy(agent, { max_refund_cents: 1 });
    const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';
    const call = { uid: agent.uid, tool: 'refund_order', arguments: refund(await newOrder()), call_id: 'traced' };
    await agent.stub().call({ ...call, request_id: 'req', trace_id });
    await agent.stub().end(null);
    expect(await auditIn(agent.object)).toMatchObject([
      { policy_version: 1, stage: 1, trace_id: null, candidate: null, reason: null },
      { policy_version: 2, stage: 6, trace_id },
      { policy_version: 2, stage: null, trace_id: null },
    ]);
  });

  it.each<[string, number, (parked: Parked) => Promise<unknown>]>([
    ['a replay', 4, ({ agent, order }) => agent.call('refund_order', refund(order))],
    ['a yes', 8, (parked) => decide(parked)],
    ['a no', 7, (parked) => reject(parked)],
    [
      'a yes under a narrower policy',
      6,
      (parked) => changePolicy(parked.agent, { max_refund_cents: 1 }).then(() => decide(parked)),
    ],
    [
      'a yes to a tool that was taken away',
      1,
      (parked) => changePolicy(parked.agent, { allowed_tools: [] }).then(() => decide(parked)),
    ],
  ])('names the stage that ended %s: %i', async (_, stage, act) => {
    const parked = await parkedRefund();
    await act(parked);
    expect((await auditIn(parked.agent.object)).at(-1)).toMatchObject({ stage });
  });

  it('binds who decided, what they were shown, and what the ledger applied', async () => {
    const parked = await parkedRefund();
    const { agent, order, id } = parked;
    await decide(parked);
    await reject(await parkIn(agent));
    const [asked, decision, , rejection] = await auditIn(agent.object);
    const answer = { order_id: order, refunded_cents: 2590, remaining_refundable_cents: 9410 };
    expect(decision?.result_hash).toBe(hashOf({ subject: order, amount: 2590, currency: 'BRL', answer }));
    const [{ shown } = {}] = await rowsIn(agent.object, 'SELECT shown FROM record WHERE approval_id = ?', id);
    for (const row of [decision, rejection])
      expect(row?.approver_hash).toBe(hashOf([row?.salt ?? '', APPROVERS[0] ?? '']));
    expect(decision?.shown_hash).toBe(hashOf([decision?.salt ?? '', shown ?? null]));
    expect(asked).toMatchObject({ result_hash: null, approver_hash: null, shown_hash: null });
    expect(rejection).toMatchObject({ result_hash: null, arguments: null, args_hash: null });
  });
});

describe("the log's lines", () => {
  it('are the rows without what was said in them', async () => {
    const console_ = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const parked = await parkedRefund({}, { requested_by: 'cy@shop.test' });
    const { agent } = parked;
    await runAlarm(agent.object);
    await vi.waitFor(async () => {
      const answer = await agent.stub().approval(agent.uid, parked.id, 0);
      expect(answer).toMatchObject({ delivery: { sent: 2 } });
    }, POLLING);
    await agent.call('nothing', { argument: 'a Zebra' });
    await agent.call('refund_order', refund('a Zebra'));
    await reject(parked, 'a Zebra note');
    const lines = console_.mock.calls.flat().map(String);
    const rows = await auditIn(agent.object);
    const logged = lines.filter((line) => line.includes('"event":"audit"') && line.includes(agent.uid));
    expect(logged.map((line) => JSON.parse(line) as unknown)).toEqual(
      rows.map(({ arguments: _text, salt: _salt, ...row }) => ({ event: 'audit', ...row })),
    );
    const { bits } = await linkOf(parked);
    for (const secret of [
      ...APPROVERS,
      'cy@shop.test',
      'Zebra',
      bits,
      'eyJ',
      '?t=',
      'damaged',
      'amount_cents',
      '25.90',
    ])
      expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  });
});

describe('rows on their way', () => {
  it('are due within 5 seconds, and no mail that is reported meanwhile puts them off', async () => {
    const parked = await parkedRefund();
    const { agent, id } = parked;
    expect(await alarmOf(agent.object)).toBe(AHEAD);
    await runAlarm(agent.object);
    await agent.stub().delivered({ type: 'approval', object: agent.object, approval_id: id, approver: 0 }, 'sent');
    await agent.call('nothing', {});
    const due = await alarmOf(agent.object);
    expect(due).toBeLessThanOrEqual(AHEAD + 5_000);
    at(AHEAD + 3_000);
    await agent.stub().delivered({ type: 'approval', object: agent.object, approval_id: id, approver: 1 }, 'sent');
    await agent.call('nothing', {});
    expect(await alarmOf(agent.object)).toBe(due);
  });
});
