//! Zip, read by its central directory and checked against the local headers.
//!
//! This is our own reader because the checks need what a general one hides: duplicate names,
//! entries that share bytes, and local headers that contradict the directory.

use std::io::Read;

use super::{ArchiveError, EntryGate};

const END: &[u8] = b"PK\x05\x06";
const CENTRAL: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
/// Fixed part of the end record.
const END_LEN: usize = 22;

struct ZipRecord<'a> {
    name: &'a [u8],
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    unpacked: u64,
    mode: u32,
    at: usize,
}

/// The names in the directory.
pub(super) fn names(bytes: &[u8], max_entries: usize) -> Result<Vec<&[u8]>, ArchiveError> {
    Ok(directory(bytes, max_entries)?.into_iter().map(|record| record.name).collect())
}

/// Passes every entry that `wanted` selects by name to the gate.
pub(super) fn walk(
    bytes: &[u8],
    gate: &mut EntryGate<'_>,
    wanted: &dyn Fn(&[u8]) -> bool,
) -> Result<(), ArchiveError> {
    let records = directory(bytes, gate.limits.entries)?;
    let mut ranges = Vec::with_capacity(records.len());
    for record in &records {
        ranges.push(data_range(bytes, record)?);
    }
    let mut order: Vec<_> = ranges.iter().map(|(start, data)| (*start, data.end)).collect();
    order.sort_unstable();
    if order.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return Err(ArchiveError::Malformed("two entries share bytes"));
    }
    if order.first().is_some_and(|first| first.0 != 0) {
        return Err(ArchiveError::Malformed("there is data before the first entry"));
    }
    let picked = records.iter().zip(ranges).filter(|(record, _)| wanted(record.name));
    for (record, (_, data)) in picked {
        entry(record, &bytes[data], gate)?;
    }
    Ok(())
}

fn entry(
    record: &ZipRecord<'_>,
    data: &[u8],
    gate: &mut EntryGate<'_>,
) -> Result<(), ArchiveError> {
    let refuse = |kind| {
        let name = String::from_utf8_lossy(record.name).into_owned();
        Err(ArchiveError::Kind { name, kind })
    };
    if record.flags & 0x2041 != 0 {
        return refuse("encrypted");
    }
    match record.mode & 0o170_000 {
        0 | 0o100_000 => {}
        0o040_000 if record.name.ends_with(b"/") => {}
        0o120_000 => return refuse("a symbolic link"),
        _ => return refuse("special"),
    }
    if record.name.ends_with(b"/") {
        if record.unpacked != 0 {
            return Err(ArchiveError::Malformed("a folder with content"));
        }
        return gate.folder(record.name);
    }
    let executable = record.mode & 0o111 != 0;
    match record.method {
        0 => checked(record, data, executable, gate),
        8 => checked(record, flate2::read::DeflateDecoder::new(data), executable, gate),
        _ => refuse("compressed by an unknown method"),
    }
}

fn checked(
    record: &ZipRecord<'_>,
    reader: impl Read,
    executable: bool,
    gate: &mut EntryGate<'_>,
) -> Result<(), ArchiveError> {
    let mut reader = flate2::CrcReader::new(reader);
    gate.file(record.name, executable, &mut reader)?;
    if reader.crc().sum() != record.crc {
        return Err(ArchiveError::Malformed("a checksum does not match"));
    }
    if u64::from(reader.crc().amount()) != record.unpacked {
        return Err(ArchiveError::Malformed("a file is not as long as it claims"));
    }
    Ok(())
}

