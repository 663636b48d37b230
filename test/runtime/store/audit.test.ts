import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { auditRow as rowSchema, type AuditRow } from '../../../src/gate/ledger/audit-row.ts';
import { deliver, listAudit, type AuditFilters } from '../../../src/gate/ledger/audit.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import { uidAt } from '../../../src/gate/ledger/sessions.ts';
import { auditRow, chainOf, type Session } from '../../support/audit-rows.ts';
import { fresh } from '../../support/ledger.ts';
import { meteredD1 } from '../../support/metered-d1.ts';
import { newSession } from '../../support/reports.ts';

const sql = ledgerSql(env.AUDIT);

const COLUMNS = [...Object.keys(rowSchema.shape), 'arrived_at'];

const noFilter: AuditFilters = { session_id: null, caller_id: null, tool: null, code: null, from: null, to: null };

async function storedOf(session: Session): Promise<AuditRow[]> {
  return (await listAudit(sql, { ...noFilter, caller_id: session.caller_id }, null, 100)).rows;
}

describe('deliver', () => {
  it('stores rows as they were and answers the last hash', async () => {
    const session = newSession();
    const rows = chainOf(session, [
      {},
      {
        ok: false,
        code: 'INVALID_ARGUMENTS',
        fields: ['amount_cents', '(unknown)'],
        arguments: '{"amount_cents":2590.0}',
      },
      { kind: 'event', step: null, call_id: null, arguments: null, salt: null, args_hash: null, request_id: null },
      { arguments: null, salt: null, withheld: true, key: 'k', attempt: 1, replayed: true, approval_id: 'apr_1' },
    ]);
    expect(await deliver(sql, rows)).toBe(rows.at(-1)?.hash);
    expect(await storedOf(session)).toEqual(rows);
  });

  it('stores integers as integers', async () => {
    const session = newSession();
    await deliver(sql, [auditRow(session, { attempt: 1 })]);
    const integers = ['seq', 'at', 'step', 'attempt', 'ok', 'replayed', 'duration_ms', 'withheld'];
    const types = integers.map((column) => `typeof(${column}) AS ${column}`).join(', ');
    const row = await env.AUDIT.prepare(`SELECT ${types} FROM audit WHERE uid = ?`).bind(session.uid).first();
    expect(Object.entries(row ?? {})).toEqual(integers.map((column) => [column, 'integer']));
  });

  it('writes one row for each row, and none when it comes again', async () => {
    const { db, rowsWritten } = meteredD1(env.AUDIT);
    const session = newSession();
    const rows = chainOf(session, [{}, {}, {}]);
    await deliver(ledgerSql(db), rows);
    expect(rowsWritten()).toBe(3);
    expect(await deliver(ledgerSql(db), rows)).toBe(rows.at(-1)?.hash);
    expect(rowsWritten()).toBe(3);
  });

  it('answers the hash that is there, not the one it brought', async () => {
    const session = newSession();
    const first = auditRow(session);
    await deliver(sql, [first]);
    expect(await deliver(sql, [auditRow(session, { code: 'FORGED' })])).toBe(first.hash);
    expect(await storedOf(session)).toEqual([first]);
  });

  it('does nothing where there is nothing to deliver', async () => {
    const { db, rowsWritten } = meteredD1(env.AUDIT);
    expect(await deliver(ledgerSql(db), [])).toBeNull();
    expect(rowsWritten()).toBe(0);
  });
});

