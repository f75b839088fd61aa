//! Files of JSON lines that only their owner reads. Nothing is flushed to the disk, because an agent
//! waits for every write.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Adds a line in one write, so that lines of two processes never mix.
pub(super) fn append(path: &Path, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line).map_err(io::Error::other)?;
    bytes.push(b'\n');
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)?.write_all(&bytes)
}

/// The whole lines of a file from an offset on, and the offset after them.
pub(super) fn read_from<T: DeserializeOwned>(path: &Path, from: u64) -> io::Result<(Vec<T>, u64)> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // A line that is being written is read the next time.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = bytes[..whole].split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    Ok((lines, from + whole as u64))
}

/// The lines of a file; one that was cut short is left out, and a file that is not there has none.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    match fs::read(path) {
        Ok(bytes) => {
            let lines = bytes.split(|byte| *byte == b'\n');
            Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