fn directory(bytes: &[u8], max_entries: usize) -> Result<Vec<ZipRecord<'_>>, ArchiveError> {
    let earliest = bytes.len().saturating_sub(END_LEN + usize::from(u16::MAX));
    let at = (earliest..=bytes.len().saturating_sub(END_LEN))
        .rev()
        .find(|at| {
            bytes[*at..].starts_with(END)
                && u16_at(bytes, at + 20)
                    .is_some_and(|c| at + END_LEN + usize::from(c) == bytes.len())
        })
        .ok_or(ArchiveError::Malformed("there is no end record"))?;
    let field = |offset| {
        u16_at(bytes, at + offset).ok_or(ArchiveError::Malformed("the end record is too short"))
    };
    if field(4)? != 0 || field(6)? != 0 || field(8)? != field(10)? {
        return Err(ArchiveError::Malformed("it is one part of a multi-part archive"));
    }
    let count = usize::from(field(10)?);
    if count > max_entries {
        return Err(ArchiveError::Cap { what: "entries", limit: max_entries as u64 });
    }
    let size = u32_at(bytes, at + 12)
        .ok_or(ArchiveError::Malformed("the end record is too short"))? as usize;
    let start = u32_at(bytes, at + 16)
        .ok_or(ArchiveError::Malformed("the end record is too short"))? as usize;
    // Archives that need 64-bit fields are beyond every cap, so such fields cannot be genuine.
    if start.checked_add(size) != Some(at) {
        return Err(ArchiveError::Malformed("the directory is not where the end record says"));
    }
    let mut records = Vec::with_capacity(count);
    let mut next = start;
    for _ in 0..count {
        let (record, end) =
            central(bytes, next).ok_or(ArchiveError::Malformed("a broken directory"))?;
        if end > at {
            return Err(ArchiveError::Malformed("the directory extends past its end"));
        }
        records.push(record);
        next = end;
    }
    if next != at {
        return Err(ArchiveError::Malformed("the directory has more entries than it states"));
    }
    Ok(records)
}

fn central(bytes: &[u8], at: usize) -> Option<(ZipRecord<'_>, usize)> {
    let header = bytes.get(at..at + 46)?;
    if !header.starts_with(CENTRAL) {
        return None;
    }
    let name_len = usize::from(u16_at(header, 28)?);
    let rest = usize::from(u16_at(header, 30)?) + usize::from(u16_at(header, 32)?);
    let name = bytes.get(at + 46..at + 46 + name_len)?;
    let (packed, unpacked, offset) =
        (u32_at(header, 20)?, u32_at(header, 24)?, u32_at(header, 42)?);
    if packed == u32::MAX || unpacked == u32::MAX || offset == u32::MAX {
        return None;
    }
    // The upper half of the external attributes is a mode only if the archive was made on Unix.
    let made_on_unix = matches!(header[5], 3 | 19);
    let mode = if made_on_unix { u32_at(header, 38)? >> 16 } else { 0 };
    let record = ZipRecord {
        name,
        flags: u16_at(header, 8)?,
        method: u16_at(header, 10)?,
        crc: u32_at(header, 16)?,
        packed: packed as usize,
        unpacked: u64::from(unpacked),
        mode,
        at: offset as usize,
    };
    Some((record, at + 46 + name_len + rest))
}

fn data_range(
    bytes: &[u8],
    record: &ZipRecord<'_>,
) -> Result<(usize, std::ops::Range<usize>), ArchiveError> {
    let broken = || ArchiveError::Malformed("a local header is missing or broken");
    let header = bytes.get(record.at..record.at.saturating_add(30)).ok_or_else(broken)?;
    if !header.starts_with(LOCAL) {
        return Err(broken());
    }
    let name_len = usize::from(u16_at(header, 26).ok_or_else(broken)?);
    let extra = usize::from(u16_at(header, 28).ok_or_else(broken)?);
    let name_at = record.at + 30;
    if bytes.get(name_at..name_at + name_len) != Some(record.name) {
        return Err(ArchiveError::Malformed("a local name differs from the directory"));
    }
    if u16_at(header, 8) != Some(record.method) || u16_at(header, 6) != Some(record.flags) {
        return Err(ArchiveError::Malformed("a local header differs from the directory"));
    }
    let start = name_at + name_len + extra;
    let end =
        start.checked_add(record.packed).filter(|end| *end <= bytes.len()).ok_or_else(broken)?;
    Ok((record.at, start..end))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
