-- What the session objects sent of their approvals. The objects are the authority; this is what operators query.

CREATE TABLE approvals (
  approval_id   TEXT NOT NULL PRIMARY KEY,
  version       INTEGER NOT NULL,            -- of the object's record; the higher one wins
  uid           TEXT NOT NULL,
  caller_id     TEXT NOT NULL,
  session_id    TEXT NOT NULL,
  tool          TEXT NOT NULL,
  subject       TEXT,                        -- what it concerns, such as an order
  amount_cents  INTEGER,
  currency      TEXT,
  status        TEXT NOT NULL,
  code          TEXT,                        -- why it failed
  opened_at     INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  decided_at    INTEGER,
  actor         TEXT,
  note          TEXT,                        -- why it was rejected, cleaned
  shown         TEXT,                        -- digests of the facts that the approver saw
  delivery      TEXT NOT NULL CHECK (json_valid(delivery)) -- [{approver, email, sent_at, undeliverable}]
) WITHOUT ROWID;
-- The approver's page lists the other approvals of the same order.
CREATE INDEX approvals_by_subject ON approvals (subject, opened_at);
-- Operators list approvals by age; without the index each page would read all of them.
CREATE INDEX approvals_by_age ON approvals (opened_at);
