/**
 * The session object's tables, made by opening a session and never by the constructor: asking a name that nobody opened
 * creates no storage. Why each table is as it is stands in docs/storage.md.
 *
 * IF NOT EXISTS: a session that is open, and a name that was forgotten, keep the tables they were made with. A column added
 * later therefore stands here and in an `ALTER TABLE … ADD COLUMN`, run in a transaction where `pragma_table_info` does not
 * list it: by {@link createTables}, and by {@link hasTables}, which every entry asks first. It is nullable or has a DEFAULT,
 * because old rows need a value and an older version, after a rollback, inserts without it. None is ever renamed or dropped.
 */
import type { SessionSql, SqlValue } from '../ports.ts';
import type { SessionTables } from './session-tables.ts';

const TABLES = [
  // One row: who this session is, and what it may do.
  `CREATE TABLE IF NOT EXISTS session (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    uid            TEXT NOT NULL,
    caller_id      TEXT NOT NULL,
    session_id     TEXT NOT NULL,
    caller_name    TEXT NOT NULL,
    customer_id    TEXT,
    requested_by   TEXT,             -- lower case; never asked to approve
    own            TEXT NOT NULL,    -- JSON: the narrower fields this session was opened with
    policy         TEXT NOT NULL,    -- JSON: the caller's policy as last told
    policy_version INTEGER NOT NULL, -- the higher version wins
    revoked        INTEGER NOT NULL,
    pauses         TEXT NOT NULL DEFAULT '[]',  -- JSON: scopes of the pauses that may concern this caller, as last told
    expires_at     INTEGER NOT NULL, -- of the last token issued
    ended_at       INTEGER,
    touched_at     INTEGER NOT NULL, -- opened or rejoined
    sent_seq       INTEGER NOT NULL DEFAULT 0,  -- rows of the log at least up to this one are confirmed in D1
    noticed_seq    INTEGER NOT NULL DEFAULT 0,  -- notices of the log up to this one are in the queue
    told           TEXT NOT NULL DEFAULT ''     -- what D1 was last told of this session
  )`,
  // One row a call, decision or event, in the order of settling. No index: each would be one more row written a call.
  `CREATE TABLE IF NOT EXISTS log (
    seq         INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    step        INTEGER,
    call_id     TEXT,
    tool        TEXT,
    key         TEXT,
    attempt     INTEGER,
    code        TEXT NOT NULL,
    hash        TEXT NOT NULL,
    row         TEXT NOT NULL,       -- JSON: the audit row as it is hashed and sent
    fingerprint TEXT,
    verdict     TEXT,                -- JSON: what a transport retry is told; null for reads
    round       INTEGER,             -- the record the call spoke of
    restarts    INTEGER NOT NULL,    -- 1: the count of this key starts anew here
    notice      INTEGER NOT NULL,    -- 1: the approvers are to be told of this refusal
    stored      INTEGER NOT NULL     -- bytes of arguments that the row keeps
  )`,
  // One row each time a call key became an intent.
  `CREATE TABLE IF NOT EXISTS record (
    key          TEXT NOT NULL,
    round        INTEGER NOT NULL,
    state        TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    ledger       TEXT,               -- 'applied' or 'void', once the ledger's row is known
    tool         TEXT NOT NULL,
    contract     TEXT NOT NULL,
    input        TEXT NOT NULL,
    call_id      TEXT NOT NULL,
    step         INTEGER NOT NULL,
    fingerprint  TEXT NOT NULL,
    amount_cents INTEGER,
    currency     TEXT,
    backend      TEXT NOT NULL,      -- where its attempts are written
    subject      TEXT,
    seen         TEXT NOT NULL,
    answer       TEXT,
    refusal      TEXT,
    approval_id  TEXT,
    opened_at    INTEGER,
    expires_at   INTEGER,
    decided_at   INTEGER,
    decided_by   INTEGER,
    note         TEXT,
    request_id   TEXT,
    shown        TEXT,               -- digests of the facts the approver saw
    approvers    TEXT,               -- JSON: address, link bits and delivery of each
    outgoing     TEXT,               -- JSON: the request of an effect in another system, from its claim or approval on
    place        TEXT,               -- the account it goes to, hashed
    sends        INTEGER NOT NULL DEFAULT 0,
    first_send_at INTEGER,
    last_send_at INTEGER,
    final        TEXT,               -- JSON: how the attempt ended; from then on nothing of it is sent
    waits        INTEGER NOT NULL DEFAULT 0, -- 1: only an operator can settle it, as the alarm last found
    changed      INTEGER NOT NULL,   -- rises with every change that operators see
    reported     INTEGER NOT NULL,   -- the change D1 was last told of
    PRIMARY KEY (key, round)
  ) WITHOUT ROWID`,
  // What stays when a session is forgotten: that its chain ended here.
  `CREATE TABLE IF NOT EXISTS heads (
    uid  TEXT NOT NULL PRIMARY KEY,
    seq  INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) WITHOUT ROWID`,
];

export function createTables(sql: SessionSql): void {
  for (const table of TABLES) sql.all(table);
}

/** Inserts one row. Names of table and columns are the program's own. */
export function insertInto(sql: SessionSql, table: string, values: Record<string, SqlValue>): void {
  const names = Object.keys(values);
  const places = names.map(() => '?').join(', ');
  sql.all(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`, ...Object.values(values));
}

/** Whether a session was ever opened here. */
export const hasTables = (sql: SessionSql): boolean =>
  sql.all("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'session'").length > 0;

/** Forgets everything but the head of the chain. */
export function forgetTables(sql: SessionTables, head: { uid: string; seq: number; hash: string }): void {
  sql.transaction(() => {
    insertInto(sql, 'heads', { uid: head.uid, seq: head.seq, hash: head.hash });
    for (const table of ['session', 'log', 'record']) sql.all(`DELETE FROM ${table}`);
  });
  sql.forget();
}
