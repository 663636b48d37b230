import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { attemptsFrom, listAttempts } from '../../../src/gate/ledger/attempts.ts';
import { revokeCaller } from '../../../src/gate/ledger/caller-changes.ts';
import { InvalidCursor } from '../../../src/gate/ledger/columns.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import { ordersFrom } from '../../../src/tools/orders/orders.ts';
import { refundsFrom } from '../../../src/tools/orders/refunds.ts';
import { attempt, liveCaller, order, refundedCents, refundOf } from '../../support/ledger.ts';
import { meteredD1 } from '../../support/metered-d1.ts';

const now = (): number => 1_800_000_000_000;

function ledger() {
  const { db, rowsWritten } = meteredD1(env.DB);
  const sql = ledgerSql(db);
  return { refunds: refundsFrom(sql, now), attempts: attemptsFrom(sql, now), rowsWritten };
}

describe('refundsFrom', () => {
  it('applies a refund and moves the order, two rows written', async () => {
    const { refunds, rowsWritten } = ledger();
    const id = await order();
    const row = await refunds.send(attempt(await liveCaller()), refundOf(id), 'CUS-1');
    expect(row).toEqual({
      applied: true,
      answer: { order_id: id, refunded_cents: 2_590, remaining_refundable_cents: 9_410 },
    });
    expect(await refundedCents(id)).toBe(2_590);
    expect(rowsWritten()).toBe(2);
  });

  it('answers with integers, not with 2590.0', async () => {
    const sent = attempt(await liveCaller());
    await ledger().refunds.send(sent, refundOf(await order()), null);
    const answer = await env.DB.prepare('SELECT answer FROM attempts WHERE effect_key = ?')
      .bind(sent.effect_key)
      .first('answer');
    expect(answer).toMatch(/"refunded_cents":2590,"remaining_refundable_cents":9410\}$/);
  });

  it('refunds an order to the last cent', async () => {
    const id = await order();
    const row = await ledger().refunds.send(attempt(await liveCaller()), refundOf(id, { amount_cents: 12_000 }), null);
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
      const { refunds, rowsWritten } = ledger();
      const id = await order();
      const row = await refunds.send(attempt(await liveCaller()), refundOf(id, change), customer ?? 'CUS-1');
      expect(row).toEqual({ applied: false, code, facts });
      expect(await refundedCents(id)).toBe(0);
      expect(rowsWritten()).toBe(1);
    });
  });

  it.each(['revoked', 'unknown'])('refuses an %s caller before it looks at the order', async (kind) => {
    const caller = kind === 'unknown' ? 'nobody' : await liveCaller();
    await revokeCaller(ledgerSql(env.DB), { caller_id: caller, at: 2_000, request_id: 'req-revoke' });
    const id = await order();
    const row = await ledger().refunds.send(attempt(caller), refundOf(id, { currency: 'USD' }), null);
    expect(row).toEqual({ applied: false, code: 'CALLER_REVOKED', facts: {} });
    expect(await refundedCents(id)).toBe(0);
  });

  it('answers a repetition from the first row and writes nothing', async () => {
    const { refunds, rowsWritten } = ledger();
    const id = await order();
    const sent = attempt(await liveCaller());
    const first = await refunds.send(sent, refundOf(id), null);
    const again = await refunds.send(sent, refundOf(id), null);
    expect(again).toEqual(first);
    expect(await refundedCents(id)).toBe(2_590);
    expect(rowsWritten()).toBe(2);
  });

  it('keeps a refusal although it could be applied by now', async () => {
    const { refunds } = ledger();
    const id = await order({ total_cents: 100 });
    const sent = attempt(await liveCaller());
    const first = await refunds.send(sent, refundOf(id), null);
    await env.DB.prepare('UPDATE orders SET total_cents = 12000 WHERE order_id = ?').bind(id).run();
    expect(await refunds.send(sent, refundOf(id), null)).toEqual(first);
    expect(await refundedCents(id)).toBe(0);
  });

  it('applies nothing when it arrives after the void', async () => {
    const { refunds, attempts } = ledger();
    const id = await order();
    const sent = attempt(await liveCaller());
    await attempts.void(sent, 'POLICY_LIMIT');
    expect(await refunds.send(sent, refundOf(id), null)).toEqual({ applied: false, code: 'POLICY_LIMIT', facts: {} });
    expect(await refundedCents(id)).toBe(0);
  });

  it('applies the next attempt of a call whose first is void', async () => {
    const { refunds, attempts } = ledger();
    const id = await order();
    const first = attempt(await liveCaller());
    await attempts.void(first, 'POLICY_LIMIT');
    const second = attempt(first.caller_id, { call_key: first.call_key, attempt: 2 });
    expect(await refunds.send(second, refundOf(id), null)).toMatchObject({ applied: true });
  });

  it('never refunds more than was paid, nor moves an order without its row, under 50 refunds at once', async () => {
    const { refunds } = ledger();
    const id = await order({ total_cents: 1_000 });
    const caller = await liveCaller();
    const sent = Array.from({ length: 50 }, () =>
      refunds.send(attempt(caller), refundOf(id, { amount_cents: 70 }), null),
    );
    const rows = await Promise.all(sent);
    expect(rows.filter(({ applied }) => applied)).toHaveLength(14);
    expect(await refundedCents(id)).toBe(14 * 70);
    const applied = env.DB.prepare('SELECT sum(amount_cents) AS sum FROM attempts WHERE order_id = ? AND applied = 1');
    expect(await applied.bind(id).first('sum')).toBe(14 * 70);
  });

  it('moves the order once when one attempt is sent 50 times at once', async () => {
    const { refunds } = ledger();
    const id = await order();
    const sent = attempt(await liveCaller());
    const rows = await Promise.all(Array.from({ length: 50 }, () => refunds.send(sent, refundOf(id), null)));
    expect(new Set(rows.map((row) => JSON.stringify(row)))).toHaveLength(1);
    expect(await refundedCents(id)).toBe(2_590);
  });
});

