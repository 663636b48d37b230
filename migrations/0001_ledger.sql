-- The gate's record of effects: what was attempted, and what it adds up to. Amounts are integers in minor units.

-- One row per attempt of a call key, written once: applied or void, whichever is inserted first.
-- The key is the table (WITHOUT ROWID): an insert is one row written, and the attempts of one subject are read together.
CREATE TABLE attempts (
  backend      TEXT NOT NULL,                -- 'ledger:' and the name of the tool's books, such as ledger:orders
  subject      TEXT NOT NULL,                -- what it concerns; the effect key where the tool names none
  effect_key   TEXT NOT NULL,                -- SHA-256 of RFC 8785 [call_key, attempt]
  call_key     TEXT NOT NULL,
  attempt      INTEGER NOT NULL CHECK (attempt >= 1),
  uid          TEXT NOT NULL,                -- the session that sent it
  tool         TEXT NOT NULL,
  amount_cents INTEGER,
  currency     TEXT,                         -- ISO 4217
  details      TEXT NOT NULL CHECK (json_valid(details)), -- the arguments as judged; {} in a void written without a send
  applied      INTEGER NOT NULL CHECK (applied IN (0, 1)),
  code         TEXT,                         -- why it is void
  answer       TEXT NOT NULL CHECK (json_valid(answer)),  -- applied: the tool's data, null where it could not be read; void: the facts of the refusal
  external_id  TEXT,                         -- what another system calls the effect
  digest       TEXT,                         -- of the request sent there: SHA-256 of [method, path, body]
  sends        INTEGER,                      -- how often it was sent there
  at           INTEGER NOT NULL,             -- ms since the epoch
  PRIMARY KEY (backend, subject, effect_key),
  CONSTRAINT void_has_code CHECK ((applied = 1) = (code IS NULL)),
  CONSTRAINT amount_is_money CHECK (
    (amount_cents IS NULL AND currency IS NULL)
    OR (typeof(amount_cents) = 'integer' AND amount_cents > 0 AND currency GLOB '[A-Z][A-Z][A-Z]'))
) WITHOUT ROWID;

CREATE TRIGGER attempts_are_final_update BEFORE UPDATE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are written once'); END;
CREATE TRIGGER attempts_are_final_delete BEFORE DELETE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are written once'); END;
-- INSERT OR REPLACE passes a DELETE trigger; this one stops it.
CREATE TRIGGER attempts_are_final_replace BEFORE INSERT ON attempts
WHEN EXISTS (
  SELECT 1 FROM attempts WHERE backend = NEW.backend AND subject = NEW.subject AND effect_key = NEW.effect_key)
BEGIN SELECT RAISE(IGNORE); END;

-- What the gate applied to each subject. The gate alone writes it, by the trigger below: the shop's own tables hold only
-- what the shop knows, so that an ordinary sync of orders cannot undo what was refunded.
CREATE TABLE subject_totals (
  backend       TEXT NOT NULL,
  subject       TEXT NOT NULL,
  currency      TEXT NOT NULL,               -- of the first applied attempt
  applied_cents INTEGER NOT NULL,
  PRIMARY KEY (backend, subject)
) WITHOUT ROWID;

-- The total moves with the row that applies the attempt, in the same transaction, and only if that insert took.
CREATE TRIGGER attempts_move_totals AFTER INSERT ON attempts WHEN NEW.applied = 1 AND NEW.amount_cents IS NOT NULL
BEGIN
  INSERT INTO subject_totals (backend, subject, currency, applied_cents)
  SELECT NEW.backend, NEW.subject, NEW.currency, sum(amount_cents) FROM attempts
  WHERE backend = NEW.backend AND subject = NEW.subject AND applied = 1
  ON CONFLICT DO UPDATE SET currency = excluded.currency, applied_cents = excluded.applied_cents;
END;

CREATE TRIGGER totals_are_sums_insert BEFORE INSERT ON subject_totals
WHEN NEW.applied_cents IS NOT (
  SELECT sum(amount_cents) FROM attempts WHERE backend = NEW.backend AND subject = NEW.subject AND applied = 1)
BEGIN SELECT RAISE(ABORT, 'a total is the sum of the applied attempts'); END;
CREATE TRIGGER totals_are_sums_update BEFORE UPDATE ON subject_totals
WHEN NEW.backend IS NOT OLD.backend OR NEW.subject IS NOT OLD.subject OR NEW.currency IS NOT OLD.currency
  OR NEW.applied_cents IS NOT (
    SELECT sum(amount_cents) FROM attempts WHERE backend = NEW.backend AND subject = NEW.subject AND applied = 1)
BEGIN SELECT RAISE(ABORT, 'a total is the sum of the applied attempts, in one currency'); END;
CREATE TRIGGER totals_are_sums_delete BEFORE DELETE ON subject_totals
BEGIN SELECT RAISE(ABORT, 'a total is the sum of the applied attempts'); END;

-- One row: an attempt that another system may execute. It is written before the first send and deleted with the row of the
-- attempt. Its key is the lock of the subject: two attempts of one subject are never under way together.
CREATE TABLE open_sends (
  backend      TEXT NOT NULL,
  subject      TEXT NOT NULL,
  effect_key   TEXT NOT NULL,
  call_key     TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  uid          TEXT NOT NULL,
  caller_id    TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  tool         TEXT NOT NULL,
  place        TEXT NOT NULL,                -- SHA-256 of [origin, account]
  digest       TEXT NOT NULL,
  customer     TEXT,                         -- whose thing it touches; budgets go by it
  amount_cents INTEGER,
  currency     TEXT,
  opened_at    INTEGER NOT NULL,             -- ms since the epoch
  sends        INTEGER NOT NULL,             -- times this row was opened, which is at least the number of sends
  last_send_at INTEGER NOT NULL,
  PRIMARY KEY (backend, subject)
) WITHOUT ROWID;
