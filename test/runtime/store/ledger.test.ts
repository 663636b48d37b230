import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { attemptsFrom, listAttempts, listLedger } from '../../../src/gate/ledger/attempts.ts';
import { revokeCaller } from '../../../src/gate/ledger/caller-changes.ts';
import { InvalidCursor } from '../../../src/gate/ledger/columns.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import type { Attempt } from '../../../src/gate/ports.ts';
import { orders } from '../../../src/tools/orders/orders.ts';
import { noBackends } from '../../support/backends.ts';
import { attempt, liveCaller, order, refundedCents, refundOf, sendRefund, type Refund } from '../../support/ledger.ts';
import { meteredD1 } from '../../support/metered-d1.ts';

const now = (): number => 1_800_000_000_000;

function ledger() {
  const { db, rowsWritten } = meteredD1(env.DB);
  const kit = { ledger: ledgerSql(db), backends: noBackends, now };
  return {
    send: (sent: Attempt, refund: Refund, customer: string | null = null) => sendRefund(kit, sent, refund, customer),
    attempts: attemptsFrom(kit),
    rowsWritten,
  };
}

describe('a refund', () => {
  it('applies a refund and moves the order, two rows written', async () => {
    const { send, rowsWritten } = ledger();
    const id = await order();
    const row = await send(attempt(await liveCaller(), refundOf(id)), refundOf(id), 'CUS-1');
    expect(row).toEqual({
      applied: true,
      answer: { order_id: id, refunded_cents: 2_590, remaining_refundable_cents: 9_410 },
    });
    expect(await refundedCents(id)).toBe(2_590);
    expect(rowsWritten()).toBe(2);
  });

  it('answers with integers, not with 2590.0', async () => {
    const refund = refundOf(await order());
    const sent = attempt(await liveCaller(), refund);
    await ledger().send(sent, refund);
    const answer = await env.DB.prepare('SELECT answer FROM attempts WHERE effect_key = ?')
      .bind(sent.effect_key)
      .first('answer');
    expect(answer).toMatch(/"refunded_cents":2590,"remaining_refundable_cents":9410\}$/);
  });

  it('refunds an order to the last cent', async () => {
    const id = await order();
    const refund = refundOf(id, { amount_cents: 12_000 });
    const row = await ledger().send(attempt(await liveCaller(), refund), refund);
    expect(row).toMatchObject({ applied: true, answer: { remaining_refundable_cents: 0 } });
  });

  describe.each([
    { guard: 'no such order', change: { order_id: 'ORD-9999' }, code: 'ORDER_NOT_FOUND', facts: {} },
    { guard: "another customer's order", customer: 'CUS-2', code: 'ORDER_NOT_FOUND', facts: {} },
    {
      guard: 'another currency, even where the amount is too large as well',
      change: { currency: 'USD', amount_cents: 12_001 },
      code: 'CURRENCY_MISMATCH',
      facts: { refundable_cents: 12_000, currency: 'BRL' },
    },
    {
      guard: 'more than is left',
      change: { amount_cents: 12_001 },
      code: 'AMOUNT_EXCEEDS_REFUNDABLE',
      facts: { refundable_cents: 12_000, currency: 'BRL' },
    },
  ])('with $guard', ({ change, customer, code, facts }) => {
    it(`writes a void with ${code} and nothing else, one row written`, async () => {
      const { send, rowsWritten } = ledger();
      const id = await order();
      const refund = refundOf(id, change);
      const row = await send(attempt(await liveCaller(), refund), refund, customer ?? 'CUS-1');
      expect(row).toEqual({ applied: false, code, facts });
      expect(await refundedCents(id)).toBeNull();
      expect(rowsWritten()).toBe(1);
    });
  });

  it.each(['revoked', 'unknown'])('refuses an %s caller before it looks at the order', async (kind) => {
    const caller = kind === 'unknown' ? 'nobody' : await liveCaller();
    await revokeCaller(ledgerSql(env.DB), { caller_id: caller, at: 2_000, request_id: 'req-revoke' });
    const id = await order();
    const refund = refundOf(id, { currency: 'USD' });
    const row = await ledger().send(attempt(caller, refund), refund);
    expect(row).toEqual({ applied: false, code: 'CALLER_REVOKED', facts: {} });
    expect(await refundedCents(id)).toBeNull();
  });

  it('answers a repetition from the first row and writes nothing', async () => {
    const { send, rowsWritten } = ledger();
    const id = await order();
    const sent = attempt(await liveCaller(), refundOf(id));
    const first = await send(sent, refundOf(id));
    const again = await send(sent, refundOf(id));
    expect(again).toEqual(first);
    expect(await refundedCents(id)).toBe(2_590);
    expect(rowsWritten()).toBe(2);
  });

  it('keeps a refusal although it could be applied by now', async () => {
    const { send } = ledger();
    const id = await order({ total_cents: 100 });
    const sent = attempt(await liveCaller(), refundOf(id));
    const first = await send(sent, refundOf(id));
    await env.DB.prepare('UPDATE orders SET total_cents = 12000 WHERE order_id = ?').bind(id).run();
    expect(await send(sent, refundOf(id))).toEqual(first);
    expect(await refundedCents(id)).toBeNull();
  });

  it('applies nothing when it arrives after the void', async () => {
    const { send, attempts } = ledger();
    const id = await order();
    const sent = attempt(await liveCaller(), refundOf(id));
    await attempts.void(sent, 'POLICY_LIMIT');
    expect(await send(sent, refundOf(id))).toEqual({ applied: false, code: 'POLICY_LIMIT', facts: {} });
    expect(await refundedCents(id)).toBeNull();
  });

  it('applies the next attempt of a call whose first is void', async () => {
    const { send, attempts } = ledger();
    const id = await order();
    const first = attempt(await liveCaller(), refundOf(id));
    await attempts.void(first, 'POLICY_LIMIT');
    const second = attempt(first.caller_id, refundOf(id), { call_key: first.call_key, attempt: 2 });
    expect(await send(second, refundOf(id))).toMatchObject({ applied: true });
  });

  it('never refunds more than was paid, nor moves an order without its row, under 50 refunds at once', async () => {
    const { send } = ledger();
    const id = await order({ total_cents: 1_000 });
    const caller = await liveCaller();
    const refund = refundOf(id, { amount_cents: 70 });
    const sent = Array.from({ length: 50 }, () => send(attempt(caller, refund), refund));
    const rows = await Promise.all(sent);
    expect(rows.filter((row) => row?.applied)).toHaveLength(14);
    expect(await refundedCents(id)).toBe(14 * 70);
    const applied = env.DB.prepare('SELECT sum(amount_cents) AS sum FROM attempts WHERE subject = ? AND applied = 1');
    expect(await applied.bind(id).first('sum')).toBe(14 * 70);
  });

  it('moves the order once when one attempt is sent 50 times at once', async () => {
    const { send } = ledger();
    const id = await order();
    const sent = attempt(await liveCaller(), refundOf(id));
    const rows = await Promise.all(Array.from({ length: 50 }, () => send(sent, refundOf(id))));
    expect(new Set(rows.map((row) => JSON.stringify(row)))).toHaveLength(1);
    expect(await refundedCents(id)).toBe(2_590);
  });
});

