import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import { firstPrevious, type AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { deliver } from '../../src/gate/ledger/audit.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';
import { chainOf } from '../support/audit-rows.ts';
import { ask, asOperator, makeCaller, openSessionOf } from '../support/over-http.ts';

type Listed = Record<string, unknown>;

/** Lets a session's rows travel now, which they do by themselves within five seconds. */
async function travelled(callerId: string, sessionId: string, rows: number): Promise<void> {
  await vi.waitFor(async () => {
    await runDurableObjectAlarm(env.SESSION.getByName(sessionObjectName(callerId, sessionId)));
    expect(await rowsOf(callerId)).toHaveLength(rows);
  }, 10_000);
}

let orders = 0;

/** A session of its own whose agent has asked for a refund of 25.90, once the approval and its row have reached D1. */
async function askedForRefund(changes: Record<string, unknown> = {}) {
  const order_id = `ORD-${String((orders += 1)).padStart(4, '0')}`;
  await env.DB.prepare(
    "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES (?, 'CUS-1', 12000, 'BRL')",
  )
    .bind(order_id)
    .run();
  const caller = await makeCaller(changes);
  const session = await openSessionOf(caller.api_key);
  const refund = { order_id, amount_cents: 2_590, currency: 'BRL', reason: 'damaged' };
  const called = await ask(session.token, 'POST', '/v1/calls', { tool: 'refund_order', arguments: refund });
  await travelled(caller.caller_id, session.session_id, 1);
  return { ...caller, ...session, order_id, called };
}

async function rowsOf(callerId: string): Promise<AuditRow[]> {
  return (await asOperator('GET', `/admin/audit?caller_id=${callerId}`)).body['rows'] as AuditRow[];
}

async function approvalOf(callerId: string): Promise<Listed> {
  const { body } = await asOperator('GET', `/admin/approvals?caller_id=${callerId}`);
  return (body['approvals'] as Listed[])[0] ?? {};
}

async function headOf(callerId: string): Promise<Listed | undefined> {
  let query = '';
  for (;;) {
    const { body } = await asOperator('GET', `/admin/audit/heads${query}`);
    const head = (body['heads'] as Listed[]).find(({ caller_id }) => caller_id === callerId);
    const next = body['next_cursor'];
    if (head !== undefined || typeof next !== 'string') return head;
    query = `?cursor=${next}`;
  }
}

const stray = (uid: string) => ({ uid, caller_id: `caller-${uid}`, session_id: 'chat-1' });

describe('GET /admin/audit', () => {
  it('shows the row of a call as the call was answered', async () => {
    const { caller_id, session_id, called } = await askedForRefund();
    const [row] = await rowsOf(caller_id);
    expect(row).toMatchObject({ kind: 'call', session_id, seq: 1, step: 1, code: 'CONFIRMATION_REQUIRED', ok: false });
    expect(called.headers.get('toolgate-audit')).toBe(`${row?.seq}:${row?.hash}`);
    expect(new Date(row?.at ?? '').toISOString()).toBe(row?.at);
  });

  it('pages with a cursor', async () => {
    const session = stray('uid-pages');
    const rows = chainOf(session, [{}, {}, {}]);
    await deliver(ledgerSql(env.AUDIT), rows);
    const first = await asOperator('GET', `/admin/audit?caller_id=${session.caller_id}&limit=2`);
    expect(first.body['rows']).toEqual(rows.slice(0, 2));
    const cursor = String(first.body['next_cursor']);
    const second = await asOperator('GET', `/admin/audit?caller_id=${session.caller_id}&limit=2&cursor=${cursor}`);
    expect(second.body).toEqual({ rows: rows.slice(2), next_cursor: null });
  });

  it('finds by tool, code and time', async () => {
    const session = stray('uid-filters');
    const rows = chainOf(session, [{ at: '2026-01-01T00:00:00.000Z' }, { at: '2026-01-02T00:00:00.000Z' }]);
    await deliver(ledgerSql(env.AUDIT), rows);
    const time = 'from=2026-01-02T00:00:00Z&to=2026-01-02T01:00:00%2B01:00';
    const found = (query: string) => asOperator('GET', `/admin/audit?caller_id=${session.caller_id}&${query}`);
    expect((await found('tool=get_order&code=OK')).body['rows']).toEqual(rows);
    expect((await found('from=2026-01-02T00:00:00Z')).body['rows']).toEqual(rows.slice(1));
    expect((await found(time)).body['rows']).toEqual([]);
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=ten',
    'from=yesterday',
    'from=2026-01-02',
    'callerid=x',
    'tool=a&tool=b',
    'cursor=nonsense',
  ])('refuses ?%s', async (query) => {
    const { status, body } = await asOperator('GET', `/admin/audit?${query}`);
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: 'https://toolgate.test/docs/problems/invalid-body' });
  });

  it('takes an empty value for none', async () => {
    const { caller_id } = await askedForRefund();
    const read = (query: string) => asOperator('GET', `/admin/audit?caller_id=${caller_id}${query}`);
    const { body } = await read('');
    expect((await read('&session_id=&tool=&code=&from=&to=&cursor=&limit=')).body).toEqual(body);
    for (const path of ['/admin/approvals?status=&caller_id=', '/admin/audit/heads?cursor=', '/admin/ledger?cursor='])
      expect((await asOperator('GET', path)).status).toBe(200);
    expect((await asOperator('GET', '/admin/approvals?callerid=')).status).toBe(422);
  });

  it('streams all rows as lines and notes the export', async () => {
    const session = stray('uid-stream');
    const rows = chainOf(
      session,
      Array.from({ length: 1_100 }, () => ({})),
    );
    await deliver(ledgerSql(env.AUDIT), rows);
    const path = `/admin/audit?caller_id=${session.caller_id}`;
    const { headers, body } = await asOperator('GET', path, undefined, { Accept: 'application/x-ndjson' });
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    const lines = String(body['text']).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
    const noted = env.DB.prepare("SELECT action FROM operator_log WHERE action = 'export' AND request_id = ?");
    expect(await noted.bind(headers.get('x-request-id')).first('action')).toBe('export');
  });
});

