-- Host applications, their keys, and the sessions they opened.

CREATE TABLE callers (
  caller_id  TEXT NOT NULL PRIMARY KEY,
  name       TEXT NOT NULL,
  policy     TEXT NOT NULL CHECK (json_valid(policy)),
  version    INTEGER NOT NULL DEFAULT 1,     -- rises with every change; the higher version wins in a session
  created_at INTEGER NOT NULL,
  revoked_at INTEGER                         -- set once; no effect is applied for a revoked caller
) WITHOUT ROWID;

CREATE TABLE caller_keys (
  caller_id  TEXT NOT NULL REFERENCES callers (caller_id),
  key_hash   TEXT NOT NULL,                  -- SHA-256 of the whole key, hex
  created_at INTEGER NOT NULL,
  expires_at INTEGER,                        -- null: until rotated; at most two keys are live
  PRIMARY KEY (caller_id, key_hash)
) WITHOUT ROWID;

CREATE TABLE sessions (
  uid          TEXT NOT NULL PRIMARY KEY,    -- begins with its opening time, so that order by uid is order by age
  caller_id    TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  opened_at    INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,             -- of the last token issued
  ended_at     INTEGER,
  open_records INTEGER NOT NULL DEFAULT 0,   -- pending, approved or claimed, as last told by the session object
  version      INTEGER NOT NULL DEFAULT -1   -- of what was last told; the higher one wins, a late report changes nothing
) WITHOUT ROWID;
-- A change of a caller is told to its open sessions; without the index each change would read every session.
CREATE INDEX sessions_by_caller ON sessions (caller_id, expires_at);

CREATE TABLE operator_log (
  id         INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  action     TEXT NOT NULL,
  caller_id  TEXT,
  target     TEXT,                           -- what it was done to, where that is no caller
  detail     TEXT CHECK (json_valid(detail)), -- what was said; no secrets
  request_id TEXT NOT NULL
);
CREATE TRIGGER operator_log_keeps_update BEFORE UPDATE ON operator_log
BEGIN SELECT RAISE(ABORT, 'the operator log is append-only'); END;
-- INSERT OR REPLACE passes a DELETE trigger; this one stops it.
CREATE TRIGGER operator_log_keeps_replace BEFORE INSERT ON operator_log
WHEN EXISTS (SELECT 1 FROM operator_log WHERE id = NEW.id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER operator_log_keeps_delete BEFORE DELETE ON operator_log
BEGIN SELECT RAISE(ABORT, 'the operator log is append-only'); END;
