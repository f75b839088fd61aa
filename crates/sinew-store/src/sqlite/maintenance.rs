//! Copies of a database file, and what is done about a damaged one.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sinew_guard::atomic::FileLock;
use sinew_guard::private_files::{self, set_aside};

use super::connection::{APPLICATION_ID, DatabaseFile};
use super::query::{self, SEQ_BITS};
use super::salvage::{MAGIC, SalvagedRows, salvage};
use super::{SqliteStore, damaged_file};
use crate::{
    ExpectedVersion, JsonText, NewStreamRecord, RepairReport, Store as _, StoreError, StoreOp,
    StoreOptions,
};

/// Records that are written back in one transaction.
const AT_ONCE: usize = 200;

/// Whether a file is a database of sinew's, as far as its first bytes tell; an empty one may become
/// one.
pub(crate) fn is_ours(path: &Path) -> io::Result<bool> {
    use io::Read as _;
    let mut head = Vec::new();
    fs::File::open(path)?.take(72).read_to_end(&mut head)?;
    let id = head.get(68..72).and_then(|id| id.try_into().ok()).map(i32::from_be_bytes);
    Ok(head.is_empty() || head.starts_with(MAGIC) && id == Some(APPLICATION_ID))
}

/// Copies a sound database into a new file that only its owner can read.
pub(crate) fn backup(path: &Path, target: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let (file, connection) = DatabaseFile::open(path, options.patience)?;
    check(&file, &connection)?;
    // SQLite takes an empty file for its own, and leaves its mode alone.
    let failed = |error: io::Error| refused(target, &error);
    let part = beside(target, ".part");
    let _ = fs::remove_file(&part);
    private_files::create_new(&Path::new(".").join(&part), b"").map_err(failed)?;
    let copied = file.retry_while_busy(|| {
        connection.execute("VACUUM INTO ?1", [part.to_string_lossy()])?;
        Ok(())
    });
    if let Err(fault) = copied {
        let _ = fs::remove_file(&part);
        return Err(file.explain(fault, "be copied"));
    }
    fs::rename(&part, target).map_err(failed)
}

/// Puts a copy in the place of a database, and returns where the old one was moved to.
pub(crate) fn restore(
    path: &Path,
    copy: &Path,
    stamp: &str,
    options: &StoreOptions,
) -> Result<Option<PathBuf>, StoreError> {
    let failed = |error: io::Error| refused(path, &error);
    let fresh = beside(path, ".restoring");
    remove_with_log(&fresh);
    let bytes = fs::read(copy).map_err(|error| refused(copy, &error))?;
    if bytes.is_empty() {
        return Err(StoreError::Foreign { place: copy.display().to_string() });
    }
    private_files::create_new(&Path::new(".").join(&fresh), &bytes).map_err(failed)?;
    let opened = DatabaseFile::open(&fresh, options.patience)
        .and_then(|(file, connection)| check(&file, &connection));
    if let Err(error) = opened {
        remove_with_log(&fresh);
        return Err(of_copy(error, copy));
    }
    let _lock = FileLock::acquire(&beside(path, ".lock")).map_err(failed)?;
    let aside = move_aside(path, "replaced", stamp).map_err(failed)?;
    fs::rename(&fresh, path).map_err(failed)?;
    Ok(aside)
}

/// Puts what can be read of a damaged database into a new one; `None` where nothing is wrong.
pub(crate) fn repair(
    path: &Path,
    stamp: &str,
    options: &StoreOptions,
) -> Result<Option<RepairReport>, StoreError> {
    let failed = |error: io::Error| refused(path, &error);
    let _lock = FileLock::acquire(&beside(path, ".lock")).map_err(failed)?;
    match damaged_file::damage(path, options.patience) {
        Ok(None) => return Ok(None),
        Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => {}
        Err(other) => return Err(other),
    }
    let copy = beside(path, ".salvage");
    remove_with_log(&copy);
    fs::copy(path, &copy).map_err(failed)?;
    let log = beside(path, "-wal");
    if log.exists() {
        fs::copy(&log, beside(&copy, "-wal")).map_err(failed)?;
    }
    let rows = salvage(&copy).map_err(failed);
    remove_with_log(&copy);
    let rows = rows?;
    let fresh = beside(path, ".repaired");
    remove_with_log(&fresh);
    let written = write(&rows, &fresh, options);
    if let Err(error) = written {
        remove_with_log(&fresh);
        return Err(error);
    }
    let kept = move_aside(path, "corrupt", stamp).map_err(failed)?;
    fs::rename(&fresh, path).map_err(failed)?;
    Ok(Some(report(&rows, kept.unwrap_or_else(|| path.to_owned()))))
}

