//! The store: what sinew remembers, in SQLite or PostgreSQL behind one address.
//!
//! It stores two things, and a third to make them fast:
//!
//! - **streams**, logs to which records are only appended ([`NewStreamRecord`], [`RecordSeq`],
//!   [`StreamTail`]);
//! - **documents**, JSON by collection and key, changed by compare-and-set ([`ExpectedVersion`], [`DocumentVersion`]);
//! - **snapshots** of a fold over a stream, a cache that only moves forwards ([`FoldSnapshot`]).
//!
//! [`Store::transact`] makes several changes in one transaction.
//!
//! ```
//! use sinew_store::{
//!     ExpectedVersion, JsonText, NewStreamRecord, RecordSeq, StoreOp, StoreOptions,
//! };
//!
//! # let home = tempfile::tempdir().unwrap();
//! # let path = home.path().join("sinew.db");
//! let store = sinew_store::open(path.to_str().unwrap(), &StoreOptions::default())?;
//! let outcome = NewStreamRecord {
//!     id: "01J9ZW".to_owned(),
//!     ts: 1_700_000_000_000,
//!     kind: "outcome".to_owned(),
//!     body: JsonText::of(&("weather", "success"))?,
//! };
//! assert_eq!(store.append("outcomes", &[outcome.clone()])?, [RecordSeq(1)]);
//! assert_eq!(store.append("outcomes", &[outcome])?, [RecordSeq(1)], "a retry adds nothing");
//!
//! let version = store.put("runs", "r1", ExpectedVersion::Absent, JsonText::of("search")?)?;
//! store.transact(&[
//!     StoreOp::put("runs", "r1", ExpectedVersion::Version(version), JsonText::of("present")?),
//!     StoreOp::append("audit", vec![NewStreamRecord {
//!         id: "r1:present".to_owned(),
//!         ts: 1_700_000_000_500,
//!         kind: "transition".to_owned(),
//!         body: JsonText::of("present")?,
//!     }]),
//! ])?;
//! # Ok::<(), sinew_store::StoreError>(())
//! ```
//!
//! **Promises.** A change that was acknowledged is on disk. Records of a stream become visible in
//! the order of their places, to every reader. Any number of processes may share a database; none
//! of them sees half a transaction, and waiting is bounded. Both back ends pass one suite of tests.
//!
//! **Invariant:** this crate reads no clock, environment or home: time stamps come from the caller.
//! **Left out on purpose:** the meaning of what it stores; blobs.

mod document;
mod error;
mod json;
mod migrate;
mod op;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
mod snapshot;
mod sqlite;
mod store;
mod stream;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use document::{DocumentVersion, ExpectedVersion, KeyRange, StoredDocument};
pub use error::{RepairReport, StoreError, StoreKind, StoreLocation};
pub use json::JsonText;
pub use op::{
    MAX_BODY, MAX_ID, MAX_KEY, MAX_NAME, MAX_PAGE, MAX_PAGE_BYTES, MAX_SNAPSHOT, MAX_STEPS,
    MAX_TRANSACTION_BYTES, StoreOp, StoreOpResult,
};
pub use options::{CorruptionPolicy, StoreOptions};
pub use snapshot::{FoldSnapshot, SnapshotWrite};
pub use store::Store;
pub use stream::{NewStreamRecord, RecordSeq, StreamRecord, StreamTail};

use options::StoreAddress;

/// Opens the store at an address, and updates its schema.
///
/// `sqlite:<path>` or a plain path is a file, created with mode 0600 if it does not exist;
/// `postgres://…` is a database on a server.
pub fn open(url: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    match options::parse_address(url)? {
        StoreAddress::File(path) => {
            tracing::debug!(path = %path.display(), "opening a database file");
            Ok(Arc::new(sqlite::SqliteStore::open(&path, options)?))
        }
        #[cfg(not(feature = "postgres"))]
        StoreAddress::Server(_) => Err(StoreError::BadUrl {
            shown: "postgres://…".to_owned(),
            why: "this program was built without the feature `postgres`".to_owned(),
        }),
        #[cfg(feature = "postgres")]
        StoreAddress::Server(url) => Ok(Arc::new(postgres::PostgresStore::open(url, options)?)),
    }
}

/// The file at an address; `None` where it names a server.
pub fn file_of(url: &str) -> Result<Option<PathBuf>, StoreError> {
    Ok(match options::parse_address(url)? {
        StoreAddress::File(path) => Some(path),
        StoreAddress::Server(_) => None,
    })
}

/// Whether a file is a database of sinew's, as far as its first bytes tell.
///
/// Not for a file that this process has open: closing it once more drops SQLite's locks.
pub fn is_ours(path: &Path) -> std::io::Result<bool> {
    sqlite::maintenance::is_ours(path)
}

/// Copies a sound database file into a new file, while others use it.
pub fn backup(path: &Path, target: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    sqlite::maintenance::backup(path, target, options)
}

/// Puts a copy that [`backup`] made in the place of a database file, and returns where the old one
/// was moved to. `stamp` is the time in UTC, for that name.
pub fn restore(
    path: &Path,
    copy: &Path,
    stamp: &str,
    options: &StoreOptions,
) -> Result<Option<PathBuf>, StoreError> {
    sqlite::maintenance::restore(path, copy, stamp, options)
}

/// Puts what can be read of a damaged database file, page by page, into a new one in its place;
/// `None` where nothing is wrong with it. The damaged file is kept.
pub fn repair(
    path: &Path,
    stamp: &str,
    options: &StoreOptions,
) -> Result<Option<RepairReport>, StoreError> {
    sqlite::maintenance::repair(path, stamp, options)
}
