import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { findApproval } from '../../../src/gate/ledger/approval-rows.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import { takeReport } from '../../../src/gate/ledger/reports.ts';
import { openSession } from '../../../src/gate/ledger/sessions.ts';
import { keyOf, liveCaller } from '../../support/ledger.ts';
import { meteredD1 } from '../../support/metered-d1.ts';
import { approvalOf, newSession, report } from '../../support/reports.ts';

const sql = ledgerSql(env.DB);

describe('takeReport', () => {
  it('keeps the higher version of an approval if the lower one comes last', async () => {
    const session = newSession();
    const pending = approvalOf(session);
    const rejected = { ...pending, version: 2, status: 'rejected', decided_at: 20_000, actor: 'approver:0' };
    await takeReport(sql, report(session, [rejected]));
    await takeReport(sql, report(session, [pending]));
    expect(await findApproval(sql, pending.approval_id)).toEqual(rejected);
  });

  it('keeps what a session reports of itself, one row written', async () => {
    const session = { ...newSession(), caller_id: await liveCaller() };
    await openSession(sql, { ...session, key_hash: keyOf(session.caller_id), opened_at: 1_000, expires_at: 100_000 });
    const told = { version: 3, open_records: 2, ended_at: 5_000 };
    const { db, rowsWritten } = meteredD1(env.DB);
    await takeReport(ledgerSql(db), { ...report(session), session: told });
    const row = env.DB.prepare('SELECT open_records, ended_at, expires_at FROM sessions WHERE uid = ?');
    expect(await row.bind(session.uid).first()).toEqual({ open_records: 2, ended_at: 5_000, expires_at: 100_000 });
    expect(rowsWritten()).toBe(1);
    await takeReport(ledgerSql(db), { ...report(session), session: told });
    expect(rowsWritten()).toBe(1);
  });

  it('keeps what was told last where an earlier report lands late', async () => {
    const session = { ...newSession(), caller_id: await liveCaller() };
    await openSession(sql, { ...session, key_hash: keyOf(session.caller_id), opened_at: 1_000, expires_at: 100_000 });
    const tell = (version: number, open_records: number) =>
      takeReport(sql, { ...report(session), session: { version, open_records, ended_at: null } });
    await tell(7, 0);
    await tell(4, 1);
    const row = env.DB.prepare('SELECT open_records FROM sessions WHERE uid = ?');
    expect(await row.bind(session.uid).first()).toEqual({ open_records: 0 });
  });

  it('does nothing where there is nothing to report', async () => {
    const { db, rowsWritten } = meteredD1(env.DB);
    await takeReport(ledgerSql(db), report(newSession()));
    expect(rowsWritten()).toBe(0);
  });
});
