-- A database of schema 1 with data in every table, as it was on the day it was released.
-- It never changes: it is what the oldest users have.

PRAGMA application_id = 1936289399;
PRAGMA journal_mode = wal;

CREATE TABLE sinew_migrations (
  version INTEGER PRIMARY KEY,
  checksum TEXT NOT NULL
) STRICT;

CREATE TABLE sinew_streams (
  id INTEGER PRIMARY KEY CHECK (id < 4194304),
  name TEXT NOT NULL UNIQUE
) STRICT;

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

CREATE TABLE sinew_versions (
  last INTEGER NOT NULL
) STRICT;

CREATE TABLE sinew_snapshots (
  name TEXT PRIMARY KEY,
  through INTEGER NOT NULL,
  tag TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT;

INSERT INTO sinew_migrations (version, checksum) VALUES
  (1, '789cd8362ec07118fc8ddb5b7a34dfcd988b6b7c12fc9b46912d8fa385a9aeea');

INSERT INTO sinew_streams (id, name) VALUES (1, 'outcomes'), (2, 'audit');
INSERT INTO sinew_records (place, ts, id, kind, body) VALUES
  (1099511627777, 1700000000000, '01HF0000000000000000000001', 'outcome', '{"slug": "weather"}'),
  (1099511627778, 1700000001000, '01HF0000000000000000000002', 'outcome', '{"slug": "weather", "detail": "東京 ''q''"}'),
  (2199023255553, 1700000002000, 'r1.1', 'transition', '"search"');

INSERT INTO sinew_documents (number, version, collection, key, body) VALUES
  (1, 1, 'runs', 'r1', '{"state": "search"}'),
  (2, 3, 'runs', 'r2', '{"state": "approve"}');
INSERT INTO sinew_versions VALUES (3);

INSERT INTO sinew_snapshots (name, through, tag, body) VALUES ('cortex', 2, 'v1', x'0001ff');
