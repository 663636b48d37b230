-- Customers' accounts as the bank shows them. Nothing here moves money; the gate only reads.

CREATE TABLE accounts (
  account_id  TEXT NOT NULL PRIMARY KEY CHECK (account_id GLOB 'ACC-[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]'),
  customer_id TEXT NOT NULL,
  currency    TEXT NOT NULL CHECK (currency IN ('BRL', 'USD'))
) WITHOUT ROWID;

-- The key is the order in which they are read, so a search reads no row it does not need but for type and amount.
CREATE TABLE transactions (
  account_id   TEXT NOT NULL REFERENCES accounts (account_id),
  posted_on    TEXT NOT NULL CONSTRAINT posted_on_is_a_date CHECK (date(posted_on) IS posted_on), -- YYYY-MM-DD
  entry        INTEGER NOT NULL,             -- order within the day
  type         TEXT NOT NULL CHECK (type IN ('DEBIT', 'CREDIT')),
  amount_cents INTEGER NOT NULL CHECK (typeof(amount_cents) = 'integer' AND amount_cents > 0),
  memo         TEXT NOT NULL,                -- written by whoever paid: never to be trusted
  PRIMARY KEY (account_id, posted_on, entry)
) WITHOUT ROWID;
