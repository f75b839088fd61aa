//! The steps of a transaction, applied on a connection that has begun one.

use rusqlite::{Connection, OptionalExtension as _};

use super::fault::SqliteFault;
use super::query::{last_place, seq_of};
use crate::{
    DocumentVersion, ExpectedVersion, FoldSnapshot, JsonText, NewStreamRecord, RecordSeq,
    SnapshotWrite, StoreError, StoreOp, StoreOpResult,
};

/// Applies the steps in order, and stops at the first that fails.
pub(super) fn apply_ops(
    connection: &Connection,
    ops: &[StoreOp],
) -> Result<Vec<StoreOpResult>, SqliteFault> {
    ops.iter().map(|op| step(connection, op)).collect()
}

fn step(connection: &Connection, op: &StoreOp) -> Result<StoreOpResult, SqliteFault> {
    match op {
        StoreOp::Append { stream, records } => {
            append(connection, stream, records).map(StoreOpResult::Appended)
        }
        StoreOp::Put { collection, key, expect, body } => {
            put(connection, collection, key, *expect, body).map(StoreOpResult::Put)
        }
        StoreOp::Delete { collection, key, expect } => {
            check(connection, collection, key, *expect)?;
            connection
                .prepare_cached("DELETE FROM sinew_documents WHERE collection = ?1 AND key = ?2")?
                .execute((collection, key))?;
            Ok(StoreOpResult::Deleted)
        }
        StoreOp::PutSnapshot { name, snapshot } => {
            put_snapshot(connection, name, snapshot).map(StoreOpResult::Snapshot)
        }
        StoreOp::DropSnapshot { name } => {
            connection
                .prepare_cached("DELETE FROM sinew_snapshots WHERE name = ?1")?
                .execute([name])?;
            Ok(StoreOpResult::SnapshotDropped)
        }
    }
}

fn append(
    connection: &Connection,
    stream: &str,
    records: &[NewStreamRecord],
) -> Result<Vec<RecordSeq>, SqliteFault> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let stream = stream_id(connection, stream)?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO sinew_records (place, ts, id, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    let mut find = connection
        .prepare_cached("SELECT place FROM sinew_records WHERE place >> 40 = ?1 AND id = ?2")?;
    let mut next = last_place(connection, stream)? + 1;
    let mut seqs = Vec::with_capacity(records.len());
    for NewStreamRecord { id, ts, kind, body } in records {
        if insert.execute((next, ts, id, kind, body.as_str()))? == 1 {
            seqs.push(seq_of(next));
            next += 1;
        } else {
            seqs.push(seq_of(find.query_row((stream, id), |row| row.get(0))?));
        }
    }
    Ok(seqs)
}

/// The number of a stream, which is created if it is new.
fn stream_id(connection: &Connection, name: &str) -> Result<i64, SqliteFault> {
    let found = connection
        .prepare_cached("SELECT id FROM sinew_streams WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    match found {
        Some(id) => Ok(id),
        None => Ok(connection
            .prepare_cached("INSERT INTO sinew_streams (name) VALUES (?1)")?
            .insert([name])?),
    }
}

fn put(
    connection: &Connection,
    collection: &str,
    key: &str,
    expect: ExpectedVersion,
    body: &JsonText,
) -> Result<DocumentVersion, SqliteFault> {
    check(connection, collection, key, expect)?;
    let version: i64 = connection
        .prepare_cached("UPDATE sinew_versions SET last = last + 1 RETURNING last")?
        .query_row([], |row| row.get(0))?;
    connection
        .prepare_cached(
            "INSERT INTO sinew_documents (version, collection, key, body) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (collection, key)
             DO UPDATE SET version = excluded.version, body = excluded.body",
        )?
        .execute((version, collection, key, body.as_str()))?;
    Ok(DocumentVersion(version.cast_unsigned()))
}

/// Refuses a change to a document that is not in the expected state.
fn check(
    connection: &Connection,
    collection: &str,
    key: &str,
    expected: ExpectedVersion,
) -> Result<(), SqliteFault> {
    let found: Option<i64> = connection
        .prepare_cached("SELECT version FROM sinew_documents WHERE collection = ?1 AND key = ?2")?
        .query_row((collection, key), |row| row.get(0))
        .optional()?;
    let found = found.map(|version| DocumentVersion(version.cast_unsigned()));
    if expected.allows(found) {
        return Ok(());
    }
    let (collection, key) = (collection.to_owned(), key.to_owned());
    Err(StoreError::Conflict { collection, key, expected, found }.into())
}

fn put_snapshot(
    connection: &Connection,
    name: &str,
    snapshot: &FoldSnapshot,
) -> Result<SnapshotWrite, SqliteFault> {
    let FoldSnapshot { through, tag, body } = snapshot;
    let updated = connection
        .prepare_cached(
            "INSERT INTO sinew_snapshots (name, through, tag, body) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (name)
             DO UPDATE SET through = excluded.through, tag = excluded.tag, body = excluded.body
             WHERE tag <> excluded.tag OR through < excluded.through",
        )?
        .execute((name, through.0.cast_signed(), tag, body))?;
    Ok(if updated == 1 { SnapshotWrite::New } else { SnapshotWrite::Old })
}
