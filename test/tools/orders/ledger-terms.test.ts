/** The tools' schemas and the database's constraints say the same: what stage 3 lets pass, the ledger can hold. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import { toolNamed } from '../../support/tools.ts';
import { migratedDatabase } from '../../support/node-session.ts';

const database = migratedDatabase();

/** Whether the database takes the row. It is not kept. */
function holds(sql: string, ...params: (string | number | null)[]): boolean {
  database.exec('SAVEPOINT row_under_test');
  try {
    database.prepare(sql).run(...params);
    return true;
  } catch {
    return false;
  } finally {
    database.exec('ROLLBACK TO row_under_test; RELEASE row_under_test');
  }
}

const holdsOrder = (changes: { order_id?: string; total_cents?: number; currency?: string }) => {
  const order = { order_id: 'ORD-1001', total_cents: 12_000, currency: 'BRL', ...changes };
  return holds(
    "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES (?, 'CUS-1', ?, ?)",
    order.order_id,
    order.total_cents,
    order.currency,
  );
};

/** Stores an order over `total_cents`, then refunds of it one by one; how many the ledger took. Nothing is kept. */
function refundsHeld(total_cents: number, amounts: (number | null)[], subject = 'ORD-1001'): number {
  database.exec('SAVEPOINT refunds_under_test');
  try {
    database
      .prepare(
        "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', ?, 'BRL')",
      )
      .run(total_cents);
    const insert = database.prepare(
      `INSERT INTO attempts
         (backend, subject, effect_key, call_key, attempt, uid, tool, amount_cents, currency, details, applied, answer, at)
       VALUES ('ledger:orders', ?, ?, 'call', 1, 'uid', 'refund_order', ?, iif(?3 IS NULL, NULL, 'BRL'), '{}', 1, '{}', 1)`,
    );
    return amounts.filter((amount_cents, index) => {
      try {
        return insert.run(subject, `effect${index}`, amount_cents).changes === 1;
      } catch {
        return false;
      }
    }).length;
  } finally {
    database.exec('ROLLBACK TO refunds_under_test; RELEASE refunds_under_test');
  }
}

const holdsRefund = (amount_cents: number | null, subject?: string): boolean =>
  refundsHeld(Number.MAX_SAFE_INTEGER, [amount_cents], subject) === 1;

const validRefund = { order_id: 'ORD-1001', amount_cents: 2590, currency: 'BRL', reason: 'damaged' };
const takes = (tool: string, args: JsonObject): boolean => toolNamed(tool)?.bind(args).ok ?? false;
const takesRefund = (changes: JsonObject): boolean => takes('refund_order', { ...validRefund, ...changes });

function closedSet(tool: string, field: string): string[] {
  const properties = toolNamed(tool)?.inputSchema['properties'] as { [name: string]: JsonObject };
  return properties[field]?.['enum'] as string[];
}

describe('the arguments of refund_order', () => {
  it('have exactly the currencies of the ledger', () => {
    const others = ['EUR', 'brl', 'usd', 'BRL ', '', 'JPY'];
    for (const currency of [...closedSet('refund_order', 'currency'), ...others])
      expect([currency, holdsOrder({ currency })]).toStrictEqual([currency, takesRefund({ currency })]);
    expect(closedSet('refund_order', 'currency')).toStrictEqual(['BRL', 'USD']);
  });

  it.each([
    'ORD-0000',
    'ORD-9999',
    'ORD-100',
    'ORD-10011',
    'ord-1001',
    'ORD-1001 ',
    ' ORD-1001',
    'ORD-١٠٠١',
    'ORD-1001\n',
    '',
  ])('have the order ids of the ledger: %j', (order_id) => {
    expect(takesRefund({ order_id })).toBe(holdsOrder({ order_id }));
  });

  it('have amounts that the ledger can hold, and no other', () => {
    const nearBounds = fc.constantFrom(0, 1, -1, 2590, 0.5, 25.9, 2 ** 53 - 1);
    fc.assert(
      fc.property(
        fc.oneof(nearBounds, fc.integer(), fc.double({ noNaN: true, min: -1e6, max: 1e6 })),
        (amount_cents) => {
          expect(takesRefund({ amount_cents })).toBe(holdsRefund(amount_cents));
        },
      ),
    );
  });

  it('stop where integers stop being exact, before the ledger would', () => {
    expect(takesRefund({ amount_cents: 2 ** 53 })).toBe(false);
  });
});

describe('the ledger', () => {
  it('never holds more refunded than was paid', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 300 }),
        fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 5 }),
        (total, amounts) => {
          let left = total;
          const fitting = amounts.filter((amount) => {
            if (amount > left) return false;
            left -= amount;
            return true;
          });
          expect(refundsHeld(total, amounts)).toBe(fitting.length);
        },
      ),
    );
  });

  it('holds no applied refund without an amount or an order', () => {
    expect(holdsRefund(2590)).toBe(true);
    expect(holdsRefund(null)).toBe(false);
    expect(holdsRefund(2590, 'ORD-1002')).toBe(false);
  });
});

describe('the arguments of the reading tools', () => {
  const holdsAccount = (account_id: string): boolean =>
    holds("INSERT INTO accounts (account_id, customer_id, currency) VALUES (?, 'CUS-1', 'USD')", account_id);
  const takesAccount = (account_id: string): boolean =>
    takes('search_transactions', { account_id, start_date: '2026-01-01' });

  it.each(['ACC-98124501', 'ACC-9812450', 'ACC-981245010', 'acc-98124501', 'ACC-98124501\n', ''])(
    'have the account ids of the bank: %j',
    (account_id) => {
      expect(takesAccount(account_id)).toBe(holdsAccount(account_id));
    },
  );

  it('have the statuses of the documents', () => {
    const holdsStatus = (status: string): boolean =>
      holds(
        "INSERT INTO documents (doc_id, title, version, status, lang, digest, body) VALUES ('a', 'A', '1', ?, 'en', '', '')",
        status,
      );
    for (const status of [...closedSet('count_documents', 'status'), 'draft', 'Current', ''])
      expect([status, takes('count_documents', { status })]).toStrictEqual([status, holdsStatus(status)]);
  });

  it('have the types of the transactions, and ALL for both', () => {
    database.exec("INSERT INTO accounts (account_id, customer_id, currency) VALUES ('ACC-00000001', 'CUS-1', 'USD')");
    const holdsType = (type: string): boolean =>
      holds(
        "INSERT INTO transactions (account_id, posted_on, entry, type, amount_cents, memo) VALUES ('ACC-00000001', '2026-01-01', 1, ?, 1, '')",
        type,
      );
    const types = closedSet('search_transactions', 'transaction_type');
    expect(types.filter(holdsType)).toStrictEqual(['DEBIT', 'CREDIT']);
    expect(types.filter((type) => !holdsType(type))).toStrictEqual(['ALL']);
  });
});
