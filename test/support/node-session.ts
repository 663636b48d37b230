/** A session's code over Node's SQLite, with the tools a test brings: no object, no Worker, one process. */
import { ANY_CUSTOMER } from '../../src/gate/policy/customer-pattern.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import { readConfig } from '../../src/gate/env.ts';
import type { LedgerSql, Policy, SessionSql, SqlRow, SqlValue } from '../../src/gate/ports.ts';
import type { SessionPorts } from '../../src/gate/session/session-ports.ts';
import { sessionCore } from '../../src/gate/session/core.ts';
import { upstreamWith } from '../../src/gate/session/upstream.ts';
import { createCaller } from '../../src/gate/ledger/caller-changes.ts';
import { digestsOf } from '../../src/gate/tool/facts.ts';
import type { Tool } from '../../src/gate/tool/define-tool.ts';
import { noBackends } from './backends.ts';
import { auditMigrations, migrations } from './migrations.ts';
import { registryOf } from '../../src/gate/tool/registry.ts';

/** The shared database as the migrations make it. */
export function migratedDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  for (const sql of migrations()) database.exec(sql);
  return database;
}

const rowsOf = (database: DatabaseSync, sql: string, params: SqlValue[]): SqlRow[] =>
  database
    .prepare(sql)
    .all(...params)
    .map((row) => ({ ...row }) as SqlRow);

export function inTransaction<T>(database: DatabaseSync, run: () => T): T {
  database.exec('BEGIN');
  try {
    const result = run();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** An open session whose caller may use all of `tools` and whose refunds need no approval, but for `changes`. */
export async function nodeSession(
  tools: readonly Tool[],
  changes: Partial<Policy> = {},
  { backends = noBackends, now = () => Date.now() }: Partial<Pick<SessionPorts, 'backends' | 'now'>> = {},
) {
  const shared = migratedDatabase();
  const audit = new DatabaseSync(':memory:');
  for (const sql of auditMigrations()) audit.exec(sql);
  const own = new DatabaseSync(':memory:');
  const asD1 = (database: DatabaseSync): LedgerSql => ({
    all: async (sql, ...params) => rowsOf(database, sql, params),
    batch: async (statements) =>
      inTransaction(database, () => statements.map(({ sql, params }) => rowsOf(database, sql, params))),
  });
  const ledger = asD1(shared);
  const sql: SessionSql = {
    all: (text, ...params) => rowsOf(own, text, params),
    transaction: (run) => inTransaction(own, run),
  };
  const reading = readConfig({
    PUBLIC_URL: 'https://toolgate.test',
    ADMIN_TOKEN: 'a'.repeat(64),
    TOOLGATE_SECRET: 'b'.repeat(64),
    MAIL_FROM: 'gate@toolgate.test',
  });
  if (!reading.ok) throw new Error('the variables are not good');
  const logged: Record<string, unknown>[] = [];
  let [made, life] = [0, 0];
  let alarmAt: number | null = null;
  /** A life of the object: what belongs to one that is over reaches its database no more. */
  const begin = (mine: number) =>
    sessionCore({
      sql: {
        all: (text, ...params) => (assertAlive(mine), sql.all(text, ...params)),
        transaction: (run) => (assertAlive(mine), sql.transaction(run)),
      },
      ledger,
      audit: asD1(audit),
      backends,
      alarm: { set: (at) => void (alarmAt = at), get: async () => alarmAt },
      queue: { send: async () => undefined },
      upstream: upstreamWith(now),
      tools: registryOf(tools),
      config: reading.config,
      now,
      random: (bytes) => (made += 1).toString(16).padStart(2 * bytes, '0'),
      sleep: (ms, stop) => sleep(ms, undefined, { signal: stop }).catch(() => undefined),
      log: (entry) => void logged.push(entry),
    });
  const assertAlive = (mine: number): void => {
    if (mine !== life) throw new Error('this life is over');
  };
  let session = begin(life);
  const policy: Policy = {
    allowed_tools: tools.map(({ name }) => name),
    approvers: ['ana@shop.test'],
    customer_scope: 'any',
    max_refund_cents: 50_000,
    max_session_refund_cents: null,
    confirm_above_cents: 50_000,
    limits: {},
    customer_pattern: ANY_CUSTOMER,
    max_steps: 10,
    max_duplicate_calls: 3,
    approval_ttl_seconds: 86_400,
    identical_effects: 'replay',
    ...changes,
  };
  const caller_id = 'c'.repeat(16);
  const caller = { name: 'Shop', policy, key_hash: '0'.repeat(64) };
  await createCaller(ledger, caller, { caller_id, at: now(), request_id: 'req' });
  const opened = await session.open({ caller_id, session_id: 'chat-1', key_hash: caller.key_hash, ttl_seconds: 3600 });
  if ('refused' in opened) throw new Error(`not opened: ${opened.refused}`);
  return {
    get session() {
      return session;
    },
    ...{ uid: opened.uid, object: sessionObjectName(caller_id, 'chat-1'), own, shared, audit, logged },
    life: () => life,
    /** The object dies and begins anew over what it wrote. */
    restart: () => void (session = begin((life += 1))),
    alarmAt: () => alarmAt,
    fireAlarm: () => ((alarmAt = null), session.alarm()),
    /** Decides the newest approval as its page would, with what the page shows now. */
    async decide(decision: 'approve' | 'reject') {
      const record = own.prepare('SELECT approval_id, approvers FROM record ORDER BY opened_at DESC, step DESC').get();
      const [asked] = JSON.parse(String(record?.['approvers'])) as { bits: string }[];
      const proof = { approval_id: String(record?.['approval_id']), approver: 0, bits: asked?.bits ?? '' };
      const seen = await session.view(proof);
      if ('refused' in seen) throw new Error(seen.refused);
      const { phrase, facts } = seen.view;
      const shown = digestsOf(facts ?? []);
      return session.decide({ ...proof, decision, phrase, shown, note: null, request_id: 'req' });
    },
  };
}
