-- The shop's orders, written by the shop. What was refunded is the gate's to know: subject_totals, backend ledger:orders.

CREATE TABLE orders (
  order_id    TEXT NOT NULL PRIMARY KEY CHECK (order_id GLOB 'ORD-[0-9][0-9][0-9][0-9]'),
  customer_id TEXT NOT NULL,
  total_cents INTEGER NOT NULL CHECK (typeof(total_cents) = 'integer' AND total_cents >= 0), -- minor units
  currency    TEXT NOT NULL CHECK (currency IN ('BRL', 'USD'))
) WITHOUT ROWID;

-- The last line: whatever the code above does, no order is refunded beyond its total.
CREATE TRIGGER refunded_within_total AFTER INSERT ON attempts
WHEN NEW.backend = 'ledger:orders' AND NEW.applied = 1
  AND (NEW.amount_cents IS NULL
    OR (SELECT sum(amount_cents) FROM attempts WHERE backend = NEW.backend AND subject = NEW.subject AND applied = 1)
      > coalesce((SELECT total_cents FROM orders WHERE order_id = NEW.subject), 0))
BEGIN SELECT RAISE(ABORT, 'refunded_within_total'); END;
