import { describe, expect, it } from 'vitest';
import { disagreements } from '../../scripts/books.ts';

const row = { uid: 'uid-1', seq: 2, key: 'k1', attempt: 1 };
const refund = { call_key: 'k1', attempt: 1, uid: 'uid-1', applied: 1, backend: 'ledger:orders', subject: 'ORD-1001' };
const applied = { ...refund, amount_cents: 2_590 };
const total = { backend: 'ledger:orders', subject: 'ORD-1001', applied_cents: 2_590 };
const problemsIn = (books: Parameters<typeof disagreements>[0]): string[] =>
  disagreements(books).map(({ problem }) => problem);

describe('disagreements', () => {
  it('finds none where each attempt has its row and each total is its sum', () => {
    const voided = { ...applied, call_key: 'k2', applied: 0 };
    expect(disagreements({ rows: [row], attempts: [applied, voided], totals: [total] })).toEqual([]);
  });

  it('names a total that is not the sum of what was applied', () => {
    const off = { ...total, applied_cents: 2_591 };
    expect(problemsIn({ rows: [row], attempts: [applied], totals: [off] })).toEqual([
      'ledger:orders ORD-1001: the total is 2591, 2590 was applied',
    ]);
  });

  it('names an effect without a total, and a total without an effect', () => {
    const stray = { ...total, subject: 'ORD-1002' };
    expect(problemsIn({ rows: [row], attempts: [applied], totals: [stray] })).toEqual([
      'ledger:orders ORD-1001: the total is 0, 2590 was applied',
      'ledger:orders ORD-1002: the total is 2590, 0 was applied',
    ]);
  });

  it('names every disagreement, not the first only', () => {
    const stray = { ...applied, call_key: 'k3' };
    expect(disagreements({ rows: [row, { ...row, seq: 3 }], attempts: [stray] })).toEqual([
      { uid: 'uid-1', seq: 3, problem: 'tells of an effect that another row tells of' },
      { uid: 'uid-1', seq: null, problem: 'no row tells of the effect that the ledger has: call key k3, attempt 1' },
      { uid: 'uid-1', seq: 2, problem: 'tells of an effect that the ledger does not have' },
    ]);
  });

  it('names the row of an effect that another session had', () => {
    expect(disagreements({ rows: [{ ...row, uid: 'uid-2' }], attempts: [applied] })).toEqual([
      { uid: 'uid-2', seq: 2, problem: 'tells of an effect that another session had' },
    ]);
  });
});
