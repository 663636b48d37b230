-- The system of record for effects. Amounts are integers in minor units of their currency.

CREATE TABLE orders (
  order_id       TEXT NOT NULL PRIMARY KEY CHECK (order_id GLOB 'ORD-[0-9][0-9][0-9][0-9]'),
  customer_id    TEXT NOT NULL,
  total_cents    INTEGER NOT NULL CHECK (typeof(total_cents) = 'integer' AND total_cents >= 0),
  refunded_cents INTEGER NOT NULL DEFAULT 0,
  currency       TEXT NOT NULL CHECK (currency IN ('BRL', 'USD')),
  -- The last line: whatever the code above does, nobody is paid back more than was paid.
  CONSTRAINT refunded_within_total
    CHECK (typeof(refunded_cents) = 'integer' AND refunded_cents BETWEEN 0 AND total_cents)
) WITHOUT ROWID;

-- One row per attempt of a call key, written once: applied or void, whichever is inserted first.
-- WITHOUT ROWID: the key is the table, so an insert is one row written, not two.
CREATE TABLE attempts (
  effect_key   TEXT NOT NULL PRIMARY KEY,    -- SHA-256 of RFC 8785 [call_key, attempt]
  call_key     TEXT NOT NULL,
  attempt      INTEGER NOT NULL CHECK (attempt >= 1),
  uid          TEXT NOT NULL,                -- the session that sent it
  tool         TEXT NOT NULL,
  applied      INTEGER NOT NULL CHECK (applied IN (0, 1)),
  code         TEXT,                         -- why it is void
  answer       TEXT NOT NULL CHECK (json_valid(answer)), -- applied: the tool's data; void: the facts of the refusal
  order_id     TEXT,                         -- null in a void written without a send
  amount_cents INTEGER,
  currency     TEXT,
  reason       TEXT,
  at           INTEGER NOT NULL,             -- ms since the epoch
  CONSTRAINT void_has_code CHECK ((applied = 1) = (code IS NULL)),
  CONSTRAINT applied_has_amount
    CHECK (applied = 0 OR (typeof(amount_cents) = 'integer' AND amount_cents > 0 AND order_id IS NOT NULL))
) WITHOUT ROWID;

CREATE TRIGGER attempts_are_final_update BEFORE UPDATE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are written once'); END;
CREATE TRIGGER attempts_are_final_delete BEFORE DELETE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are written once'); END;
-- INSERT OR REPLACE passes a DELETE trigger; this one stops it.
CREATE TRIGGER attempts_are_final_replace BEFORE INSERT ON attempts
WHEN EXISTS (SELECT 1 FROM attempts WHERE effect_key = NEW.effect_key)
BEGIN SELECT RAISE(IGNORE); END;
