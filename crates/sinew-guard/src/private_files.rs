//! Files that only their owner may read: tokens, keys, state.
//!
//! They are created exclusively as 0600 in a 0700 folder. A file that others can read is refused,
//! and a file that cannot be parsed is moved aside, never silently reset.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Why a private file was not read.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// Others than the owner can read or change it.
    #[error(
        "{path} can be read by others (mode {mode:o}); run `chmod 600` on it and replace the secrets in it"
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Creates `folder` and its parents; `folder` itself as 0700.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Writes a new private file; an existing one is left untouched.
pub fn create_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Reads a private file, unless others can read it too.
pub fn read(path: &Path) -> Result<Vec<u8>, PrivateFileError> {
    let mut file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata()?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(PrivateFileError::Exposed { path: path.to_owned(), mode });
        }
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Moves a file that cannot be parsed to `<name>.corrupt-<time>` and returns that path.
pub fn set_aside_corrupt(path: &Path, time: &str) -> io::Result<PathBuf> {
    set_aside(path, "corrupt", time)
}

/// Moves a file to `<name>.<word>-<time>` and returns that path.
pub fn set_aside(path: &Path, word: &str, time: &str) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let safe: String =
        time.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
    for number in 0..1000 {
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        let aside = path.with_file_name(format!("{name}.{word}-{safe}{suffix}"));
        // Creating a link fails if the target exists; a rename would overwrite it.
        match fs::hard_link(path, &aside) {
            Ok(()) => {
                fs::remove_file(path)?;
                return Ok(aside);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) if !aside.exists() => {
                fs::rename(path, &aside)?;
                return Ok(aside);
            }
            Err(_) => {}
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "there are too many copies"))
}
