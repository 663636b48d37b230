/** Attacks by how much is sent and how often: bombs, spent sessions, floods of approvals, mails and polls. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parkedRefund, reject } from '../support/approver.ts';
import { auditIn, dumpOf, runAlarm, withoutAlarms } from '../support/inside.ts';
import { ask } from '../support/over-http.ts';
import { APPROVAL, codeOf, freeAgent, mailedLink, sendAs, submit, tokenOf, visit } from '../support/reached.ts';
import { ledgerOf, newAgent, newOrder, refund } from '../support/session.ts';

beforeEach(() => {
  withoutAlarms();
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

const KIB = 1024;

describe('a bomb', () => {
  const deep = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;

  it('of size or depth is refused unread or in time, and takes no step where it is no call', async () => {
    const { agent, call } = await freeAgent();
    const bodies: [unknown, number][] = [
      [`{"tool":"${'x'.repeat(64 * KIB)}"}`, 413],
      [`{"tool":"x","arguments":${deep(100)}}`, 400],
      [`{"tool":"x","arguments":${deep(10_000)}`, 400],
      ['['.repeat(60_000), 400],
      [`{${'"a":1,'.repeat(9_000)}"b":1}`, 400],
      [`{${Array.from({ length: 5_000 }, (_, index) => `"m${index}":1`).join(',')}}`, 422],
      [`"${String.raw`\u0041`.repeat(10_000)}"`, 422],
    ];
    for (const [body, status] of bodies) expect((await call(body)).status).toBe(status);
    expect(await auditIn(agent.object)).toEqual([]);
  });

  it('within arguments is one outcome of a few kilobytes', async () => {
    const { call } = await freeAgent();
    const members = Array.from({ length: 3_000 }, (_, index) => `"m${index}":1`).join(',');
    const bombs: [string, string][] = [
      [`{"expression":"${'1'.repeat(33_000)}"}`, 'INVALID_JSON'],
      [deep(64).replace(/^\[|\]$/g, ''), 'INVALID_ARGUMENTS'],
      [`{"expression":${deep(66)}}`, 'INVALID_JSON'],
      [`{${members}}`, 'INVALID_ARGUMENTS'],
      [`{"expression":[${'1,'.repeat(9_000)}1]}`, 'INVALID_ARGUMENTS'],
      [`{"expression":"${'('.repeat(30_000)}"}`, 'INVALID_ARGUMENTS'],
    ];
    for (const [args, code] of bombs) {
      const answer = await call({ tool: 'calculator', arguments: args });
      expect(codeOf(answer)).toBe(code);
      expect(JSON.stringify(answer.body).length).toBeLessThan(16 * KIB);
    }
  });

  it('of arithmetic is answered', async () => {
    const { call } = await freeAgent();
    const wide = '9'.repeat(100);
    const bombs: [string, string][] = [
      ['2 ** 999999', 'BAD_EXPRESSION'],
      ['9**9**9', 'BAD_EXPRESSION'],
      ['1e999999', 'BAD_EXPRESSION'],
      [`${'('.repeat(49)}1${')'.repeat(49)}`, 'OK'],
      ['('.repeat(100), 'BAD_EXPRESSION'],
      [`${'-'.repeat(99)}1`, 'OK'],
      [wide, 'RESULT_OUT_OF_RANGE'],
      [`1/${'7/'.repeat(48)}7`, 'OK'],
      [Array.from({ length: 50 }, () => '9').join('*'), 'RESULT_OUT_OF_RANGE'],
      [`0.${'1'.repeat(98)}`, 'OK'],
      ["__import__('os').system('x')", 'BAD_EXPRESSION'],
      ['constructor.constructor("x")()', 'BAD_EXPRESSION'],
      ['this', 'BAD_EXPRESSION'],
      ['`${1}`', 'BAD_EXPRESSION'],
    ];
    for (const [expression, code] of bombs)
      expect({ expression, code: codeOf(await call({ tool: 'calculator', arguments: { expression } })) }).toEqual({
        expression,
        code,
      });
  });
});

describe('a session that is spent', () => {
  it('keeps nothing more, however often it is called', async () => {
    const agent = await newAgent({ max_steps: 1 });
    const token = await tokenOf(agent);
    const call = { tool: 'get_order', arguments: { order_id: 'ORD-1001' } };
    for (let count = 0; count < 101; count += 1) await sendAs(token, '/v1/calls', call);
    const closed = await sendAs(token, '/v1/calls', call);
    expect(closed.status).toBe(429);
    const before = await dumpOf(agent.object);
    const inRow = {
      output: Array.from({ length: 20 }, () => ({ type: 'function_call', call_id: 'c', name: 'x', arguments: '{}' })),
    };
    for (let count = 0; count < 20; count += 1) {
      expect((await sendAs(token, '/v1/calls', { ...call, call_id: `late${count}` })).status).toBe(429);
      expect((await sendAs(token, '/v1/calls/openai', inRow)).status).toBe(429);
    }
    expect(await dumpOf(agent.object)).toBe(before);
    expect(await auditIn(agent.object)).toHaveLength(102);
  });

  it('keeps no more of what it is sent than the audit may hold', async () => {
    const { agent, call } = await freeAgent();
    for (let count = 0; count < 5; count += 1)
      await call({ tool: 'x'.repeat(60_000), arguments: 'y', call_id: 'z'.repeat(128) });
    await call({ tool: 'calculator', arguments: { expression: '\u{1f600}'.repeat(8_000) } });
    expect((await dumpOf(agent.object)).length).toBeLessThan(64 * KIB);
  });
});

describe('a session of a thousand tools', () => {
  it('keeps each of their names once', async () => {
    const tools = Array.from({ length: 4_000 }, () => 'get_order');
    const agent = await newAgent({}, { tools });
    expect((await dumpOf(agent.object)).length).toBeLessThan(4 * KIB);
  });
});

describe('an agent that asks and asks', () => {
  it('has three approvals waiting and ten in all, and its approvers a mail for each, a word of each decision by another, and three notices', async () => {
    const subjects: string[] = [];
    vi.spyOn(env.EMAIL, 'send').mockImplementation(async (mail: EmailMessage | EmailMessageBuilder) => {
      if (JSON.stringify(mail.to).includes('@flood.test')) subjects.push((mail as EmailMessageBuilder).subject);
      return { messageId: 'sent' };
    });
    const mailed = (id: string): number => subjects.filter((subject) => subject.includes(id)).length;
    const agent = await newAgent({ approvers: ['ana@flood.test', 'bo@flood.test'], max_steps: 200 });
    const token = await tokenOf(agent);
    const asked = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      for (let more = 0; more < 4; more += 1) {
        const { body } = await sendAs(token, '/v1/calls', {
          tool: 'refund_order',
          arguments: refund(await newOrder()),
        });
        const approval = body['approval'] as { id: string } | undefined;
        expect(['CONFIRMATION_REQUIRED', 'POLICY_LIMIT']).toContain(body['code']);
        if (approval !== undefined) asked.add(approval.id);
      }
      expect(asked.size).toBe(Math.min(3 * (round + 1), 10));
      await runAlarm(agent.object);
      await vi.waitFor(() => expect([...asked].filter((id) => mailed(id) < 2)).toEqual([]), 5_000);
      for (const id of asked) await reject({ agent, id, order: '' });
    }
    await vi.waitFor(() => expect(subjects.length).toBe(2 * 10 + 10 + 2 * 3), 5_000);
    expect(asked.size).toBe(10);
    expect([...asked].filter((id) => mailed(id) !== 3)).toEqual([]);
  });

  it('cannot exchange what a person was asked for something else', async () => {
    const parked = await parkedRefund({ max_steps: 50 });
    const token = await tokenOf(parked.agent);
    const other = await newOrder();
    const bait = { tool: 'refund_order', call_id: 'c-bait' };
    expect(codeOf(await sendAs(token, '/v1/calls', { ...bait, arguments: refund(parked.order) }))).toBe(
      'CONFIRMATION_REQUIRED',
    );
    const switches = [
      refund(other),
      refund(parked.order, { amount_cents: 9_000 }),
      refund(parked.order, { reason: 'not_delivered' }),
    ];
    for (const args of switches)
      expect(codeOf(await sendAs(token, '/v1/calls', { ...bait, arguments: args }))).toBe('CALL_ID_REUSED');
    const { body } = await ask(token, 'GET', `/v1/approvals/${parked.id}`);
    expect(body).toMatchObject({ status: 'pending', arguments: refund(parked.order) });
    const { link } = await mailedLink(parked);
    const form = { ...APPROVAL, order_id: other, amount_cents: '9000', tool: 'refund_order', arguments: '{}' };
    expect((await submit(link, form)).status).toBe(303);
    expect(await ledgerOf(parked.order)).toEqual({ refunded_cents: 2_590, applied: 1, voids: 0 });
    expect(await ledgerOf(other)).toEqual({ refunded_cents: 0, applied: 0, voids: 0 });
  });
});

describe('a host that waits and waits', () => {
  it('is answered at once past four waits and refused past sixty polls, and a decision ends what waits', async () => {
    vi.useRealTimers();
    const parked = await parkedRefund();
    const headers = { authorization: `Bearer ${await tokenOf(parked.agent)}` };
    let waiting = 70;
    const polls = Array.from({ length: 70 }, async () => {
      const { status } = await visit(`/v1/approvals/${parked.id}?wait=25`, { headers });
      waiting -= 1;
      return status;
    });
    await vi.waitFor(() => expect(waiting).toBe(4), 10_000);
    await reject(parked);
    const statuses = await Promise.all(polls);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });
});
