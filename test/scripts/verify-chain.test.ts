import { describe, expect, it } from 'vitest';
import type { BookedAttempt } from '../../scripts/books.ts';
import { Verification, type Broken, type Head } from '../../scripts/verify-chain.ts';
import { firstPrevious, type AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { chainOf } from '../support/audit-rows.ts';

const session = { caller_id: 'caller-1', session_id: 'chat-1', uid: 'uid-1' };

type Seen = { rows: AuditRow[]; attempts: BookedAttempt[]; heads: Head[]; lateRows: AuditRow[] };

/** A session of three rows, the second of which tells of an effect, all of it as it should be. */
function seen(changes: (good: Seen) => Partial<Seen> = () => ({})): Seen {
  const rows = chainOf(session, [{}, { key: 'k1', attempt: 1, tool: 'refund_order' }, {}]);
  const good: Seen = {
    rows,
    attempts: [
      { call_key: 'k1', attempt: 1, uid: 'uid-1', applied: true },
      { call_key: 'k2', attempt: 1, uid: 'uid-1', applied: false },
    ],
    heads: [headOf(rows)],
    lateRows: rows,
  };
  return { ...good, ...changes(good) };
}

const headOf = (rows: AuditRow[]): Head => ({ ...session, seq: rows.length, hash: rows.at(-1)?.hash ?? '' });

const changed = (rows: AuditRow[], seq: number, changes: Partial<AuditRow>): AuditRow[] =>
  rows.map((row) => (row.seq === seq ? { ...row, ...changes } : row));

const without = (rows: AuditRow[], seq: number): AuditRow[] => rows.filter((row) => row.seq !== seq);

/** The verdict, as the script reaches it. */
function judge({ rows, attempts, heads, lateRows }: Seen): Broken | null {
  const verification = new Verification();
  const steps = [
    ...rows.map((row) => () => verification.takeRow(row)),
    ...attempts.map((attempt) => () => (verification.takeAttempt(attempt), null)),
    ...heads.map((head) => () => verification.takeHead(head)),
    () => verification.endHeads(),
    ...lateRows.map((row) => () => verification.takeLateRow(row)),
    () => verification.end(),
  ];
  for (const step of steps) {
    const broken = step();
    if (broken !== null) return broken;
  }
  return null;
}

describe('Verification', () => {
  it('finds nothing wrong where nothing is', () => {
    expect(judge(seen())).toBeNull();
  });

  it('accepts erased and withheld arguments, and a session without rows', () => {
    const empty = { caller_id: 'caller-1', session_id: 'chat-2', uid: 'uid-2' };
    const emptyHead = { ...empty, seq: 0, hash: firstPrevious('caller-1', 'chat-2', 'uid-2') };
    const judged = judge(
      seen(({ rows, heads }) => ({
        rows: changed(changed(rows, 1, { arguments: null, salt: null }), 3, {
          arguments: null,
          salt: null,
          withheld: true,
        }),
        heads: [...heads, emptyHead],
      })),
    );
    expect(judged).toBeNull();
  });

  it.each([
    ['a changed code', { code: 'POLICY_LIMIT' }],
    ['a changed result', { ok: false }],
    ['a changed time', { at: '2026-11-29T12:00:00.001Z' }],
    ['a changed hash of the arguments', { args_hash: 'other' }],
    ['a changed hash', { hash: 'other' }],
  ] satisfies [string, Partial<AuditRow>][])('names the row with %s', (_what, changes) => {
    const judged = judge(seen(({ rows }) => ({ rows: changed(rows, 2, changes) })));
    expect(judged).toEqual({ ...session, seq: 2, problem: 'was changed, or the row before it' });
  });

  it('names the row with other arguments', () => {
    const judged = judge(seen(({ rows }) => ({ rows: changed(rows, 2, { arguments: '{}' }) })));
    expect(judged).toEqual({ ...session, seq: 2, problem: 'has other arguments than were hashed' });
  });

  it('names the row that lost its arguments but not their salt', () => {
    const judged = judge(seen(({ rows }) => ({ rows: changed(rows, 2, { arguments: null }) })));
    expect(judged).toMatchObject({ seq: 2, problem: 'has lost its arguments but not their salt' });
  });

  it('names the row that is missing in the middle', () => {
    expect(judge(seen(({ rows }) => ({ rows: without(rows, 2) })))).toEqual({
      ...session,
      seq: 2,
      problem: 'is missing',
    });
  });

  it('refuses a chain that was rewritten from some row on, although it fits together', () => {
    const rewritten = chainOf(session, [{}, { key: 'k1', attempt: 1, tool: 'refund_order' }, { code: 'FORGED' }]);
    const judged = judge(seen(() => ({ rows: rewritten })));
    expect(judged).toEqual({ ...session, seq: 3, problem: 'is another than its session object has' });
  });

  it('refuses a chain that is passed off as that of another session', () => {
    const rows = seen().rows.map((row) => ({ ...row, session_id: 'chat-9' }));
    expect(judge(seen(() => ({ rows })))).toMatchObject({ session_id: 'chat-9', seq: 1 });
  });

  it('names the row that its session object does not know', () => {
    const judged = judge(seen(({ rows }) => ({ heads: [headOf(rows.slice(0, 2))] })));
    expect(judged).toEqual({ ...session, seq: 3, problem: 'is not known to its session object' });
  });

  it('refuses a chain that no session object vouches for', () => {
    const judged = judge(seen(() => ({ heads: [] })));
    expect(judged).toEqual({ ...session, seq: null, problem: 'no session object vouches for this chain' });
  });

  it('waits for the last rows and is content when they come', () => {
    expect(judge(seen(({ rows }) => ({ rows: rows.slice(0, 1), attempts: [], lateRows: rows })))).toBeNull();
  });

  it('names the first row that does not come', () => {
    const judged = judge(seen(({ rows }) => ({ rows: rows.slice(0, 2), lateRows: rows.slice(0, 2) })));
    expect(judged).toMatchObject({
      ...session,
      seq: 3,
      problem:
        'is missing: the session object has rows up to 3; after an outage of D1 they may take five minutes to travel',
    });
  });

  it('refuses a late row that is not the one its session object has', () => {
    const other = chainOf(session, [{}, { key: 'k1', attempt: 1, tool: 'refund_order' }, { code: 'FORGED' }]);
    const judged = judge(seen(({ rows }) => ({ rows: rows.slice(0, 2), lateRows: other })));
    expect(judged).toMatchObject({ seq: 3, problem: 'is another than its session object has' });
  });

  it('waits for the row of an effect that was just applied', () => {
    const judged = judge(seen(({ rows }) => ({ rows: rows.slice(0, 1), lateRows: rows })));
    expect(judged).toBeNull();
  });

  it('names the effect that no row tells of', () => {
    const stray = { call_key: 'k3', attempt: 2, uid: 'uid-1', applied: true };
    const judged = judge(seen(({ attempts }) => ({ attempts: [...attempts, stray] })));
    expect(judged).toEqual({
      ...session,
      seq: null,
      problem: 'no row tells of the effect that the ledger has: call key k3, attempt 2',
    });
  });

  it('names the row of an effect that the ledger does not have', () => {
    const judged = judge(seen(() => ({ attempts: [] })));
    expect(judged).toEqual({ ...session, seq: 2, problem: 'tells of an effect that the ledger does not have' });
  });

  it('names the row of an effect whose attempt is void', () => {
    const void1 = { call_key: 'k1', attempt: 1, uid: 'uid-1', applied: false };
    expect(judge(seen(() => ({ attempts: [void1] })))).toMatchObject({
      seq: 2,
      problem: 'tells of an effect, but the ledger says that its attempt is void',
    });
  });

  it('names the attempt that the ledger has applied twice, under any effect key', () => {
    const twice = ({ attempts }: Seen) => ({ attempts: [...attempts, ...attempts.slice(0, 1)] });
    const problem = 'the ledger has two effects of one attempt: call key k1, attempt 1';
    expect(judge(seen(twice))).toEqual({ ...session, seq: null, problem });
  });

  it('names the second row that tells of one effect', () => {
    const rows = chainOf(session, [
      { key: 'k1', attempt: 1 },
      { key: 'k1', attempt: 1 },
    ]);
    expect(judge(seen(() => ({ rows, heads: [headOf(rows)], lateRows: rows })))).toMatchObject({
      seq: 2,
      problem: 'tells of an effect that another row tells of',
    });
  });
});