/// Writes what was read into a new database. Records get new numbers, without gaps.
fn write(rows: &SalvagedRows, path: &Path, options: &StoreOptions) -> Result<(), StoreError> {
    let store = SqliteStore::open(path, options)?;
    let mut ops = Vec::new();
    let flush = |ops: &mut Vec<StoreOp>, full: usize| -> Result<(), StoreError> {
        if ops.len() >= full && !ops.is_empty() {
            store.transact(ops)?;
            ops.clear();
        }
        Ok(())
    };
    for (place, (ts, id, kind, body)) in &rows.records {
        // A row whose text is no JSON is a row of a page that was scribbled on.
        let Ok(body) = JsonText::parse(body.as_str()) else { continue };
        let record = NewStreamRecord { id: id.clone(), ts: *ts, kind: kind.clone(), body };
        ops.push(StoreOp::append(&stream_name(rows, place >> SEQ_BITS), [record]));
        flush(&mut ops, AT_ONCE)?;
    }
    for ((collection, key), (_, body)) in &rows.documents {
        let Ok(body) = JsonText::parse(body.as_str()) else { continue };
        ops.push(StoreOp::put(collection, key, ExpectedVersion::Absent, body));
        flush(&mut ops, AT_ONCE)?;
    }
    flush(&mut ops, 0)?;
    store.check()
}

/// A stream's name, or what it is called where the name is lost.
fn stream_name(rows: &SalvagedRows, stream: i64) -> String {
    rows.streams.get(&stream).cloned().unwrap_or_else(|| format!("recovered-{stream}"))
}

fn report(rows: &SalvagedRows, kept_as: PathBuf) -> RepairReport {
    let mut lost = Vec::new();
    for (stream, gaps) in rows.gaps() {
        let name = stream_name(rows, stream);
        for (from, to) in gaps {
            lost.push(match from == to {
                true => format!("record {from} of {name}"),
                false => format!("records {from} to {to} of {name}"),
            });
        }
    }
    let nameless = rows.records.keys().map(|place| place >> SEQ_BITS);
    let mut nameless: Vec<i64> =
        nameless.filter(|stream| !rows.streams.contains_key(stream)).collect();
    nameless.dedup();
    for stream in nameless {
        let name = stream_name(rows, stream);
        lost.push(format!("the name of stream {stream}; its records are in {name}"));
    }
    if rows.unread > 0 {
        lost.push(format!("what was on {} of {} pages", rows.unread, rows.pages));
    }
    RepairReport { kept_as, records: rows.records.len(), documents: rows.documents.len(), lost }
}

fn check(file: &DatabaseFile, connection: &Connection) -> Result<(), StoreError> {
    let defect = file
        .retry_while_busy(|| query::first_defect(connection))
        .map_err(|fault| file.explain(fault, "be checked"))?;
    match defect {
        None => Ok(()),
        Some(detail) => Err(StoreError::Corrupt { place: file.display_path(), detail }),
    }
}

/// The same error about the copy that was named, not about where it was put to be looked at.
fn of_copy(error: StoreError, copy: &Path) -> StoreError {
    let place = copy.display().to_string();
    match error {
        StoreError::Corrupt { detail, .. } => StoreError::Corrupt { place, detail },
        StoreError::Foreign { .. } => StoreError::Foreign { place },
        StoreError::Newer { found, known, .. } => StoreError::Newer { place, found, known },
        other => other,
    }
}

/// Moves a database and its log out of the way.
pub(super) fn move_aside(path: &Path, word: &str, stamp: &str) -> io::Result<Option<PathBuf>> {
    // The log first: if it stayed, it would be used as the log of the new file.
    let log = beside(path, "-wal");
    if log.exists() {
        set_aside(&log, word, stamp)?;
    }
    let _ = fs::remove_file(beside(path, "-shm"));
    path.exists().then(|| set_aside(path, word, stamp)).transpose()
}

fn remove_with_log(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(beside(path, suffix));
    }
}

fn refused(path: &Path, error: &io::Error) -> StoreError {
    StoreError::ReadOnly { place: path.display().to_string(), detail: error.to_string() }
}

/// The name of a file beside another one.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
