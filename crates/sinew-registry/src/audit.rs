//! The audit trail: who did what, when, to which bytes, from where. Records are only ever added.
//!
//! It is also how servers that share a database learn of each other's changes: each change of a
//! skill is in here, in order, in the transaction that made it.

use sinew_store::{JsonText, NewStreamRecord, StoreError, StoreOp};

use super::model::{AUDIT, RegistryAuditEntry};
use super::token::{hex, random_bytes};

/// An entry that says nothing yet.
pub(crate) fn empty_entry() -> RegistryAuditEntry {
    RegistryAuditEntry {
        who: String::new(),
        skill: None,
        version: None,
        digest: None,
        address: None,
        note: None,
    }
}

/// The step of a transaction that records an entry.
pub(crate) fn append_op(
    kind: &str,
    entry: &RegistryAuditEntry,
    now: u64,
) -> Result<StoreOp, StoreError> {
    let random = random_bytes().map_or_else(|_| String::from("-"), |bytes| hex(&bytes[..10]));
    let record = NewStreamRecord {
        id: format!("{now}-{random}"),
        ts: i64::try_from(now).unwrap_or(i64::MAX),
        kind: kind.to_owned(),
        body: JsonText::of(entry)?,
    };
    Ok(StoreOp::append(AUDIT, vec![record]))
}
