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
//! **Left out on purpose:** the meaning of what it stores; blobs; reading a damaged file.

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

use std::sync::Arc;

pub use document::{DocumentVersion, ExpectedVersion, KeyRange, StoredDocument};
pub use error::{StoreError, StoreKind, StoreLocation};
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
