//! A transaction on the server.
//!
//! All locks are taken first and in one order, streams before the rest, so that two transactions
//! never wait for each other. A stream's row is the lock of the stream; documents and snapshots,
//! which may not exist yet, are locked by a number derived from their names.

use std::collections::{BTreeSet, HashMap};

use deadpool_postgres::{Client, Transaction};
use sinew_skill::content_hash;

use super::fault::PostgresFault;
use crate::{
    DocumentVersion, ExpectedVersion, FoldSnapshot, JsonText, NewStreamRecord, RecordSeq,
    SnapshotWrite, StoreError, StoreOp, StoreOpResult,
};

/// Applies all steps in order, or none of them.
pub(super) async fn apply_ops(
    client: &mut Client,
    ops: &[StoreOp],
    place: &str,
) -> Result<Vec<StoreOpResult>, PostgresFault> {
    let transaction = client.transaction().await?;
    let mut streams = lock_streams(&transaction, ops).await?;
    lock_names(&transaction, ops).await?;
    let mut done = Vec::with_capacity(ops.len());
    for op in ops {
        done.push(step(&transaction, &mut streams, op).await?);
    }
    for stream in streams.values().filter(|stream| stream.grew) {
        let statement =
            transaction.prepare_cached("UPDATE sinew_streams SET head = $2 WHERE id = $1").await?;
        transaction.execute(&statement, &[&stream.id, &stream.head]).await?;
    }
    match transaction.commit().await.map_err(PostgresFault::from) {
        // The server may have saved it before the connection broke, so it must not be retried here.
        Err(fault) if fault.is_closed() => {
            Err(StoreError::Uncertain { place: place.to_owned() }.into())
        }
        committed => committed.map(|()| done),
    }
}

/// A stream that this transaction has locked.
struct LockedStream {
    id: i32,
    head: i64,
    grew: bool,
}

async fn lock_streams(
    transaction: &Transaction<'_>,
    ops: &[StoreOp],
) -> Result<HashMap<String, LockedStream>, PostgresFault> {
    let names: BTreeSet<&str> = ops
        .iter()
        .filter_map(|op| match op {
            StoreOp::Append { stream, records } if !records.is_empty() => Some(stream.as_str()),
            _ => None,
        })
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let lock = transaction
        .prepare_cached(
            "SELECT id, name, head FROM sinew_streams WHERE name = ANY($1) ORDER BY name FOR UPDATE",
        )
        .await?;
    let mut rows = transaction.query(&lock, &[&names]).await?;
    if rows.len() < names.len() {
        // New streams are created here. A transaction that creates the same one at the same time
        // waits for this one.
        let begin = transaction
            .prepare_cached(
                "INSERT INTO sinew_streams (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING",
            )
            .await?;
        transaction.execute(&begin, &[&names]).await?;
        rows = transaction.query(&lock, &[&names]).await?;
    }
    let locked = rows.iter().map(|row| {
        let locked = LockedStream { id: row.get("id"), head: row.get("head"), grew: false };
        (row.get("name"), locked)
    });
    Ok(locked.collect())
}

async fn lock_names(transaction: &Transaction<'_>, ops: &[StoreOp]) -> Result<(), PostgresFault> {
    let numbers: BTreeSet<i64> = ops
        .iter()
        .filter_map(|op| match op {
            StoreOp::Append { .. } => None,
            StoreOp::Put { collection, key, .. } | StoreOp::Delete { collection, key, .. } => {
                Some(number(&format!("document\0{collection}\0{key}")))
            }
            StoreOp::PutSnapshot { name, .. } | StoreOp::DropSnapshot { name } => {
                Some(number(&format!("snapshot\0{name}")))
            }
        })
        .collect();
    if numbers.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = numbers.into_iter().collect();
    let lock = transaction
        .prepare_cached("SELECT pg_advisory_xact_lock(number) FROM unnest($1::bigint[]) AS number")
        .await?;
    transaction.execute(&lock, &[&numbers]).await?;
    Ok(())
}

/// A number for a name, the same in every version of sinew.
fn number(name: &str) -> i64 {
    let digits = &content_hash(name.as_bytes())[..16];
    u64::from_str_radix(digits, 16).unwrap_or_default().cast_signed()
}

async fn step(
    transaction: &Transaction<'_>,
    streams: &mut HashMap<String, LockedStream>,
    op: &StoreOp,
) -> Result<StoreOpResult, PostgresFault> {
    match op {
        StoreOp::Append { stream, records } => match streams.get_mut(stream) {
            Some(stream) => append(transaction, stream, records).await.map(StoreOpResult::Appended),
            // Only streams that get no records are not locked.
            None => Ok(StoreOpResult::Appended(Vec::new())),
        },
        StoreOp::Put { collection, key, expect, body } => {
            put(transaction, collection, key, *expect, body).await.map(StoreOpResult::Put)
        }
        StoreOp::Delete { collection, key, expect } => {
            check(transaction, collection, key, *expect).await?;
            let statement = transaction
                .prepare_cached("DELETE FROM sinew_documents WHERE collection = $1 AND key = $2")
                .await?;
            transaction.execute(&statement, &[collection, key]).await?;
            Ok(StoreOpResult::Deleted)
        }
        StoreOp::PutSnapshot { name, snapshot } => {
            put_snapshot(transaction, name, snapshot).await.map(StoreOpResult::Snapshot)
        }
        StoreOp::DropSnapshot { name } => {
            let statement =
                transaction.prepare_cached("DELETE FROM sinew_snapshots WHERE name = $1").await?;
            transaction.execute(&statement, &[name]).await?;
            Ok(StoreOpResult::SnapshotDropped)
        }
    }
}

