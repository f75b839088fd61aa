//! What can still be read of a damaged database, page by page.
//!
//! SQLite gives up at the first page that is wrong. Here every page that holds rows of a table is
//! read by itself, so one bad page costs its own rows. Rows are told apart by their shape: the
//! tables of the schema are few, and no two of them look alike (see `001.sql`).

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::query::{SEQ_BITS, SEQ_MASK};

/// The header of a database file.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// What SQLite uses unless told otherwise, and so do we.
const USUAL_PAGE: usize = 4096;
/// The kind of a page that holds rows.
const TABLE_LEAF: u8 = 0x0d;
/// A row that is longer than this is not ours.
const MAX_ROW: usize = 64 << 20;

/// Everything that could be read.
#[derive(Debug, Default)]
pub(super) struct SalvagedRows {
    /// The names of streams, by their number.
    pub(super) streams: BTreeMap<i64, String>,
    /// Records by their place: time, id, kind, body.
    pub(super) records: BTreeMap<i64, (i64, String, String, String)>,
    /// Documents by collection and key: version, body.
    pub(super) documents: BTreeMap<(String, String), (i64, String)>,
    /// Pages of the file.
    pub(super) pages: usize,
    /// Those that could not be read.
    pub(super) unread: usize,
}

/// Reads a copy of a database, with the log that lies beside it.
pub(super) fn salvage(copy: &Path) -> std::io::Result<SalvagedRows> {
    // The newest changes may be in the log only; SQLite moves them over page by page, whatever the
    // pages hold.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    if let Ok(connection) = Connection::open_with_flags(copy, flags) {
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
    let bytes = std::fs::read(copy)?;
    let file = PagedFile::of(&bytes);
    let free = file.free_pages();
    let mut rows = SalvagedRows { pages: file.count(), ..SalvagedRows::default() };
    for number in (1..=file.count()).filter(|number| !free.contains(number)) {
        match file.rows_of(number) {
            Some(found) => found.into_iter().for_each(|row| rows.take(row)),
            None => rows.unread += 1,
        }
    }
    Ok(rows)
}

/// One value of a row.
#[derive(Debug, PartialEq)]
enum CellValue {
    Null,
    Integer(i64),
    Text(String),
    Other,
}

type TableRow = (i64, Vec<CellValue>);

impl SalvagedRows {
    fn take(&mut self, (rowid, mut values): TableRow) {
        use CellValue::{Integer, Null, Text};
        match values.as_mut_slice() {
            [Null, Integer(ts), Text(id), Text(kind), Text(body)] if rowid >> SEQ_BITS > 0 => {
                let [id, kind, body] = [id, kind, body].map(std::mem::take);
                self.records.insert(rowid, (*ts, id, kind, body));
            }
            [Null, Integer(version), Text(collection), Text(key), Text(body)] => {
                let [collection, key, body] = [collection, key, body].map(std::mem::take);
                let known = self.documents.entry((collection, key)).or_default();
                if *version > known.0 {
                    *known = (*version, body);
                }
            }
            // Migrations have the same shape, and a digest where streams have a name.
            [Null, Text(name)] if !is_digest(name) => {
                self.streams.insert(rowid, std::mem::take(name));
            }
            _ => {}
        }
    }

    /// Numbers of records that are missing, as ranges, by stream.
    pub(super) fn gaps(&self) -> BTreeMap<i64, Vec<(i64, i64)>> {
        let mut gaps: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        let mut last: Option<i64> = None;
        for place in self.records.keys() {
            let (stream, seq) = (place >> SEQ_BITS, place & SEQ_MASK);
            let before = last.filter(|last| last >> SEQ_BITS == stream).map_or(0, |l| l & SEQ_MASK);
            if seq > before + 1 {
                gaps.entry(stream).or_default().push((before + 1, seq - 1));
            }
            last = Some(*place);
        }
        gaps
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A database file as pages.
struct PagedFile<'b> {
    bytes: &'b [u8],
    page: usize,
    /// Bytes of a page that hold content.
    usable: usize,
}

impl<'b> PagedFile<'b> {
    fn of(bytes: &'b [u8]) -> Self {
        let has_header = bytes.starts_with(MAGIC) && bytes.len() >= 100;
        let stated = if has_header { u16_at(bytes, 16).unwrap_or(0) } else { 0 };
        let page = match stated {
            1 => 65_536,
            size if size >= 512 && size.is_power_of_two() => size,
            _ => USUAL_PAGE,
        };
        let reserved = if has_header { usize::from(bytes[20]) } else { 0 };
        Self { bytes, page, usable: page.saturating_sub(reserved).max(480) }
    }