describe('attemptsFrom', () => {
  it('finds that the send was first and leaves the refund applied', async () => {
    const { send, attempts, rowsWritten } = ledger();
    const id = await order();
    const sent = attempt(await liveCaller(), refundOf(id));
    const applied = await send(sent, refundOf(id));
    expect(await attempts.void(sent, 'TOOL_CHANGED')).toEqual(applied);
    expect(rowsWritten()).toBe(2);
  });

  it('keeps the first reason of two voids, one row written', async () => {
    const { attempts, rowsWritten } = ledger();
    const sent = attempt('nobody', refundOf('ORD-1'));
    await attempts.void(sent, 'TOOL_CHANGED');
    expect(await attempts.void(sent, 'POLICY_LIMIT')).toEqual({ applied: false, code: 'TOOL_CHANGED', facts: {} });
    expect(rowsWritten()).toBe(1);
  });
});

describe('the table attempts', () => {
  it.each([
    ['UPDATE', "UPDATE attempts SET code = 'X' WHERE effect_key = ?"],
    ['DELETE', 'DELETE FROM attempts WHERE effect_key = ?'],
  ])('refuses %s', async (_name, statement) => {
    const sent = attempt('nobody', refundOf('ORD-1'));
    await ledger().attempts.void(sent, 'POLICY_LIMIT');
    await expect(env.DB.prepare(statement).bind(sent.effect_key).run()).rejects.toThrow('attempts are written once');
  });

  it('ignores INSERT OR REPLACE over a row', async () => {
    const { attempts } = ledger();
    const sent = attempt('nobody', refundOf('ORD-1'));
    await attempts.void(sent, 'POLICY_LIMIT');
    await env.DB.prepare(
      `INSERT OR REPLACE INTO attempts
         (backend, subject, effect_key, call_key, attempt, uid, tool, applied, answer, details, at)
       VALUES ('ledger:orders', 'ORD-1', ?, 'k', 1, 'u', 'refund_order', 1, '{}', '{}', 1)`,
    )
      .bind(sent.effect_key)
      .run();
    expect(await attempts.void(sent, 'OTHER')).toEqual({ applied: false, code: 'POLICY_LIMIT', facts: {} });
  });
});

/** A row as no code of the gate writes it. */
const applied = (subject: string, key: string, amount_cents: number, currency = 'BRL') =>
  env.DB.prepare(
    `INSERT INTO attempts
       (backend, subject, effect_key, call_key, attempt, uid, tool, amount_cents, currency, applied, answer, details, at)
     VALUES ('ledger:orders', ?1, ?2, ?2, 1, 'u', 'refund_order', ?3, ?4, 1, '{}', '{}', 1)`,
  ).bind(subject, `${key} ${subject}`, amount_cents, currency);

