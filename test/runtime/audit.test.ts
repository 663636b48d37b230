/** The session's log: one row for everything that happened, chained, and what of it goes where (docs/specification.md#audit). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hashOf } from '../../src/gate/canonical.ts';
import type { AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { decide, linkOf, parkedRefund, parkIn, reject } from '../support/approver.ts';
import { AHEAD, alarmOf, auditIn, changePolicy, runAlarm, withoutAlarms } from '../support/inside.ts';
import { APPROVERS, newAgent, newOrder, POLLING, refund, type Agent } from '../support/session.ts';

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
    const expected = hashOf([1, previous, chained]);
    const argumentsFit = text === null || salt === null || row.args_hash === hashOf([salt, text]);
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

  it('keeps arguments as they were written, cut and escaped before they are hashed', async () => {
    const agent = await newAgent();
    const written = `{ "order_id" :"\u0000\u009b\ud800${'é'.repeat(4096)}`;
    for (const args of [written, { order_id: '\u2028é' }, undefined, null]) await agent.call('get_order', args);
    const rows = await auditIn(agent.object);
    expect(rows.map(({ arguments: text }) => text)).toEqual([
      `{ "order_id" :"\\u0000\\u009b\\ud800${'é'.repeat(2031)}`,
      '{"order_id":"\\u2028é"}',
      null,
      'null',
    ]);
    expect(breaksOf(agent, rows)).toEqual([]);
    expect(new Set(rows.map(({ salt }) => salt)).size).toBe(4);
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
