//! Memory-mapped files: shared with other processes, and read from the disk only where they are
//! accessed.
//!
//! **Invariant:** only files written through [`crate::atomic`] are mapped. Such a file is replaced,
//! never changed in place, so the mapped bytes stay as they were.

use std::fs::File;
use std::io;
use std::path::Path;

/// The bytes of a file.
#[derive(Debug)]
pub struct MappedFile(MappedBytes);

#[cfg(unix)]
type MappedBytes = memmap2::Mmap;

/// On other systems a mapped file cannot be replaced, so it is read into memory.
#[cfg(not(unix))]
type MappedBytes = Vec<u8>;

impl MappedFile {
    /// The bytes of a file that [`crate::atomic::write`] wrote.
    pub fn open(path: &Path) -> io::Result<Self> {
        bytes(&File::open(path)?).map(Self)
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "mapping is unsafe where others may change the file in place")]
fn bytes(file: &File) -> io::Result<MappedBytes> {
    // SAFETY: the file was written by `atomic::write`, which replaces a file with a new one;
    // nothing writes to or truncates the file that is open here.
    unsafe { memmap2::Mmap::map(file) }
}

#[cfg(not(unix))]
fn bytes(mut file: &File) -> io::Result<MappedBytes> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::MappedFile;
    use crate::atomic::{FileAccess, write};

    #[test]
    fn what_is_mapped_stays_when_the_file_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("index");
        write(&path, b"old and long", FileAccess::OwnerOnly).expect("written");
        let old = MappedFile::open(&path).expect("mapped");
        write(&path, b"new", FileAccess::OwnerOnly).expect("written");
        assert_eq!(old.as_ref(), b"old and long");
        assert_eq!(MappedFile::open(&path).expect("mapped").as_ref(), b"new");
        write(&path, b"", FileAccess::OwnerOnly).expect("written");
        assert_eq!(MappedFile::open(&path).expect("mapped").as_ref(), b"");
        assert!(MappedFile::open(&folder.path().join("none")).is_err());
    }
}