describe('the table audit', () => {
  const stored = async (): Promise<AuditRow> => {
    const session = newSession();
    const row = auditRow(session);
    await deliver(sql, [row]);
    return row;
  };
  const run = (statement: string, uid: string) => env.AUDIT.prepare(statement).bind(uid).run();

  it.each([
    "UPDATE audit SET code = 'OTHER' WHERE uid = ?",
    "UPDATE audit SET arguments = 'other' WHERE uid = ?",
    'UPDATE audit SET arguments = NULL, salt = NULL, ok = 0 WHERE uid = ?',
    "UPDATE audit SET arguments = NULL, salt = 'other' WHERE uid = ?",
    'UPDATE audit SET salt = NULL WHERE uid = ?',
    'DELETE FROM audit WHERE uid = ?',
  ])('refuses %s', async (statement) => {
    await expect(run(statement, (await stored()).uid)).rejects.toThrow('the audit is append-only');
  });

  it.each(COLUMNS.filter((column) => column !== 'arguments' && column !== 'salt'))(
    'refuses a change of %s',
    async (column) => {
      const change = `UPDATE audit SET ${column} = 7 WHERE uid = ?`;
      await expect(run(change, (await stored()).uid)).rejects.toThrow('the audit is append-only');
    },
  );

  it('keeps the salt of an approver when the arguments of its session are erased', async () => {
    const session = newSession();
    const [call, decision] = chainOf(session, [{}, { kind: 'decision', arguments: null, approver_hash: 'h' }]);
    await deliver(
      sql,
      [call, decision].flatMap((row) => row ?? []),
    );
    await run('UPDATE audit SET arguments = NULL, salt = NULL WHERE uid = ?', session.uid);
    await run('UPDATE audit SET salt = NULL WHERE approver_hash IS NOT NULL AND uid = ?', session.uid);
    expect(await storedOf(session)).toEqual([{ ...call, arguments: null, salt: null }, decision]);
  });

  it('notes when a row arrived', async () => {
    const before = Date.now();
    const { uid } = await stored();
    const arrived = await env.AUDIT.prepare('SELECT arrived_at FROM audit WHERE uid = ?').bind(uid).first('arrived_at');
    expect(arrived).toBeGreaterThanOrEqual(before - 1_000);
    expect(arrived).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  it('ignores INSERT OR REPLACE over a row', async () => {
    const row = await stored();
    await run(
      `INSERT OR REPLACE INTO audit (uid, seq, kind, at, caller_id, session_id, ok, code, replayed, actor, duration_ms, hash)
       VALUES (?, 1, 'call', 1, 'c', 's', 1, 'FORGED', 0, 'agent', 1, 'h')`,
      row.uid,
    );
    expect(await storedOf(row)).toEqual([row]);
  });

  it.each(['arguments = NULL', 'arguments = NULL, salt = NULL'])(
    'erases arguments with their salt: %s',
    async (set) => {
      const row = await stored();
      await run(`UPDATE audit SET ${set} WHERE uid = ?`, row.uid);
      expect(await storedOf(row)).toEqual([{ ...row, arguments: null, salt: null }]);
    },
  );
});

describe('listAudit', () => {
  it.each([{ fields: 'x' }, { ok: 2 }, { at: 9e15 }, { kind: 'event', step: 1.5 }, { seq: 1.5 }, { seq: 'x' }])(
    'shows the place of a row that nobody but a tamperer can have written, and goes on behind it: %j',
    async (changes) => {
      const session = newSession();
      const [good] = chainOf(session, [{}]);
      await deliver(sql, good === undefined ? [] : [good]);
      const row: Record<string, unknown> = { ...good, at: 1, fields: null, seq: 2, uid: `${session.uid}-`, ...changes };
      const columns = Object.keys(row);
      await env.AUDIT.prepare(`INSERT INTO audit (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
        .bind(...Object.values(row).map((value) => (typeof value === 'boolean' ? Number(value) : value)))
        .run();
      const filter = { ...noFilter, caller_id: session.caller_id };
      const first = await listAudit(sql, filter, null, 1);
      expect(first.rows).toMatchObject([{ uid: `${session.uid}-`, code: 'UNREADABLE', hash: '' }]);
      expect(await listAudit(sql, filter, first.next_cursor, 1)).toEqual({ rows: [good], next_cursor: null });
    },
  );

  it('shows the newest session first and its rows by seq, page by page', async () => {
    const caller_id = `caller-${fresh()}`;
    const older = { caller_id, session_id: 'a', uid: `uid-${fresh()}` };
    const newer = { caller_id, session_id: 'b', uid: `uid-${fresh()}` };
    const rows = [...chainOf(newer, [{}, {}, {}]), ...chainOf(older, [{}, {}])];
    await deliver(sql, rows.slice(3));
    await deliver(sql, rows.slice(0, 3));
    const listed: AuditRow[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listAudit>> = await listAudit(sql, { ...noFilter, caller_id }, cursor, 2);
      listed.push(...page.rows);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(listed).toEqual(rows);
  });

  it('finds one session by its uid, and those that were opened since', async () => {
    const caller_id = `caller-${fresh()}`;
    const [older, newer] = ['2026-01-01', '2026-02-01'].map((day) => {
      const uid = `${uidAt(Date.parse(day))}${fresh()}`;
      return { caller_id, session_id: day, uid };
    });
    if (older === undefined || newer === undefined) throw new Error('two sessions');
    for (const session of [older, newer]) await deliver(sql, chainOf(session, [{}]));
    const found = async (filters: Partial<AuditFilters>): Promise<string[]> => {
      const page = await listAudit(sql, { ...noFilter, caller_id, ...filters }, null, 100);
      return page.rows.map(({ session_id }) => session_id);
    };
    expect(await found({ uid: older.uid })).toEqual(['2026-01-01']);
    expect(await found({ opened_from: Date.parse('2026-02-01') })).toEqual(['2026-02-01']);
    expect(await found({ opened_from: Date.parse('2026-01-01') })).toEqual(['2026-02-01', '2026-01-01']);
  });

  it.each([
    [{ session_id: 'chat-2' }, [3]],
    [{ tool: 'refund_order' }, [2]],
    [{ code: 'OK' }, [1, 3]],
    [{ from: Date.parse('2026-11-29T12:00:01Z') }, [2, 3]],
    [{ to: Date.parse('2026-11-29T12:00:01Z') }, [1]],
  ] satisfies [Partial<AuditFilters>, number[]][])('finds by %j', async (filters, found) => {
    const session = newSession();
    const rows = chainOf(session, [
      {},
      { tool: 'refund_order', code: 'POLICY_LIMIT', ok: false, at: '2026-11-29T12:00:01.000Z' },
      { session_id: 'chat-2', at: '2026-11-29T12:00:02.000Z' },
    ]);
    await deliver(sql, rows);
    const page = await listAudit(sql, { ...noFilter, caller_id: session.caller_id, ...filters }, null, 100);
    expect(page.rows.map(({ seq }) => seq)).toEqual(found);
  });
});
