-- What a recorder keeps beside the trace so that one that was killed can go on. Not part of the public schema: the
-- finaliser drops these tables.
CREATE TABLE IF NOT EXISTS open_scope(spool TEXT NOT NULL, thread_id INTEGER NOT NULL, token INTEGER NOT NULL,
  slice_id INTEGER NOT NULL, kind TEXT NOT NULL, category TEXT NOT NULL, name_id INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, parent_id INTEGER, depth INTEGER NOT NULL, lane INTEGER NOT NULL, scope_id INTEGER,
  scope_how TEXT NOT NULL, PRIMARY KEY(spool, thread_id, token)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ingest_state(spool TEXT NOT NULL, kind TEXT NOT NULL, key INTEGER NOT NULL,
  value, PRIMARY KEY(spool, kind, key)) WITHOUT ROWID;
