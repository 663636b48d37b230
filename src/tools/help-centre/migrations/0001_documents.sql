-- The help centre, written by `npm run docs:import` and the sample data.

CREATE TABLE documents (
  doc_id  TEXT NOT NULL PRIMARY KEY,
  title   TEXT NOT NULL,
  version TEXT NOT NULL,
  status  TEXT NOT NULL CHECK (status IN ('current', 'superseded')),
  lang    TEXT NOT NULL,
  digest  TEXT NOT NULL,                     -- SHA-256 of all other columns: tells an import what changed
  body    TEXT NOT NULL                      -- Markdown; last, so that reads of the rest skip its pages
) WITHOUT ROWID;
