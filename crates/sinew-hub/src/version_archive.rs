//! A version as registries pack it: the same files always give the same bytes.

use std::io::{self, Cursor, Write as _};

use serde::{Deserialize, Serialize};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::digest::{FingerprintOrder, META_FILE};

/// The compression level of the upstream registry; another level would give other bytes.
const LEVEL: i64 = 6;

/// What a registry records about a version inside its archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveMeta {
    /// The owner's id.
    pub owner_id: String,
    /// The skill.
    pub slug: String,
    /// The version.
    pub version: String,
    /// When it was published, in milliseconds.
    pub published_at: i64,
}

impl ArchiveMeta {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// Packs files at the archive's root in collation order, dated 1980, with [`ArchiveMeta`] as the last
/// entry where one is given.
pub fn pack<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    meta: Option<&ArchiveMeta>,
) -> io::Result<Vec<u8>> {
    let mut files: Vec<_> = files.into_iter().filter(|(path, _)| *path != META_FILE).collect();
    files.sort_by(|a, b| FingerprintOrder::Collation.compare(a.0, b.0));
    let meta = meta.map(ArchiveMeta::to_bytes);
    let last = meta.as_deref().map(|bytes| (META_FILE, bytes));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files.into_iter().chain(last) {
        writer.start_file(path, options)?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}
