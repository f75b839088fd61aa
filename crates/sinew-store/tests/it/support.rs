//! A separate database for each test, on either back end.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use sinew_store::{
    JsonText, NewStreamRecord, RecordSeq, Store, StoreError, StoreOp, StoreOptions, StreamRecord,
    StreamTail,
};
use sinew_testkit::PostgresSchema;
use tempfile::TempDir;

/// Writes each test once and runs it on every back end.
macro_rules! on_both {
    ($($(#[doc = $doc:literal])* fn $name:ident($world:ident) $body:block)*) => {
        $($(#[doc = $doc])* fn $name($world: &crate::support::World) $body)*

        mod sqlite {
            $(#[test] fn $name() { super::$name(&crate::support::World::sqlite()); })*
        }

        mod postgres {
            $(#[test] fn $name() {
                if let Some(world) = crate::support::World::postgres() {
                    super::$name(&world);
                }
            })*
        }
    };
}

/// A database that no other test uses.
pub(crate) struct World {
    url: String,
    ground: Ground,
}

enum Ground {
    Folder(#[expect(dead_code, reason = "it goes away with the world")] TempDir),
    Schema(PostgresSchema),
}

impl World {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("home/sinew.db").display());
        Self { url, ground: Ground::Folder(folder) }
    }

    /// `None` if there is no server, which is reported.
    pub(crate) fn postgres() -> Option<Self> {
        let schema = sinew_testkit::postgres()?;
        Some(Self { url: schema.url(), ground: Ground::Schema(schema) })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The file of a SQLite database.
    pub(crate) fn file(&self) -> PathBuf {
        PathBuf::from(self.url.trim_start_matches("sqlite:"))
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self.ground, Ground::Folder(_))
    }

    /// Removes the database completely.
    pub(crate) fn wipe(&self) {
        match &self.ground {
            Ground::Folder(_) => std::fs::remove_file(self.file()).unwrap(),
            Ground::Schema(schema) => schema.clear(),
        }
    }

    /// Runs SQL directly on the database.
    pub(crate) fn execute(&self, sql: &str) {
        match &self.ground {
            Ground::Folder(_) => {
                rusqlite::Connection::open(self.file()).unwrap().execute_batch(sql).unwrap();
            }
            Ground::Schema(schema) => schema.execute(sql),
        }
    }

    pub(crate) fn open(&self) -> Arc<dyn Store> {
        sinew_store::open(&self.url, &StoreOptions::default()).unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<Arc<dyn Store>, StoreError> {
        sinew_store::open(&self.url, &StoreOptions::default())
    }
}

/// Whether to run full counts instead of quick ones.
pub(crate) fn long() -> bool {
    std::env::var_os("SINEW_LONG").is_some_and(|value| value == "1")
}

/// Another process that runs one otherwise ignored test of this binary.
pub(crate) fn child(test: &str, world: &World) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--quiet", "--nocapture"]);
    command.env("SINEW_CHILD_URL", world.url());
    command
}

/// The database that a child was started for; `None` if ignored tests are run by hand.
pub(crate) fn parents_store() -> Option<Arc<dyn Store>> {
    let url = std::env::var("SINEW_CHILD_URL").ok()?;
    Some(sinew_store::open(&url, &StoreOptions::default()).unwrap())
}

/// A record with that id, and a body of its own.
pub(crate) fn record(id: &str) -> NewStreamRecord {
    NewStreamRecord {
        id: id.to_owned(),
        ts: 1_700_000_000_000,
        kind: "outcome".to_owned(),
        body: JsonText::of(&format!("body of {id}")).unwrap(),
    }
}

pub(crate) fn append(id: &str) -> StoreOp {
    StoreOp::append("log", [record(id)])
}

pub(crate) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

pub(crate) fn ids(records: &[StreamRecord]) -> Vec<&str> {
    records.iter().map(|record| record.id.as_str()).collect()
}

/// All records of a stream, whose places must be `1..=n`.
pub(crate) fn all(store: &dyn Store, stream: &str) -> Vec<StreamRecord> {
    let records: Vec<StreamRecord> =
        StreamTail::new(store, stream, RecordSeq::START).collect::<Result<_, _>>().unwrap();
    for (record, place) in records.iter().zip(1..) {
        assert_eq!(record.seq, RecordSeq(place), "{stream}");
    }
    assert_eq!(store.len(stream).unwrap(), records.len() as u64);
    records
}
