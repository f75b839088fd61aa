-- A database of schema 1 with data in every table, as it was on the day it was released.
-- It never changes: it is what the oldest users have.

CREATE TABLE sinew_migrations (
  version integer PRIMARY KEY,
  checksum text NOT NULL
);

CREATE TABLE sinew_streams (
  id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" NOT NULL UNIQUE,
  head bigint NOT NULL DEFAULT 0
);

CREATE TABLE sinew_records (
  seq bigint NOT NULL,
  ts bigint NOT NULL,
  stream integer NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (stream, seq),
  UNIQUE (stream, id)
);

CREATE TABLE sinew_documents (
  version bigint NOT NULL,
  collection text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (collection, key)
);

CREATE SEQUENCE sinew_versions;

CREATE TABLE sinew_snapshots (
  through bigint NOT NULL,
  name text COLLATE "C" PRIMARY KEY,
  tag text COLLATE "C" NOT NULL,
  body bytea NOT NULL
);

INSERT INTO sinew_migrations (version, checksum) VALUES
  (1, 'd1ab79206933cef77b77ee0ed4fe973ec2da4c3c2cd8d8fd93b945f27ffc2283');

INSERT INTO sinew_streams (name, head) VALUES ('outcomes', 2), ('audit', 1);
INSERT INTO sinew_records (stream, seq, ts, id, kind, body) VALUES
  (1, 1, 1700000000000, '01HF0000000000000000000001', 'outcome', '{"slug": "weather"}'),
  (1, 2, 1700000001000, '01HF0000000000000000000002', 'outcome', '{"slug": "weather", "detail": "東京 ''q''"}'),
  (2, 1, 1700000002000, 'r1.1', 'transition', '"search"');

INSERT INTO sinew_documents (version, collection, key, body) VALUES
  (1, 'runs', 'r1', '{"state": "search"}'),
  (3, 'runs', 'r2', '{"state": "approve"}');
SELECT setval('sinew_versions', 3);

INSERT INTO sinew_snapshots (name, through, tag, body) VALUES ('cortex', 2, 'v1', '\x0001ff');
