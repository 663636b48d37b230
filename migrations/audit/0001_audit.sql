-- What the session objects sent of their logs. The objects are the authority; this is what operators query. It has a database of
-- its own: a full audit stops no effect, and its readers need no way to the ledger.

CREATE TABLE audit (
  uid               TEXT NOT NULL,
  seq               INTEGER NOT NULL,
  kind              TEXT NOT NULL CHECK (kind IN ('call', 'decision', 'event')),
  stage             INTEGER,                      -- the stage that decided, 0 to 8; null for events
  at                INTEGER NOT NULL,             -- ms since the epoch
  caller_id         TEXT NOT NULL,
  session_id        TEXT NOT NULL,
  policy_version    INTEGER NOT NULL DEFAULT 0,   -- of the policy that the session had
  step              INTEGER,
  call_id           TEXT,
  tool              TEXT,
  arguments         TEXT,                         -- at most 4,096 bytes; null when erased, withheld or omitted
  salt              TEXT,                         -- erased with them, so that args_hash tells nothing; an approver's stays
  args_hash         TEXT,                         -- of their whole text
  arguments_cut     INTEGER NOT NULL DEFAULT 0,   -- 1: only their beginning is kept
  kept_hash         TEXT,                         -- of that beginning
  arguments_omitted INTEGER NOT NULL DEFAULT 0,   -- 1: the session keeps no more arguments
  key               TEXT,                         -- call key
  attempt           INTEGER,                      -- only on the row that made a record executed
  result_hash       TEXT,                         -- there: of subject, amount, currency and answer
  ok                INTEGER NOT NULL,
  code              TEXT NOT NULL,
  candidate         TEXT,                         -- what a candidate policy would have said
  reason            TEXT,                         -- the reason that a person gave
  fields            TEXT,                         -- JSON array of the fields with problems
  replayed          INTEGER NOT NULL,
  approval_id       TEXT,
  actor             TEXT NOT NULL,
  approver_hash     TEXT,                         -- where a person had decided: of their address
  shown_hash        TEXT,                         -- there: of the facts on the page
  duration_ms       INTEGER NOT NULL,
  request_id        TEXT,
  trace_id          TEXT,
  contract          TEXT,
  hash              TEXT NOT NULL,
  withheld          INTEGER NOT NULL DEFAULT 0,   -- 1: refused with its arguments, sent without them; not part of the hash
  -- When the row came here, ms since the epoch; not part of the hash.
  arrived_at        INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  PRIMARY KEY (uid, seq)
) WITHOUT ROWID;

-- Erasing arguments is the one change allowed, and it erases their salt, or the arguments could be guessed from their hash.
CREATE TRIGGER audit_keeps_update BEFORE UPDATE ON audit
WHEN NEW.arguments IS NOT NULL OR (NEW.salt IS NOT NULL AND NEW.salt IS NOT OLD.salt)
  OR NEW.uid IS NOT OLD.uid OR NEW.seq IS NOT OLD.seq OR NEW.kind IS NOT OLD.kind OR NEW.stage IS NOT OLD.stage
  OR NEW.at IS NOT OLD.at OR NEW.caller_id IS NOT OLD.caller_id OR NEW.session_id IS NOT OLD.session_id
  OR NEW.policy_version IS NOT OLD.policy_version OR NEW.step IS NOT OLD.step OR NEW.call_id IS NOT OLD.call_id
  OR NEW.tool IS NOT OLD.tool OR NEW.args_hash IS NOT OLD.args_hash OR NEW.arguments_cut IS NOT OLD.arguments_cut
  OR NEW.kept_hash IS NOT OLD.kept_hash OR NEW.arguments_omitted IS NOT OLD.arguments_omitted
  OR NEW.key IS NOT OLD.key OR NEW.attempt IS NOT OLD.attempt OR NEW.result_hash IS NOT OLD.result_hash
  OR NEW.ok IS NOT OLD.ok OR NEW.code IS NOT OLD.code OR NEW.candidate IS NOT OLD.candidate
  OR NEW.reason IS NOT OLD.reason OR NEW.fields IS NOT OLD.fields OR NEW.replayed IS NOT OLD.replayed
  OR NEW.approval_id IS NOT OLD.approval_id OR NEW.actor IS NOT OLD.actor
  OR NEW.approver_hash IS NOT OLD.approver_hash OR NEW.shown_hash IS NOT OLD.shown_hash
  OR NEW.duration_ms IS NOT OLD.duration_ms OR NEW.request_id IS NOT OLD.request_id
  OR NEW.trace_id IS NOT OLD.trace_id OR NEW.contract IS NOT OLD.contract OR NEW.hash IS NOT OLD.hash
  OR NEW.withheld IS NOT OLD.withheld OR NEW.arrived_at IS NOT OLD.arrived_at
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_erases_salt AFTER UPDATE ON audit
WHEN NEW.arguments IS NULL AND NEW.salt IS NOT NULL AND NEW.approver_hash IS NULL
BEGIN UPDATE audit SET salt = NULL WHERE uid = NEW.uid AND seq = NEW.seq; END;
-- Such a row has no arguments. Erasing a session passes it over, because without the salt its approver could not be proved.
CREATE TRIGGER audit_keeps_approver BEFORE UPDATE ON audit WHEN OLD.approver_hash IS NOT NULL AND NEW.salt IS NULL
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER audit_keeps_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_keeps_replace BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE uid = NEW.uid AND seq = NEW.seq)
BEGIN SELECT RAISE(IGNORE); END;
