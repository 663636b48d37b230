import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { listApprovals, otherApprovals, type ApprovalRow } from '../../../src/gate/ledger/approval-rows.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import { takeReport } from '../../../src/gate/ledger/reports.ts';
import { approvalOf, newSession, report } from '../../support/reports.ts';

const sql = ledgerSql(env.DB);

describe('listApprovals', () => {
  it('lists newest first by status and caller', async () => {
    const session = newSession();
    const older = approvalOf(session);
    const newer = approvalOf(session, { opened_at: 11_000 });
    await takeReport(sql, report(session, [older, newer, approvalOf(session, { status: 'expired' })]));
    const filters = { status: 'pending', caller_id: session.caller_id };
    const first = await listApprovals(sql, filters, null, 1);
    expect(first.rows).toEqual([newer]);
    expect(await listApprovals(sql, filters, first.next_cursor, 1)).toEqual({ rows: [older], next_cursor: null });
  });
});

describe('otherApprovals', () => {
  const money = { amount_cents: 7_777, currency: 'BRL' } as const;
  const othersOf = ({ subject, approval_id }: ApprovalRow) => ({
    subject: subject ?? '',
    exceptId: approval_id,
    since: 10_000,
    money,
  });

  it('shows what may be the same again before all that came later, and says how many it leaves out', async () => {
    const [here, elsewhere] = [newSession(), newSession()];
    const asked = approvalOf(here, { opened_at: 50_000 });
    const { subject } = asked;
    const small = Array.from({ length: 21 }, (_, i) => approvalOf(elsewhere, { subject, opened_at: 40_000 + i }));
    const same = approvalOf(elsewhere, { subject, opened_at: 20_000, status: 'executed', ...money });
    const rejected = approvalOf(elsewhere, { subject, opened_at: 30_000, status: 'rejected', note: 'No.', ...money });
    await takeReport(sql, report(here, [asked]));
    await takeReport(sql, report(elsewhere, [...small, same, rejected]));
    const { others, left } = await otherApprovals(sql, othersOf(asked));
    expect(others.map(({ id }) => id)).toEqual([
      rejected.approval_id,
      same.approval_id,
      ...small
        .toReversed()
        .slice(0, 18)
        .map(({ approval_id }) => approval_id),
    ]);
    expect(left).toBe(3);
  });

  it('shows the other approvals of a subject from any session, newest first, not the old ones', async () => {
    const [here, elsewhere] = [newSession(), newSession()];
    const asked = approvalOf(here, { opened_at: 50_000 });
    const subject = asked.subject;
    const others = [40_000, 30_000, 9_999].map((opened_at) => approvalOf(elsewhere, { subject, opened_at }));
    await takeReport(sql, report(here, [asked, approvalOf(here)]));
    await takeReport(sql, report(elsewhere, others));
    const found = await otherApprovals(sql, othersOf(asked));
    expect(found.left).toBe(0);
    expect(found.others).toEqual(
      others.slice(0, 2).map(({ approval_id, status, amount_cents, currency, opened_at }) => ({
        id: approval_id,
        status,
        amount_cents,
        currency,
        opened_at,
        note: null,
      })),
    );
  });
});
