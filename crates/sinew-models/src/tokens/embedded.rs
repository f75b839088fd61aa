//! The vocabulary in the binary: a hash table that the build script made, used where it lies.

use crate::fnv;

static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/wordpiece.bin"));

/// Slots of the hash table; the build script uses the same number.
const SLOTS: usize = 1 << 16;

/// How many pieces there are; none where the file was missing when this was built.
pub(super) fn count() -> usize {
    number(BLOB, 0).unwrap_or(0) as usize
}

/// The longest piece that `prefix` and the start of `rest` make: its length in `rest`, and its id.
/// `hashes` is room for the work.
pub(super) fn longest(prefix: &str, rest: &str, hashes: &mut Vec<u64>) -> Option<(usize, u32)> {
    hashes.clear();
    let mut hash = fnv::extend(fnv::START, prefix.as_bytes());
    for byte in rest.as_bytes() {
        hash = fnv::extend(hash, &[*byte]);
        hashes.push(hash);
    }
    (1..=rest.len()).rev().filter(|&end| rest.is_char_boundary(end)).find_map(|end| {
        Some((end, find(hashes[end - 1], prefix.as_bytes(), &rest.as_bytes()[..end])?))
    })
}

fn piece(id: u16) -> Option<&'static [u8]> {
    let start = number(BLOB, 1 + usize::from(id))? as usize;
    let end = number(BLOB, 2 + usize::from(id))? as usize;
    let base = 4 * (2 + count()) + 2 * SLOTS;
    BLOB.get(base + start..base + end)
}

/// The id of `prefix` + `rest`, whose hash is known.
fn find(hash: u64, prefix: &[u8], rest: &[u8]) -> Option<u32> {
    let slots = BLOB.get(4 * (2 + count())..)?;
    let mut slot = hash as usize % SLOTS;
    loop {
        let id = u16::from_le_bytes(slots.get(2 * slot..2 * slot + 2)?.try_into().ok()?);
        if id == u16::MAX {
            return None;
        }
        let piece = piece(id)?;
        if piece.len() == prefix.len() + rest.len()
            && piece.starts_with(prefix)
            && piece.ends_with(rest)
        {
            return Some(u32::from(id));
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The little-endian number at a place counted in numbers.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(4 * at..4 * at + 4)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}
