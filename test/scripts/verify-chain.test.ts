import { describe, expect, it } from 'vitest';
import { reportOf, type Break } from '../../scripts/breaks.ts';
import { Verification, type Head } from '../../scripts/verify-chain.ts';
import { argumentsHash, firstPrevious, type AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { chainOf, SALT } from '../support/audit-rows.ts';
import { changed, EFFECT, headOf, judge, row2, seen, session, without, type Seen } from '../support/verification.ts';

describe('Verification', () => {
  it('finds nothing wrong where nothing is', () => {
    expect(judge(seen())).toEqual([]);
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
    expect(judged).toEqual([]);
  });

  it('accepts arguments that were cut or omitted, and finds a change of what a cut row keeps', () => {
    const cut = { arguments: 'a beginning', arguments_cut: true, args_hash: 'of more' };
    const rows = chainOf(session, [
      { ...cut, kept_hash: argumentsHash(SALT, 'a beginning') },
      { ...EFFECT, arguments_omitted: true },
      {},
    ]);
    const omitted = changed(rows, 2, { arguments: null });
    const heads = [headOf(rows)];
    expect(judge(seen(() => ({ rows: omitted, heads })))).toEqual([]);
    expect(judge(seen(() => ({ rows: changed(omitted, 1, { arguments: 'another' }), heads })))).toEqual([
      { kind: 'arguments', ...session, seq: 1, problem: 'has other arguments than were hashed' },
    ]);
  });

  it.each([
    ['a changed code', { code: 'POLICY_LIMIT' }],
    ['a changed result', { ok: false }],
    ['a changed time', { at: '2026-11-29T12:00:00.001Z' }],
    ['a changed stage', { stage: 5 }],
    ['a changed version of the policy', { policy_version: 2 }],
    ['a changed hash of the arguments', { args_hash: 'other' }],
  ] satisfies [string, Partial<AuditRow>][])('names the row with %s, and goes on behind it', (_what, changes) => {
    const judged = judge(seen(({ rows }) => ({ rows: changed(rows, 2, { ...changes, arguments: null, salt: null }) })));
    expect(judged).toEqual([row2('changed', 'was changed, or the row before it')]);
  });

  it('names a row with a changed hash, and the row behind it', () => {
    const judged = judge(seen(({ rows }) => ({ rows: changed(rows, 2, { hash: 'f'.repeat(64) }) })));
    expect(judged).toEqual([
      row2('changed', 'was changed, or the row before it'),
      { ...row2('changed', 'was changed, or the row before it'), seq: 3 },
    ]);
  });

  it('names a row that cannot be read, and goes on behind it', () => {
    const judged = judge(seen(({ rows }) => ({ rows: changed(rows, 2, { hash: '' }) })));
    expect(judged).toEqual([row2('changed', 'cannot be read')]);
  });

  it('names the row with other arguments', () => {
    const judged = judge(seen(({ rows }) => ({ rows: changed(rows, 2, { arguments: '{}' }) })));
    expect(judged).toEqual([row2('arguments', 'has other arguments than were hashed')]);
  });

  it('names the row that lost its arguments but not their salt', () => {
    const judged = judge(seen(({ rows }) => ({ rows: changed(rows, 2, { arguments: null }) })));
    expect(judged).toEqual([row2('arguments', 'has lost its arguments but not their salt')]);
  });

  it('names the row that is missing in the middle, and the effect of which no row tells now', () => {
    expect(judge(seen(({ rows }) => ({ rows: without(rows, 2) })))).toEqual([
      { kind: 'missing', ...session, seq: null, problem: 'row 2 is missing' },
      {
        kind: 'effect',
        ...session,
        seq: null,
        problem: 'no row tells of the effect that the ledger has: call key k1, attempt 1',
      },
    ]);
  });

  it('names everything that is wrong in several sessions, once', () => {
    const other = { ...session, session_id: 'chat-2', uid: 'uid-2' };
    const others = chainOf(other, [{}, {}, {}, {}]);
    const judged = judge(
      seen(({ rows, heads }) => ({
        rows: [...changed(changed(rows, 1, { ok: false }), 3, { arguments: '{}' }), ...without(others, 2, 4)],
        heads: [...heads, { ...other, seq: 4, hash: others[3]?.hash ?? '' }],
      })),
    );
    expect(judged.map(({ uid, problem, seq }) => `${uid} ${seq ?? ''} ${problem}`)).toEqual([
      'uid-1 1 was changed, or the row before it',
      'uid-1 3 has other arguments than were hashed',
      'uid-2  row 2 is missing',
      'uid-2  row 4 is missing: the session object has rows up to 4',
    ]);
    const report = reportOf(judged);
    for (const { problem } of judged) expect(report.split(problem)).toHaveLength(2);
    expect(report.match(/^\S.*$/gm)).toHaveLength(3);
  });

  it('refuses a chain that was rewritten from some row on, although it fits together', () => {
    const rewritten = chainOf(session, [{}, EFFECT, { code: 'FORGED' }]);
    const judged = judge(seen(() => ({ rows: rewritten })));
    expect(judged).toEqual([
      { kind: 'unknown', ...session, seq: 3, problem: 'is another than its session object has' },
    ]);
  });

  it('refuses a chain that is passed off as that of another session', () => {
    const rows = seen().rows.map((row) => ({ ...row, session_id: 'chat-9' }));
    expect(judge(seen(() => ({ rows })))[0]).toMatchObject({ session_id: 'chat-9', seq: 1 });
  });

  it('names the row that its session object does not know', () => {
    const judged = judge(seen(({ rows }) => ({ heads: [headOf(rows.slice(0, 2))] })));
    expect(judged).toEqual([{ kind: 'unknown', ...session, seq: 3, problem: 'is not known to its session object' }]);
  });

  it('refuses a chain that no session object vouches for', () => {
    const judged = judge(seen(() => ({ heads: [] })));
    expect(judged).toEqual([
      { kind: 'unknown', ...session, seq: null, problem: 'no session object vouches for this chain' },
    ]);
  });

  it('says of an object that could not be read that it could not, and judges all others', () => {
    const other = { ...session, session_id: 'chat-2', uid: 'uid-2' };
    const judged = judge(
      seen(({ rows, heads }) => ({
        rows: changed(rows, 1, { ok: false }),
        heads: [...heads, { ...other, seq: null, hash: null }],
      })),
    );
    expect(judged.map(({ kind }) => kind)).toEqual(['changed', 'unreadable']);
  });

  it('waits for the last rows and is content when they come', () => {
    const late = ({ rows }: Seen) => ({ rows: rows.slice(0, 1), attempts: [], totals: [], late: { rows } });
    expect(judge(seen(late))).toEqual([]);
  });

  it('names the rows that do not come', () => {
    const judged = judge(seen(({ rows }) => ({ rows: rows.slice(0, 2) })));
    expect(judged).toEqual([
      { kind: 'missing', ...session, seq: null, problem: 'row 3 is missing: the session object has rows up to 3' },
    ]);
  });

  it('refuses a late row that is not the one its session object has', () => {
    const other = chainOf(session, [{}, EFFECT, { code: 'FORGED' }]);
    const judged = judge(seen(({ rows }) => ({ rows: rows.slice(0, 2), late: { rows: other } })));
    expect(judged).toEqual([
      { kind: 'unknown', ...session, seq: 3, problem: 'is another than its session object has' },
    ]);
  });

  it('waits for the row of an effect that was just applied', () => {
    expect(judge(seen(({ rows }) => ({ rows: rows.slice(0, 1), late: { rows } })))).toEqual([]);
  });
});

describe('a run that goes on from an earlier one', () => {
  const opened = (ms: number): string => `${ms.toString(16).padStart(12, '0')}${'0'.repeat(32)}`;
  const uid = opened(Date.parse('2026-11-01T00:00:00Z'));
  const place = { ...session, uid };
  const rows = chainOf(place, [{}, {}, {}]);
  const whole = { ...place, seq: 3, hash: rows[2]?.hash ?? '' };

  function goOn(given: AuditRow[], openedBefore = 0, heads: Head[] = [whole]): Break[] {
    const earlier = new Verification();
    for (const row of rows.slice(0, 2)) earlier.takeRow(row);
    const verification = new Verification();
    verification.begin({ ...earlier.confirmed(), openedBefore });
    for (const row of given) verification.takeRow(row);
    for (const head of heads) verification.takeHead(head);
    return verification.breaks();
  }

  it('follows the chains from where that one ended', () => {
    expect(goOn(rows.slice(2))).toEqual([]);
    expect(goOn(rows.slice(1))).toEqual([]);
  });

  it('names rows that were changed, cut or rewritten since', () => {
    expect(goOn(changed(rows, 3, { ok: false }).slice(2))).toMatchObject([{ kind: 'changed', seq: 3 }]);
    expect(goOn([])).toMatchObject([
      { kind: 'missing', problem: expect.stringContaining('row 3 is missing') as unknown },
    ]);
    const other = chainOf(place, [{ code: 'FORGED' }, {}, {}]);
    expect(goOn(other.slice(1))).toMatchObject([{ kind: 'changed', seq: 2 }, { kind: 'changed', seq: 3 }, {}]);
  });

  it('asks no object of a session that is over, and misses every other', () => {
    expect(goOn([], Date.parse('2026-11-02T00:00:00Z'), [])).toEqual([]);
    expect(goOn([], 0, [])).toMatchObject([{ kind: 'unknown', uid }]);
  });
});
