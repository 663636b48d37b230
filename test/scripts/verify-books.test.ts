/** What the verifier says of effects, decisions and evidence. */
import { describe, expect, it } from 'vitest';
import type { BookedApproval, BookedAttempt } from '../../scripts/books.ts';
import type { Piece } from '../../scripts/evidence.ts';
import { approverHash, shownHash, type AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { chainOf, SALT } from '../support/audit-rows.ts';
import {
  answer,
  attempt1,
  changed,
  EFFECT,
  headOf,
  judge,
  row2,
  seen,
  session,
  type Seen,
} from '../support/verification.ts';

describe('effects', () => {
  it('that no row tells of are named', () => {
    const stray = { ...attempt1, call_key: 'k3', attempt: 2, amount_cents: null, currency: null };
    const judged = judge(seen(({ attempts }) => ({ attempts: [...attempts, stray] })));
    expect(judged).toEqual([
      {
        kind: 'effect',
        ...session,
        seq: null,
        problem: 'no row tells of the effect that the ledger has: call key k3, attempt 2',
      },
    ]);
  });

  it('that the ledger does not have are named by their row', () => {
    const judged = judge(seen(() => ({ attempts: [], totals: [] })));
    expect(judged).toEqual([row2('effect', 'tells of an effect that the ledger does not have')]);
  });

  it('whose attempt is void are named by their row', () => {
    expect(judge(seen(() => ({ attempts: [{ ...attempt1, applied: false }], totals: [] })))).toEqual([
      row2('effect', 'tells of an effect, but the ledger says that its attempt is void'),
    ]);
  });

  it('that the ledger has applied twice are named, under any effect key', () => {
    const twice = ({ attempts, totals }: Seen) => ({
      attempts: [...attempts, ...attempts.slice(0, 1)],
      totals: totals.map((total) => ({ ...total, applied_cents: 5_180 })),
    });
    const problem = 'the ledger has two effects of one attempt: call key k1, attempt 1';
    expect(judge(seen(twice))).toEqual([{ kind: 'effect', ...session, seq: null, problem }]);
  });

  it('that two rows tell of are named by the second', () => {
    const rows = chainOf(session, [EFFECT, EFFECT]);
    expect(judge(seen(() => ({ rows, heads: [headOf(rows)] })))).toEqual([
      row2('effect', 'tells of an effect that another row tells of'),
    ]);
  });

  it.each([
    ['amount', { amount_cents: 2_591 }],
    ['currency', { currency: 'USD' }],
    ['subject', { subject: 'ORD-1002' }],
    ['answer', { answer: { ...answer, refunded_cents: 1 } }],
  ] satisfies [string, Partial<BookedAttempt>][])(
    'whose %s the ledger changed are named by their row',
    (_, changes) => {
      const forged = { ...attempt1, ...changes };
      const totals = [
        { backend: 'ledger:orders', subject: forged.subject ?? '', applied_cents: forged.amount_cents ?? 0 },
      ];
      const judged = judge(seen(() => ({ attempts: [forged], totals })));
      const now = `ledger:orders ${forged.subject}, ${forged.amount_cents} ${forged.currency}`;
      expect(judged).toEqual([row2('figures', `was written of another result than the ledger has now (${now})`)]);
    },
  );

  it('whose total is another than their sum are named by their subject, unless it was only late', () => {
    const off = { backend: 'ledger:orders', subject: 'ORD-1001', currency: 'BRL', applied_cents: -10_000 };
    const problem = 'ledger:orders ORD-1001: the total is -10000, 2590 was applied';
    const nobody = { caller_id: null, session_id: null, uid: null };
    expect(judge(seen(() => ({ totals: [off] })))).toEqual([{ kind: 'total', ...nobody, seq: null, problem }]);
    expect(judge(seen(({ totals }) => ({ totals: [off], late: { totals } })))).toEqual([]);
  });
});

describe('decisions', () => {
  const approval: BookedApproval = {
    ...{ id: 'apr_1', uid: 'uid-1', status: 'executed', subject: 'ORD-1001', amount_cents: 2_590, currency: 'BRL' },
    ...{ decided_at: '2026-11-29T12:00:00.000Z', actor: 'approver:1', shown: 'd1.d2' },
    delivery: [
      { approver: 0, email: 'ana@shop.test' },
      { approver: 1, email: 'Bo@shop.test' },
    ],
  };
  const decision: Partial<AuditRow> = {
    ...{ ...EFFECT, kind: 'decision', approval_id: 'apr_1', arguments: null, args_hash: null },
    ...{ approver_hash: approverHash(SALT, 'bo@shop.test'), shown_hash: shownHash(SALT, 'd1.d2') },
  };
  function decided(changes: Partial<BookedApproval>, row: Partial<AuditRow> = {}): Seen {
    const rows = chainOf(session, [{}, { ...decision, ...row }, {}]).map((each) =>
      each.kind === 'decision' ? { ...each, arguments: null } : each,
    );
    return seen(() => ({ rows, heads: [headOf(rows)], approvals: [{ ...approval, ...changes }] }));
  }

  it('are content with the person and the facts that the list names', () => {
    expect(judge(decided({}))).toEqual([]);
  });

  it('are content with a rejection', () => {
    const row = { attempt: null, result_hash: null };
    const judged = judge({ ...decided({ status: 'rejected' }, row), attempts: [], totals: [] });
    expect(judged).toEqual([]);
  });

  it.each<[string, Partial<BookedApproval>, string]>([
    [
      'another address',
      { delivery: [{ approver: 1, email: 'eve@shop.test' }] },
      'was decided by another person than eve@shop.test, whom the list names now',
    ],
    [
      'another of the approvers',
      { actor: 'approver:0' },
      'was decided by another person than ana@shop.test, whom the list names now',
    ],
    ['other facts', { shown: 'd1.d3' }, 'was decided on other facts than the list says'],
    ['another end', { status: 'rejected' }, 'tells of another result than rejected'],
    ['another amount', { amount_cents: 100 }, 'approved another subject or amount than the ledger applied'],
    ['another session', { uid: 'uid-2' }, 'decides an approval of another session'],
  ])('are named where the list has %s', (_, changes, problem) => {
    expect(judge(decided(changes))).toContainEqual(row2('approval', `${problem} (approval apr_1)`));
  });

  it('are named where the list does not have the approval, and where no row tells of one in the list', () => {
    expect(judge({ ...decided({}), approvals: [] })).toEqual([
      row2('approval', 'decides approval apr_1, which the list of approvals does not have'),
    ]);
    const problem = 'approval apr_2 is rejected, but no row tells of the decision';
    const more = decided({});
    const forged = { ...approval, id: 'apr_2', status: 'rejected' };
    expect(judge({ ...more, approvals: [...more.approvals, forged] })).toEqual([
      { kind: 'approval', ...session, seq: null, problem },
    ]);
  });

  it('wait for a list that is behind', () => {
    const behind = { ...approval, status: 'approved' };
    expect(judge({ ...decided({}), approvals: [behind], late: { approvals: [approval] } })).toEqual([]);
    expect(judge({ ...decided({}), approvals: [behind] })).toEqual([
      row2('approval', 'tells of a decision, but the list says approved (approval apr_1)'),
    ]);
  });

  it('are named where they lost the salt that proves them', () => {
    const good = decided({});
    expect(judge({ ...good, rows: changed(good.rows, 2, { salt: null }) })).toEqual([
      row2('arguments', 'has lost the salt of its approver'),
      row2('approval', 'has lost the salt that proves who decided (approval apr_1)'),
    ]);
  });
});

describe('evidence', () => {
  const pieceOf = ({ uid, seq, hash, caller_id, session_id }: AuditRow): Piece => ({
    ...{ uid, seq, hash, caller_id, session_id },
  });

  it('that is in the chains is accepted, also if it comes late', () => {
    expect(judge(seen(({ rows }) => ({ evidence: rows.map(pieceOf) })))).toEqual([]);
    const late = ({ rows }: Seen) => ({ evidence: rows.map(pieceOf), rows: rows.slice(0, 2), late: { rows } });
    expect(judge(seen(late))).toEqual([]);
  });

  it('names a session that was removed whole, of which nothing else is left', () => {
    const evidence = seen().rows.map(pieceOf);
    const removed = { rows: [], attempts: [], totals: [], heads: [] };
    expect(judge(seen(() => removed))).toEqual([]);
    expect(judge(seen(() => ({ ...removed, evidence })))).toEqual(
      [1, 2, 3].map((seq) => ({
        ...{ kind: 'evidence', ...session, seq },
        problem: 'is in the evidence, but the audit has no row of this session',
      })),
    );
  });

  it('names a tail that was cut, with the objects set back to it', () => {
    const cut = ({ rows }: Seen) => ({ rows: rows.slice(0, 2), heads: [headOf(rows.slice(0, 2))] });
    expect(judge(seen(cut))).toEqual([]);
    expect(judge(seen((good) => ({ ...cut(good), evidence: good.rows.map(pieceOf) })))).toEqual([
      {
        ...{ kind: 'evidence', ...session, seq: 3 },
        problem: 'is in the evidence, but not in the audit, which ends at row 2',
      },
    ]);
  });

  it('names a row of a chain that was rewritten, with the object', () => {
    const rewritten = chainOf(session, [{}, EFFECT, { code: 'FORGED' }]);
    const judged = judge(
      seen(({ rows }) => ({ rows: rewritten, heads: [headOf(rewritten)], evidence: rows.slice(2).map(pieceOf) })),
    );
    expect(judged).toEqual([{ kind: 'evidence', ...session, seq: 3, problem: 'is another than the evidence has' }]);
  });
});