    fn count(&self) -> usize {
        self.bytes.len() / self.page
    }

    /// The bytes of a page; the first is 1.
    fn page(&self, number: usize) -> Option<&'b [u8]> {
        let start = number.checked_sub(1)?.checked_mul(self.page)?;
        self.bytes.get(start..start.checked_add(self.page)?)
    }

    /// Pages that are not in use: what they hold was deleted.
    fn free_pages(&self) -> HashSet<usize> {
        let mut free = HashSet::new();
        let mut trunk = u32_at(self.bytes, 32).unwrap_or(0);
        while let Some(page) = self.page(trunk).filter(|_| free.insert(trunk)) {
            let count = u32_at(page, 4).unwrap_or(0).min(self.usable / 4);
            free.extend((0..count).filter_map(|at| u32_at(page, 8 + 4 * at)));
            trunk = u32_at(page, 0).unwrap_or(0);
        }
        free
    }

    /// The rows on a page; none where it holds something else, and `None` where it is damaged.
    fn rows_of(&self, number: usize) -> Option<Vec<TableRow>> {
        let page = self.page(number)?;
        // The first page begins with the header of the file.
        let start = if number == 1 { 100 } else { 0 };
        match *page.get(start)? {
            TABLE_LEAF => {}
            // Pages of indexes, inner pages, and what continues a long row.
            0x02 | 0x05 | 0x0a | 0 => return Some(Vec::new()),
            _ => return None,
        }
        let count = u16_at(page, start + 3)?;
        let mut rows = Vec::with_capacity(count.min(self.usable / 4));
        for at in 0..count {
            let cell = u16_at(page, start + 8 + 2 * at)?;
            rows.push(self.row(page, cell)?);
        }
        Some(rows)
    }

    fn row(&self, page: &[u8], at: usize) -> Option<TableRow> {
        let (length, at) = varint(page, at)?;
        let (rowid, at) = varint(page, at)?;
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_ROW)?;
        let payload = self.payload(page, at, length)?;
        Some((rowid, values(&payload)?))
    }

    /// The bytes of a row: those on its page, and those on the pages that continue it.
    fn payload(&self, page: &[u8], at: usize, length: usize) -> Option<Vec<u8>> {
        let most = self.usable - 35;
        if length <= most {
            return Some(page.get(at..at.checked_add(length)?)?.to_vec());
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let fitting = least + (length - least) % (self.usable - 4);
        let local = if fitting <= most { fitting } else { least };
        let mut bytes = page.get(at..at.checked_add(local)?)?.to_vec();
        let mut next = u32_at(page, at + local)?;
        while bytes.len() < length {
            let more = self.page(next)?;
            let take = (length - bytes.len()).min(self.usable - 4);
            bytes.extend(more.get(4..4 + take)?);
            next = u32_at(more, 0)?;
        }
        Some(bytes)
    }
}

/// The values of a row, as its header describes them.
fn values(payload: &[u8]) -> Option<Vec<CellValue>> {
    let (header, mut at) = varint(payload, 0)?;
    let header = usize::try_from(header).ok().filter(|header| *header <= payload.len())?;
    let mut kinds = Vec::new();
    while at < header {
        let (kind, next) = varint(payload, at)?;
        kinds.push(kind);
        at = next;
    }
    let mut at = header;
    kinds
        .into_iter()
        .map(|kind| {
            let size = match kind {
                0 | 8 | 9 => 0,
                1..=4 => usize::try_from(kind).ok()?,
                5 => 6,
                6 | 7 => 8,
                12.. => usize::try_from((kind - 12) / 2).ok()?,
                _ => return None,
            };
            let bytes = payload.get(at..at.checked_add(size)?)?;
            at += size;
            Some(match kind {
                0 => CellValue::Null,
                1..=6 => CellValue::Integer(integer(bytes)),
                8 => CellValue::Integer(0),
                9 => CellValue::Integer(1),
                13.. if kind % 2 == 1 => CellValue::Text(String::from_utf8(bytes.to_vec()).ok()?),
                _ => CellValue::Other,
            })
        })
        .collect()
}

/// A signed number, highest byte first.
fn integer(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|first| first & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(sign, |value, byte| value << 8 | i64::from(*byte))
}

/// A number of one to nine bytes, and where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut value: u64 = 0;
    for length in 0..9 {
        let byte = *bytes.get(at + length)?;
        if length == 8 {
            return Some(((value << 8 | u64::from(byte)).cast_signed(), at + 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value.cast_signed(), at + length + 1));
        }
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(usize::from(u16::from_be_bytes([pair[0], pair[1]])))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_be_bytes([four[0], four[1], four[2], four[3]])).ok()
}
