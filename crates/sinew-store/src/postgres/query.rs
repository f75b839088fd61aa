//! Queries to the server; none of them changes anything.

use deadpool_postgres::Client;
use tokio_postgres::Row;

use super::fault::PostgresFault;
use crate::op::{MAX_PAGE, MAX_PAGE_BYTES};
use crate::{
    DocumentVersion, FoldSnapshot, JsonText, KeyRange, RecordSeq, StoredDocument, StreamRecord,
};

/// PostgreSQL cannot store text with a NUL in it, so nothing has such a name.
fn is_impossible(name: &str) -> bool {
    name.contains('\0')
}

pub(super) async fn read(
    client: &Client,
    stream: &str,
    after: RecordSeq,
    limit: usize,
) -> Result<Vec<StreamRecord>, PostgresFault> {
    if is_impossible(stream) {
        return Ok(Vec::new());
    }
    // A row belongs to the page if the rows before it leave room.
    let statement = client
        .prepare_cached(
            "SELECT seq, ts, id, kind, body FROM (
               SELECT *, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
               FROM (
                 SELECT seq, ts, records.id, kind, body
                 FROM sinew_records records JOIN sinew_streams streams ON streams.id = stream
                 WHERE name = $1 AND seq > $2 ORDER BY seq LIMIT $3
               ) AS rows
             ) AS sized
             WHERE before < $4 ORDER BY seq",
        )
        .await?;
    let after = i64::try_from(after.0).unwrap_or(i64::MAX);
    let rows =
        client.query(&statement, &[&stream, &after, &bounded(limit), &bounded_bytes()]).await?;
    Ok(rows.iter().map(record).collect())
}

fn record(row: &Row) -> StreamRecord {
    StreamRecord {
        seq: RecordSeq(row.get::<_, i64>("seq").cast_unsigned()),
        id: row.get("id"),
        ts: row.get("ts"),
        kind: row.get("kind"),
        body: JsonText::from_row(row.get("body")),
    }
}

pub(super) async fn len(client: &Client, stream: &str) -> Result<u64, PostgresFault> {
    if is_impossible(stream) {
        return Ok(0);
    }
    let statement = client.prepare_cached("SELECT head FROM sinew_streams WHERE name = $1").await?;
    let head = client.query_opt(&statement, &[&stream]).await?;
    Ok(head.map_or(0, |row| row.get::<_, i64>(0).cast_unsigned()))
}

pub(super) async fn get(
    client: &Client,
    collection: &str,
    key: &str,
) -> Result<Option<StoredDocument>, PostgresFault> {
    if is_impossible(collection) || is_impossible(key) {
        return Ok(None);
    }
    let statement = client
        .prepare_cached(
            "SELECT key, version, body FROM sinew_documents WHERE collection = $1 AND key = $2",
        )
        .await?;
    Ok(client.query_opt(&statement, &[&collection, &key]).await?.as_ref().map(document))
}

pub(super) async fn list(
    client: &Client,
    collection: &str,
    keys: KeyRange<'_>,
    limit: usize,
) -> Result<Vec<StoredDocument>, PostgresFault> {
    if is_impossible(collection) || is_impossible(keys.prefix) {
        return Ok(Vec::new());
    }
    // No key contains a NUL, so no key is between the text before it and the whole.
    let after = keys.after.split('\0').next().unwrap_or_default();
    let statement = client
        .prepare_cached(
            "SELECT key, version, body FROM (
               SELECT *, sum(octet_length(body)) OVER (ORDER BY key) - octet_length(body) AS before
               FROM (
                 SELECT key, version, body FROM sinew_documents
                 WHERE collection = $1 AND key > $2 AND key >= $3
                   AND ($4::text IS NULL OR key < $4)
                 ORDER BY key LIMIT $5
               ) AS rows
             ) AS sized
             WHERE before < $6 ORDER BY key",
        )
        .await?;
    let end = keys.end();
    let rows = client
        .query(
            &statement,
            &[&collection, &after, &keys.prefix, &end, &bounded(limit), &bounded_bytes()],
        )
        .await?;
    Ok(rows.iter().map(document).collect())
}

fn document(row: &Row) -> StoredDocument {
    StoredDocument {
        key: row.get("key"),
        version: DocumentVersion(row.get::<_, i64>("version").cast_unsigned()),
        body: JsonText::from_row(row.get("body")),
    }
}

pub(super) async fn snapshot(
    client: &Client,
    name: &str,
) -> Result<Option<FoldSnapshot>, PostgresFault> {
    if is_impossible(name) {
        return Ok(None);
    }
    let statement = client
        .prepare_cached("SELECT through, tag, body FROM sinew_snapshots WHERE name = $1")
        .await?;
    let row = client.query_opt(&statement, &[&name]).await?;
    Ok(row.map(|row| FoldSnapshot {
        through: RecordSeq(row.get::<_, i64>("through").cast_unsigned()),
        tag: row.get("tag"),
        body: row.get("body"),
    }))
}

/// The first incomplete stream, if there is one.
pub(super) async fn first_defect(client: &Client) -> Result<Option<String>, PostgresFault> {
    let gap = client
        .query_opt(
            "SELECT name FROM sinew_streams
             LEFT JOIN (
               SELECT stream, count(*) AS number, max(seq) AS last
               FROM sinew_records GROUP BY stream
             ) AS counted ON stream = sinew_streams.id
             WHERE head <> coalesce(number, 0) OR head <> coalesce(last, 0) LIMIT 1",
            &[],
        )
        .await?;
    Ok(gap.map(|row| format!("records are missing in the stream {}", row.get::<_, String>(0))))
}

fn bounded(limit: usize) -> i64 {
    i64::try_from(limit.min(MAX_PAGE)).unwrap_or(i64::MAX)
}

fn bounded_bytes() -> i64 {
    i64::try_from(MAX_PAGE_BYTES).unwrap_or(i64::MAX)
}