describe('attemptsFrom', () => {
  it('finds that the send was first and leaves the refund applied', async () => {
    const { refunds, attempts, rowsWritten } = ledger();
    const id = await order();
    const sent = attempt(await liveCaller());
    const applied = await refunds.send(sent, refundOf(id), null);
    expect(await attempts.void(sent, 'TOOL_CHANGED')).toEqual(applied);
    expect(rowsWritten()).toBe(2);
  });

  it('keeps the first reason of two voids, one row written', async () => {
    const { attempts, rowsWritten } = ledger();
    const sent = attempt('nobody');
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
    const sent = attempt('nobody');
    await ledger().attempts.void(sent, 'POLICY_LIMIT');
    await expect(env.DB.prepare(statement).bind(sent.effect_key).run()).rejects.toThrow('attempts are written once');
  });

  it('ignores INSERT OR REPLACE over a row', async () => {
    const { attempts } = ledger();
    const sent = attempt('nobody');
    await attempts.void(sent, 'POLICY_LIMIT');
    await env.DB.prepare(
      `INSERT OR REPLACE INTO attempts (effect_key, call_key, attempt, uid, tool, applied, answer, order_id, amount_cents, at)
       VALUES (?, 'k', 1, 'u', 'refund_order', 1, '{}', 'ORD-1001', 1, 1)`,
    )
      .bind(sent.effect_key)
      .run();
    expect(await attempts.void(sent, 'OTHER')).toEqual({ applied: false, code: 'POLICY_LIMIT', facts: {} });
  });
});

describe('the table orders', () => {
  it('refuses to give back more than was paid, whatever the code above does', async () => {
    const id = await order();
    const over = env.DB.prepare('UPDATE orders SET refunded_cents = 12001 WHERE order_id = ?').bind(id);
    await expect(over.run()).rejects.toThrow('refunded_within_total');
  });
});

describe('ordersFrom', () => {
  it('shows an order to its customer and to a session without one, to nobody else', async () => {
    const orders = ordersFrom(ledgerSql(env.DB));
    const id = await order();
    const found = { order_id: id, customer_id: 'CUS-1', total_cents: 12_000, refunded_cents: 0, currency: 'BRL' };
    expect(await orders.find(id, 'CUS-1')).toEqual(found);
    expect(await orders.find(id, null)).toEqual(found);
    expect(await orders.find(id, 'CUS-2')).toBeNull();
  });
});

describe('listAttempts', () => {
  it('lists every attempt once, page by page', async () => {
    const sql = ledgerSql(env.DB);
    const sent = [attempt('nobody'), attempt('nobody'), attempt('nobody')];
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
        call_key,
        attempt: 1,
        uid: 'uid-1',
        applied: false,
        at: new Date(now()).toISOString(),
      });
    }
  });

  it.each(['not-base64url!', btoa('not json'), btoa('[1]')])('refuses the cursor %s', async (cursor) => {
    await expect(listAttempts(ledgerSql(env.DB), cursor, 2)).rejects.toBeInstanceOf(InvalidCursor);
  });
});
