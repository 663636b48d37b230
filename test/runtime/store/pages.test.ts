/** Pages at the old end of long lists read what they show, not the list. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { listApprovals } from '../../../src/gate/ledger/approval-rows.ts';
import { listAttempts } from '../../../src/gate/ledger/attempts.ts';
import { listAudit } from '../../../src/gate/ledger/audit.ts';
import type { Page } from '../../../src/gate/ledger/columns.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import { sessionPage } from '../../../src/gate/ledger/sessions.ts';
import type { LedgerSql } from '../../../src/gate/ports.ts';
import { meteredD1 } from '../../support/metered-d1.ts';

const COUNT = 3_000;
const LIMIT = 100;
/** Rows of the audit that one session wrote: a page may read those of its last session that it does not show. */
const A_SESSION = 20;

beforeAll(async () => {
  const numbers = JSON.stringify(Array.from({ length: COUNT }, (_, place) => place));
  const fill = (into: string, values: string, db = env.DB) =>
    db.prepare(`INSERT INTO ${into} SELECT ${values} FROM json_each(?1)`).bind(numbers);
  await env.AUDIT.batch([
    fill(
      'audit (uid, seq, kind, at, caller_id, session_id, ok, code, replayed, actor, duration_ms, hash)',
      `printf('%05d', value / ${A_SESSION}), value % ${A_SESSION} + 1, 'call', value, 'c', 's', 1, 'OK', 0, 'agent', 0, 'h'`,
      env.AUDIT,
    ),
  ]);
  await env.DB.batch([
    fill(
      'approvals (approval_id, version, uid, caller_id, session_id, tool, status, opened_at, expires_at, delivery)',
      "printf('apr_%05d', value), 1, 'u', 'c', 's', 't', 'pending', value / 3, 1, '[]'",
    ),
    fill('sessions (uid, caller_id, session_id, opened_at, expires_at)', "printf('%05d', value), 'c', 's', 1, 1"),
    fill(
      'attempts (backend, subject, effect_key, call_key, attempt, uid, tool, details, applied, code, answer, at)',
      "'ledger:b', printf('%05d', value), 'k', 'k', 1, 'u', 't', '{}', 0, 'NO', '{}', 1",
    ),
  ]);
});

type List = (sql: LedgerSql, cursor: string | null, limit: number) => Promise<Page<unknown>>;
const noFilter = { session_id: null, caller_id: null, tool: null, code: null, from: null, to: null };

describe('a page at the old end of', () => {
  it.each<[string, List, D1Database?]>([
    ['the audit', (sql, cursor, limit) => listAudit(sql, noFilter, cursor, limit), env.AUDIT],
    ['the approvals', (sql, cursor, limit) => listApprovals(sql, { status: null, caller_id: null }, cursor, limit)],
    ['the sessions', sessionPage],
    ['the attempts', listAttempts],
  ])('%s reads about as many rows as it shows', async (_, list, database = env.DB) => {
    const before = await list(ledgerSql(database), null, COUNT - LIMIT - 50);
    const { db, rowsRead } = meteredD1(database);
    const page = await list(ledgerSql(db), before.next_cursor, LIMIT);
    expect(page.rows).toHaveLength(LIMIT);
    // Rows that are sorted within a session count twice.
    expect(rowsRead()).toBeLessThanOrEqual(2 * (LIMIT + A_SESSION));
  });
});
