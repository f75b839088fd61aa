//! Queries to the database; none of them changes anything.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::fault::SqliteFault;
use crate::op::{MAX_PAGE, StorePage};
use crate::{
    DocumentVersion, FoldSnapshot, JsonText, KeyRange, RecordSeq, StoredDocument, StreamRecord,
};

/// The bits of a place that hold the record's number within its stream; see the schema.
pub(super) const SEQ_BITS: i64 = 40;
pub(super) const SEQ_MASK: i64 = (1 << SEQ_BITS) - 1;

/// A record's number within its stream.
pub(super) fn seq_of(place: i64) -> RecordSeq {
    RecordSeq((place & SEQ_MASK).cast_unsigned())
}

/// The place of a stream's last record, or the one before its first.
pub(super) fn last_place(connection: &Connection, stream: i64) -> Result<i64, SqliteFault> {
    let front = stream << SEQ_BITS;
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(place) FROM sinew_records WHERE place BETWEEN ?1 AND ?2")?
        .query_row((front, front | SEQ_MASK), |row| row.get(0))?;
    Ok(last.unwrap_or(front))
}

fn stream_id(connection: &Connection, name: &str) -> Result<Option<i64>, SqliteFault> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM sinew_streams WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub(super) fn read(
    connection: &Connection,
    stream: &str,
    after: RecordSeq,
    limit: usize,
) -> Result<Vec<StreamRecord>, SqliteFault> {
    let Some(stream) = stream_id(connection, stream)? else { return Ok(Vec::new()) };
    let front = stream << SEQ_BITS;
    let after = i64::try_from(after.0).map_or(SEQ_MASK, |after| after.min(SEQ_MASK));
    let mut statement = connection.prepare_cached(
        "SELECT place, ts, id, kind, body FROM sinew_records
         WHERE place > ?1 AND place <= ?2 ORDER BY place LIMIT ?3",
    )?;
    let mut rows = statement.query((front + after, front | SEQ_MASK, bounded(limit)))?;
    let mut page = StorePage::new();
    while let Some(row) = rows.next()? {
        let record = record(row)?;
        let bytes = record.body.as_str().len();
        if page.push(record, bytes) {
            break;
        }
    }
    Ok(page.into_rows())
}

fn record(row: &Row<'_>) -> Result<StreamRecord, rusqlite::Error> {
    Ok(StreamRecord {
        seq: seq_of(row.get("place")?),
        id: row.get("id")?,
        ts: row.get("ts")?,
        kind: row.get("kind")?,
        body: JsonText::from_row(row.get("body")?),
    })
}

pub(super) fn len(connection: &Connection, stream: &str) -> Result<u64, SqliteFault> {
    match stream_id(connection, stream)? {
        Some(stream) => Ok(seq_of(last_place(connection, stream)?).0),
        None => Ok(0),
    }
}

pub(super) fn get(
    connection: &Connection,
    collection: &str,
    key: &str,
) -> Result<Option<StoredDocument>, SqliteFault> {
    let mut statement = connection.prepare_cached(
        "SELECT key, version, body FROM sinew_documents WHERE collection = ?1 AND key = ?2",
    )?;
    Ok(statement.query_row((collection, key), document).optional()?)
}

pub(super) fn list(
    connection: &Connection,
    collection: &str,
    keys: KeyRange<'_>,
    limit: usize,
) -> Result<Vec<StoredDocument>, SqliteFault> {
    let mut statement = connection.prepare_cached(
        "SELECT key, version, body FROM sinew_documents
         WHERE collection = ?1 AND key > ?2 AND key >= ?3 AND (?4 IS NULL OR key < ?4)
         ORDER BY key LIMIT ?5",
    )?;
    let bounds = (collection, keys.after, keys.prefix, keys.end(), bounded(limit));
    let mut rows = statement.query(bounds)?;
    let mut page = StorePage::new();
    while let Some(row) = rows.next()? {
        let document = document(row)?;
        let bytes = document.body.as_str().len();
        if page.push(document, bytes) {
            break;
        }
    }
    Ok(page.into_rows())
}

fn document(row: &Row<'_>) -> Result<StoredDocument, rusqlite::Error> {
    Ok(StoredDocument {
        key: row.get("key")?,
        version: DocumentVersion(row.get::<_, i64>("version")?.cast_unsigned()),
        body: JsonText::from_row(row.get("body")?),
    })
}

pub(super) fn snapshot(
    connection: &Connection,
    name: &str,
) -> Result<Option<FoldSnapshot>, SqliteFault> {
    let mut statement = connection
        .prepare_cached("SELECT through, tag, body FROM sinew_snapshots WHERE name = ?1")?;
    let snapshot = statement.query_row([name], |row| {
        Ok(FoldSnapshot {
            through: RecordSeq(row.get::<_, i64>("through")?.cast_unsigned()),
            tag: row.get("tag")?,
            body: row.get("body")?,
        })
    });
    Ok(snapshot.optional()?)
}

/// The first problem of the file, if there is one.
pub(super) fn first_defect(connection: &Connection) -> Result<Option<String>, SqliteFault> {
    let result: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if result != "ok" {
        return Ok(Some(result));
    }
    let gap = connection
        .query_row(
            "SELECT name FROM sinew_records JOIN sinew_streams ON sinew_streams.id = place >> 40
             GROUP BY place >> 40 HAVING count(*) <> max(place) & ?1",
            [SEQ_MASK],
            |row| row.get::<_, String>(0),
        )
        .optional()?;
    Ok(gap.map(|stream| format!("records are missing in the stream {stream}")))
}

fn bounded(limit: usize) -> i64 {
    i64::try_from(limit.min(MAX_PAGE)).unwrap_or(i64::MAX)
}
