-- Schema 1.

CREATE TABLE sinew_migrations (
  version INTEGER PRIMARY KEY,
  checksum TEXT NOT NULL
) STRICT;

CREATE TABLE sinew_streams (
  -- Small, because it shares the key of a record with the record's number.
  id INTEGER PRIMARY KEY CHECK (id < 4194304),
  name TEXT NOT NULL UNIQUE
) STRICT;

-- A record's place is its stream's id in the upper bits and its number in the lower forty. So the
-- table itself is ordered by stream and number, new records go to the end of a page, and neither
-- needs a column or an index.
CREATE TABLE sinew_records (
  place INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX sinew_records_id ON sinew_records (place >> 40, id);

CREATE TABLE sinew_documents (
  number INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  collection TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (collection, key)
) STRICT;

-- The last version that was given to any document.
CREATE TABLE sinew_versions (
  last INTEGER NOT NULL
) STRICT;
INSERT INTO sinew_versions VALUES (0);

CREATE TABLE sinew_snapshots (
  name TEXT PRIMARY KEY,
  through INTEGER NOT NULL,
  tag TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT;
