//! Tar entries: regular files and folders, nothing else.

use std::io::Read;

use tar::EntryType;

use super::{ArchiveError, EntryGate};

pub(super) fn walk(reader: impl Read, gate: &mut EntryGate<'_>) -> Result<(), ArchiveError> {
    let mut archive = tar::Archive::new(reader);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path_bytes().into_owned();
        let kind = entry.header().entry_type();
        match kind {
            EntryType::Directory => gate.folder(&name)?,
            EntryType::Regular | EntryType::Continuous => {
                // Old tar versions mark a folder by a name that ends in `/`.
                if name.ends_with(b"/") {
                    gate.folder(&name)?;
                    continue;
                }
                let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
                gate.file(&name, executable, &mut entry)?;
            }
            // Metadata for the whole archive; git stores its commit there.
            EntryType::XGlobalHeader => gate.count()?,
            other => {
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(ArchiveError::Kind { name, kind: describe(other) });
            }
        }
    }
    Ok(())
}

fn describe(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink => "a symbolic link",
        EntryType::Link => "a hard link",
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a pipe",
        EntryType::GNUSparse => "a sparse file",
        _ => "of an unknown type",
    }
}