async fn append(
    transaction: &Transaction<'_>,
    stream: &mut LockedStream,
    records: &[NewStreamRecord],
) -> Result<Vec<RecordSeq>, PostgresFault> {
    let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let find = transaction
        .prepare_cached("SELECT id, seq FROM sinew_records WHERE stream = $1 AND id = ANY($2)")
        .await?;
    let rows = transaction.query(&find, &[&stream.id, &ids]).await?;
    let mut known: HashMap<&str, i64> =
        rows.iter().map(|row| (row.get("id"), row.get("seq"))).collect();

    let mut new: Vec<(&NewStreamRecord, i64)> = Vec::new();
    let mut seqs = Vec::with_capacity(records.len());
    for record in records {
        let seq = *known.entry(&record.id).or_insert_with(|| {
            stream.head += 1;
            new.push((record, stream.head));
            stream.head
        });
        seqs.push(RecordSeq(seq.cast_unsigned()));
    }
    if new.is_empty() {
        return Ok(seqs);
    }
    stream.grew = true;
    let insert = transaction
        .prepare_cached(
            "INSERT INTO sinew_records (stream, seq, ts, id, kind, body)
             SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[])",
        )
        .await?;
    let places: Vec<i64> = new.iter().map(|(_, seq)| *seq).collect();
    let stamps: Vec<i64> = new.iter().map(|(record, _)| record.ts).collect();
    let ids: Vec<&str> = new.iter().map(|(record, _)| record.id.as_str()).collect();
    let kinds: Vec<&str> = new.iter().map(|(record, _)| record.kind.as_str()).collect();
    let bodies: Vec<&str> = new.iter().map(|(record, _)| record.body.as_str()).collect();
    transaction.execute(&insert, &[&stream.id, &places, &stamps, &ids, &kinds, &bodies]).await?;
    Ok(seqs)
}

async fn put(
    transaction: &Transaction<'_>,
    collection: &str,
    key: &str,
    expect: ExpectedVersion,
    body: &JsonText,
) -> Result<DocumentVersion, PostgresFault> {
    check(transaction, collection, key, expect).await?;
    let statement = transaction
        .prepare_cached(
            "INSERT INTO sinew_documents (version, collection, key, body)
             VALUES (nextval('sinew_versions'), $1, $2, $3)
             ON CONFLICT (collection, key)
             DO UPDATE SET version = excluded.version, body = excluded.body
             RETURNING version",
        )
        .await?;
    let row = transaction.query_one(&statement, &[&collection, &key, &body.as_str()]).await?;
    Ok(DocumentVersion(row.get::<_, i64>(0).cast_unsigned()))
}

/// Refuses a change to a document that is not in the expected state.
async fn check(
    transaction: &Transaction<'_>,
    collection: &str,
    key: &str,
    expected: ExpectedVersion,
) -> Result<(), PostgresFault> {
    if expected == ExpectedVersion::Any {
        return Ok(());
    }
    let statement = transaction
        .prepare_cached("SELECT version FROM sinew_documents WHERE collection = $1 AND key = $2")
        .await?;
    let row = transaction.query_opt(&statement, &[&collection, &key]).await?;
    let found = row.map(|row| DocumentVersion(row.get::<_, i64>(0).cast_unsigned()));
    if expected.allows(found) {
        return Ok(());
    }
    let (collection, key) = (collection.to_owned(), key.to_owned());
    Err(StoreError::Conflict { collection, key, expected, found }.into())
}

async fn put_snapshot(
    transaction: &Transaction<'_>,
    name: &str,
    snapshot: &FoldSnapshot,
) -> Result<SnapshotWrite, PostgresFault> {
    let FoldSnapshot { through, tag, body } = snapshot;
    let statement = transaction
        .prepare_cached(
            "INSERT INTO sinew_snapshots AS old (name, through, tag, body) VALUES ($1, $2, $3, $4)
             ON CONFLICT (name)
             DO UPDATE SET through = excluded.through, tag = excluded.tag, body = excluded.body
             WHERE old.tag <> excluded.tag OR old.through < excluded.through",
        )
        .await?;
    let through = through.0.cast_signed();
    let updated = transaction.execute(&statement, &[&name, &through, tag, body]).await?;
    Ok(if updated == 1 { SnapshotWrite::New } else { SnapshotWrite::Old })
}