describe('GET /admin/audit/heads', () => {
  it('tells where a chain ends by the word of its session object', async () => {
    const { caller_id, session_id, called } = await askedForRefund();
    const head = await headOf(caller_id);
    expect(head).toMatchObject({ caller_id, session_id });
    expect(`${String(head?.['seq'])}:${String(head?.['hash'])}`).toBe(called.headers.get('toolgate-audit'));
  });

  it('tells of a session whose object never began that its chain is empty', async () => {
    await env.DB.prepare(
      "INSERT INTO sessions (uid, caller_id, session_id, opened_at, expires_at) VALUES ('0', 'caller-never', 'chat', 1, 2)",
    ).run();
    expect(await headOf('caller-never')).toEqual({
      uid: '0',
      caller_id: 'caller-never',
      session_id: 'chat',
      seq: 0,
      hash: firstPrevious('caller-never', 'chat', '0'),
    });
  });
});

describe('GET /admin/audit/heads of a time', () => {
  it('lists the sessions that were opened then', async () => {
    const { caller_id } = await askedForRefund();
    const callersIn = async (query: string): Promise<unknown[]> => {
      const { body } = await asOperator('GET', `/admin/audit/heads?${query}`);
      return (body['heads'] as Listed[]).map((head) => head['caller_id']);
    };
    const now = Date.now();
    const [before, after] = [now - 60_000, now + 60_000].map((ms) => new Date(ms).toISOString());
    expect(await callersIn(`from=${before}&to=${after}`)).toContain(caller_id);
    expect(await callersIn(`from=${after}`)).not.toContain(caller_id);
    expect(await callersIn(`to=${before}`)).not.toContain(caller_id);
    expect((await asOperator('GET', '/admin/audit/heads?from=yesterday')).status).toBe(422);
  });
});

