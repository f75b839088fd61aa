//! The bytes of an index: header, section table, sections at multiples of 64.
//!
//! ```text
//! 0   magic "SNWINDEX"
//! 8   version u64
//! 16  checksum u64 of everything behind it
//! 24  length of the whole u64
//! 32  sections: (offset u64, length u64) each
//! ```

use std::ops::Range;
use std::sync::Arc;

/// The version of this layout and of everything that determines its content (word splitting,
/// stemming, fields). Raise it when an old file would give other answers than a new one.
pub(crate) const VERSION: u64 = 4;

const MAGIC: &[u8; 8] = b"SNWINDEX";
const HEADER: usize = 32;
const ALIGN: usize = 64;

/// A part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum IndexSection {
    /// JSON: models, parameters, counts.
    Meta,
    /// The offsets of the strings of documents, six per document.
    StringOffsets,
    /// Those strings.
    Strings,
    /// Words per field, five per document.
    Lengths,
    /// The offsets of terms.
    TermOffsets,
    /// Terms, sorted.
    Terms,
    /// Rarity per term.
    Idf,
    /// The offsets of a term's postings.
    PostingOffsets,
    /// Documents, ascending within a term.
    PostingDocuments,
    /// The weights of postings.
    PostingImpacts,
    /// The counts of postings per field.
    PostingCounts,
    /// Static vectors of heads.
    StaticHead,
    /// Scales of those.
    StaticHeadScales,
    /// Static vectors of bodies.
    StaticBody,
    /// Scales of those.
    StaticBodyScales,
    /// Which documents have an encoder vector.
    EncoderPresent,
    /// Encoder vectors.
    Encoder,
    /// Scales of those.
    EncoderScales,
    /// Documents in the order of their names.
    ByName,
    /// Documents in the order of their ids.
    ById,
}

/// How many sections there are.
pub(crate) const SECTIONS: usize = IndexSection::ById as usize + 1;

/// Why an index file cannot be used. Each is a reason to build a new one, none to stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Not an index.
    #[error("not an index file")]
    NotAnIndex,
    /// Written by another version of the program.
    #[error("index has version {found}, this program writes {VERSION}")]
    OtherVersion {
        /// The version in the file.
        found: u64,
    },
    /// Truncated or changed.
    #[error("index file is damaged: {0}")]
    Damaged(&'static str),
}

/// Bytes that an index can use without copying: those of a mapped file.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The bytes of an index, aligned so that numbers can be read in place.
#[derive(Clone)]
pub(crate) struct IndexBytes {
    storage: IndexStorage,
    sections: Vec<Range<usize>>,
}

#[derive(Clone)]
enum IndexStorage {
    Own(Arc<Vec<u64>>),
    Shared(SharedBytes),
}

impl IndexStorage {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(words) => bytemuck::cast_slice(words),
            Self::Shared(bytes) => (**bytes).as_ref(),
        }
    }
}

impl IndexBytes {
    /// Copies the bytes of a file.
    pub(crate) fn load(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self::check(IndexStorage::Own(Arc::new(words)), bytes.len())
    }

    /// Uses bytes in place; unaligned ones are copied.
    pub(crate) fn open(bytes: SharedBytes) -> Result<Self, IndexError> {
        let plain: &[u8] = (*bytes).as_ref();
        if bytemuck::try_cast_slice::<u8, u64>(plain).is_err() {
            return Self::load(plain);
        }
        let length = plain.len();
        Self::check(IndexStorage::Shared(bytes), length)
    }

    fn check(storage: IndexStorage, length: usize) -> Result<Self, IndexError> {
        let bytes = storage.bytes();
        if bytes.len() < HEADER + 16 * SECTIONS || !bytes.starts_with(MAGIC) {
            return Err(IndexError::NotAnIndex);
        }
        let number =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        if number(8) != VERSION {
            return Err(IndexError::OtherVersion { found: number(8) });
        }
        if number(24) != length as u64 || !length.is_multiple_of(8) {
            return Err(IndexError::Damaged("truncated"));
        }
        if checksum(&bytemuck::cast_slice(bytes)[3..]) != number(16) {
            return Err(IndexError::Damaged("checksum"));
        }
        let mut sections = Vec::with_capacity(SECTIONS);
        for section in 0..SECTIONS {
            let start = number(HEADER + 16 * section) as usize;
            let length = number(HEADER + 16 * section + 8) as usize;
            match start.checked_add(length) {
                Some(end) if end <= bytes.len() && start.is_multiple_of(ALIGN) => {
                    sections.push(start..end);
                }
                _ => return Err(IndexError::Damaged("section outside the file")),
            }
        }
        Ok(Self { storage, sections })
    }

    /// Lays out sections, given in the order of [`IndexSection`].
    pub(crate) fn lay_out(parts: &[&[u8]; SECTIONS]) -> Self {
        let mut at = (HEADER + 16 * SECTIONS).next_multiple_of(ALIGN);
        let mut sections = Vec::with_capacity(SECTIONS);
        for part in parts {
            sections.push(at..at + part.len());
            at = (at + part.len()).next_multiple_of(ALIGN);
        }
        let mut words = vec![0_u64; at / 8];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&VERSION.to_le_bytes());
        bytes[24..32].copy_from_slice(&(at as u64).to_le_bytes());
        for (section, (range, part)) in sections.iter().zip(parts).enumerate() {
            let entry = &mut bytes[HEADER + 16 * section..][..16];
            entry[..8].copy_from_slice(&(range.start as u64).to_le_bytes());
            entry[8..].copy_from_slice(&(part.len() as u64).to_le_bytes());
            bytes[range.clone()].copy_from_slice(part);
        }
        let sum = checksum(&words[3..]);
        words[2] = sum.to_le();
        Self { storage: IndexStorage::Own(Arc::new(words)), sections }
    }

    /// The whole index, as a file contains it.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    /// The raw bytes of a section.
    pub(crate) fn raw(&self, section: IndexSection) -> &[u8] {
        &self.as_bytes()[self.sections[section as usize].clone()]
    }

    /// A section as numbers; one with a wrong length is empty, and was refused on loading.
    pub(crate) fn slice<T: bytemuck::AnyBitPattern>(&self, section: IndexSection) -> &[T] {
        bytemuck::try_cast_slice(self.raw(section)).unwrap_or(&[])
    }
}

impl std::fmt::Debug for IndexBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexBytes").field("length", &self.as_bytes().len()).finish_non_exhaustive()
    }
}

/// A checksum that changes with any bit, at memory speed: it detects damage, not forgery.
fn checksum(words: &[u64]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [1_u64, 2, 3, 4];
    let chunks = words.chunks_exact(4);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk) {
            *lane = (*lane ^ word).wrapping_mul(PRIME).rotate_left(29);
        }
    }
    let mut sum = words.len() as u64;
    for word in lanes.iter().chain(rest) {
        sum = (sum ^ word).wrapping_mul(PRIME).rotate_left(31);
    }
    sum
}

/// Updates the checksum for changed bytes, as only a forger would.
#[cfg(test)]
pub(super) fn seal(bytes: &mut [u8]) {
    let words =
        bytes.chunks_exact(8).map(|eight| u64::from_le_bytes(eight.try_into().unwrap_or_default()));
    let words: Vec<u64> = words.collect();
    bytes[16..24].copy_from_slice(&checksum(&words[3..]).to_le_bytes());
}
