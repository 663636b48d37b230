-- What an operator has paused. Every effect reads it in the transaction that applies it, so nothing is applied after the answer.
CREATE TABLE pauses (
  scope  TEXT NOT NULL,                      -- 'all', 'caller:' and its id, or 'tool:' and its name
  id     TEXT NOT NULL,
  reason TEXT NOT NULL,
  at     INTEGER NOT NULL,                   -- ms since the epoch
  actor  TEXT NOT NULL,
  PRIMARY KEY (scope, id)
) WITHOUT ROWID;
