-- Schema 1.

CREATE TABLE sinew_migrations (
  version integer PRIMARY KEY,
  checksum text NOT NULL
);

-- A stream's row is locked while records are added to it: the next number is given out only when the
-- one before it can be seen.
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