describe('the table subject_totals', () => {
  it('refuses to refund more than was paid even if the code above asks for it', async () => {
    const id = await order();
    await expect(applied(id, 'over', 12_001).run()).rejects.toThrow('refunded_within_total');
    await applied(id, 'first', 12_000).run();
    await expect(applied(id, 'one more', 1).run()).rejects.toThrow('refunded_within_total');
    expect(await refundedCents(id)).toBe(12_000);
  });

  it('refuses a second currency for one subject', async () => {
    const id = await order();
    await applied(id, 'first', 100).run();
    await expect(applied(id, 'second', 100, 'USD').run()).rejects.toThrow('in one currency');
    expect(await refundedCents(id)).toBe(100);
  });

  it.each([
    ['another sum', 'UPDATE subject_totals SET applied_cents = 0 WHERE subject = ?'],
    ['another currency', "UPDATE subject_totals SET currency = 'USD' WHERE subject = ?"],
    ['another subject', "UPDATE subject_totals SET subject = 'ORD-0' WHERE subject = ?"],
    ['its deletion', 'DELETE FROM subject_totals WHERE subject = ?'],
    ['its replacement', "INSERT OR REPLACE INTO subject_totals VALUES ('ledger:orders', ?, 'BRL', 0)"],
  ])('refuses %s', async (_, statement) => {
    const id = await order();
    await applied(id, 'first', 100).run();
    await expect(env.DB.prepare(statement).bind(id).run()).rejects.toThrow(
      'a total is the sum of the applied attempts',
    );
    expect(await refundedCents(id)).toBe(100);
  });

  it('keeps what was refunded where the shop replaces its order', async () => {
    const id = await order();
    const refund = refundOf(id, { amount_cents: 12_000 });
    await ledger().send(attempt(await liveCaller(), refund), refund);
    await env.DB.prepare("INSERT OR REPLACE INTO orders VALUES (?, 'CUS-1', 12000, 'BRL')").bind(id).run();
    const again = refundOf(id, { amount_cents: 1 });
    expect(await ledger().send(attempt(await liveCaller(), again), again)).toMatchObject({
      applied: false,
      code: 'AMOUNT_EXCEEDS_REFUNDABLE',
    });
  });
});

describe('orders', () => {
  it('shows an order only to its customer and to a session without a customer', async () => {
    const { find } = orders.open({ ledger: ledgerSql(env.DB), backends: noBackends, now });
    const id = await order();
    const found = { order_id: id, customer_id: 'CUS-1', total_cents: 12_000, refunded_cents: 0, currency: 'BRL' };
    expect(await find(id, 'CUS-1')).toEqual(found);
    expect(await find(id, null)).toEqual(found);
    expect(await find(id, 'CUS-2')).toBeNull();
  });
});

describe('listLedger', () => {
  const sql = ledgerSql(env.DB);

  it('shows with each page the totals of the subjects between its ends, and with all pages every total', async () => {
    await env.DB.prepare(
      `INSERT INTO attempts (backend, subject, effect_key, call_key, attempt, uid, tool, amount_cents, currency, details, applied, answer, at)
       SELECT 'stripe', 'pi_' || (value / 2), value, value, 1, 'u', 't', 100, 'USD', '{}', 1, 'null', 1 FROM json_each('[0,1,2,3,4,5]')`,
    ).run();
    const totals: string[][] = [];
    let cursor: string | null = null;
    do {
      const filters = { backend: 'stripe', subject: null };
      const page: Awaited<ReturnType<typeof listLedger>> = await listLedger(sql, cursor, 3, filters);
      totals.push(page.totals.map(({ subject, applied_cents, currency }) => `${subject} ${applied_cents} ${currency}`));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(totals).toEqual([
      ['pi_0 200 USD', 'pi_1 200 USD'],
      ['pi_1 200 USD', 'pi_2 200 USD'],
    ]);
    const one = await listLedger(sql, null, 100, { backend: 'stripe', subject: 'pi_1' });
    expect([one.rows.map(({ subject }) => subject), one.totals.length]).toEqual([['pi_1', 'pi_1'], 1]);
  });
});

describe('listAttempts', () => {
  it('lists every attempt once, page by page', async () => {
    const sql = ledgerSql(env.DB);
    const sent = [
      attempt('nobody', refundOf('ORD-1')),
      attempt('nobody', refundOf('ORD-1')),
      attempt('nobody', refundOf('ORD-1')),
    ];
    for (const one of sent) await ledger().attempts.void(one, 'POLICY_LIMIT');
    const listed = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listAttempts>> = await listAttempts(sql, cursor, 2);
      listed.push(...page.rows);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(new Set(listed.map((row) => `${row.call_key} ${row.attempt}`)).size).toBe(listed.length);
    for (const { call_key } of sent) {
      expect(listed).toContainEqual({
        ...{ backend: 'ledger:orders', subject: 'ORD-1', call_key, attempt: 1, uid: 'uid-1', applied: false },
        ...{ amount_cents: 2_590, currency: 'BRL', answer: null, external_id: null },
        at: new Date(now()).toISOString(),
      });
    }
  });

  it.each(['not-base64url!', btoa('not json'), btoa('[1]')])('refuses the cursor %s', async (cursor) => {
    await expect(listAttempts(ledgerSql(env.DB), cursor, 2)).rejects.toBeInstanceOf(InvalidCursor);
  });
});