describe('GET /admin/approvals', () => {
  it('shows an approval and its delivery, and no link', async () => {
    const { caller_id, session_id, order_id } = await askedForRefund();
    const approval = await approvalOf(caller_id);
    expect(approval).toMatchObject({
      id: expect.stringMatching(/^apr_/) as unknown,
      status: 'pending',
      caller_id,
      session_id,
      tool: 'refund_order',
      subject: order_id,
      amount_cents: 2_590,
      currency: 'BRL',
      decided_at: null,
      delivery: [{ approver: 0, email: 'ana@shop.test', undeliverable: false }],
    });
    expect(JSON.stringify(approval)).not.toMatch(/https?:|bits|token/);
  });

  it('finds by session', async () => {
    const { caller_id, session_id } = await askedForRefund();
    const found = async (session: string) =>
      (await asOperator('GET', `/admin/approvals?caller_id=${caller_id}&session_id=${session}`)).body['approvals'];
    expect(await found(session_id)).toHaveLength(1);
    expect(await found('another')).toEqual([]);
  });

  it('finds by status', async () => {
    const { caller_id } = await askedForRefund();
    const { body } = await asOperator('GET', `/admin/approvals?caller_id=${caller_id}&status=executed`);
    expect(body).toEqual({ approvals: [], next_cursor: null });
  });

  it.each(['status=open', 'callerid=x', 'cursor=nonsense'])('refuses ?%s', async (query) => {
    expect((await asOperator('GET', `/admin/approvals?${query}`)).status).toBe(422);
  });
});

describe('POST /admin/approvals/{id}/withdraw', () => {
  it('fails a pending approval once, and leaves an event in the audit', async () => {
    const { caller_id, session_id, token } = await askedForRefund();
    const id = String((await approvalOf(caller_id))['id']);
    const withdrawn = await asOperator('POST', `/admin/approvals/${id}/withdraw`);
    expect([withdrawn.status, withdrawn.body]).toEqual([200, { id, status: 'failed', code: 'WITHDRAWN' }]);
    expect((await ask(token, 'GET', `/v1/approvals/${id}`)).body).toMatchObject({ status: 'failed' });
    const again = await asOperator('POST', `/admin/approvals/${id}/withdraw`);
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ detail: 'the approval is no longer pending' });
    await travelled(caller_id, session_id, 2);
    expect((await rowsOf(caller_id))[1]).toMatchObject({ kind: 'event', actor: 'operator', approval_id: id });
  });
});

describe('POST /admin/approvals/{id}/resend', () => {
  it('asks the approvers of a pending approval again', async () => {
    const { caller_id } = await askedForRefund();
    const id = String((await approvalOf(caller_id))['id']);
    const resent = await asOperator('POST', `/admin/approvals/${id}/resend`);
    expect([resent.status, resent.body]).toEqual([200, { id, status: 'pending' }]);
  });

  it('knows no unknown approval', async () => {
    expect((await asOperator('POST', '/admin/approvals/apr_none/resend')).status).toBe(404);
  });
});

describe('GET /admin/ledger', () => {
  it('shows the attempt of an effect, as the audit tells of it', async () => {
    const { caller_id, order_id } = await askedForRefund({ confirm_above_cents: 50_000 });
    const [row] = await rowsOf(caller_id);
    expect(row).toMatchObject({ ok: true, attempt: 1 });
    const { body } = await asOperator('GET', '/admin/ledger?limit=1000');
    const attempt = {
      ...{ backend: 'ledger:orders', subject: order_id, call_key: row?.key, attempt: 1, uid: row?.uid, applied: true },
      ...{ amount_cents: 2_590, currency: 'BRL', external_id: null },
      answer: { order_id, refunded_cents: 2_590, remaining_refundable_cents: 9_410 },
      at: expect.stringMatching(/Z$/) as unknown,
    };
    const total = { backend: 'ledger:orders', subject: order_id, currency: 'BRL', applied_cents: 2_590 };
    expect(body['rows']).toContainEqual(attempt);
    expect(body['totals']).toContainEqual(total);
    const one = await asOperator('GET', `/admin/ledger?backend=ledger:orders&subject=${order_id}`);
    expect(one.body).toEqual({ rows: [attempt], totals: [total], next_cursor: null });
  });

  it('refuses a cursor it never gave', async () => {
    expect((await asOperator('GET', '/admin/ledger?cursor=nonsense')).status).toBe(422);
  });
});
