//! How a store is opened: its address, how long it waits, and what happens to a damaged file.

use std::path::PathBuf;
use std::time::Duration;

use crate::StoreError;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// How long a call waits for other writers before it gives up with [`StoreError::Locked`].
    pub patience: Duration,
    /// What happens to a damaged database file.
    pub on_corrupt: CorruptionPolicy,
}

impl Default for StoreOptions {
    /// Half a minute, enough for ten thousand commits of others: a longer wait means that something
    /// hangs.
    fn default() -> Self {
        Self { patience: Duration::from_secs(30), on_corrupt: CorruptionPolicy::Refuse }
    }
}

/// What happens to a damaged database file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CorruptionPolicy {
    /// It is an error, and the file stays as it is.
    #[default]
    Refuse,
    /// It is renamed to `<file>.corrupt-<stamp>`, and an empty database takes its place.
    ///
    /// Finding out takes a read of the whole file, so this is for callers that got
    /// [`StoreError::Corrupt`] before.
    SetAside {
        /// The time in UTC, for the name.
        stamp: String,
    },
}

/// What an address refers to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StoreAddress<'u> {
    File(PathBuf),
    Server(&'u str),
}

/// Parses an address: `sqlite:<path>`, `postgres://…`, or a plain path.
pub(crate) fn parse_address(url: &str) -> Result<StoreAddress<'_>, StoreError> {
    let bad = |shown: &str, why: &str| {
        Err(StoreError::BadUrl { shown: shown.to_owned(), why: why.to_owned() })
    };
    if let Some(rest) = url.strip_prefix("sqlite:") {
        // `sqlite:///var/x.db` is the usual spelling of an absolute path.
        let path = rest.strip_prefix("//").unwrap_or(rest);
        return match path {
            "" => bad(url, "the path is missing"),
            ":memory:" => bad(url, "a store is kept in a file"),
            path => Ok(StoreAddress::File(path.into())),
        };
    }
    match url.split_once("://") {
        Some(("postgres" | "postgresql", _)) => Ok(StoreAddress::Server(url)),
        // The rest may contain a password.
        Some((scheme, _)) => bad(&format!("{scheme}://…"), "the scheme is not known"),
        None if url.is_empty() => bad(url, "it is empty"),
        None if url.contains('\0') => bad("…", "it contains a NUL byte"),
        None => Ok(StoreAddress::File(url.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let file = |path: &str| Ok(StoreAddress::File(path.into()));
        assert_eq!(parse_address("sqlite:/a/b.db"), file("/a/b.db"));
        assert_eq!(parse_address("sqlite:///a/b.db"), file("/a/b.db"));
        assert_eq!(parse_address("sqlite:b.db"), file("b.db"));
        assert_eq!(parse_address("/a/b c.db"), file("/a/b c.db"));
        assert_eq!(parse_address("C:\\a\\b.db"), file("C:\\a\\b.db"));
        let server = "postgresql://u:p@h/d";
        assert_eq!(parse_address(server), Ok(StoreAddress::Server(server)));
        for (url, message) in [
            ("", "`` is not the address of a store: it is empty"),
            ("sqlite:", "`sqlite:` is not the address of a store: the path is missing"),
            (
                "sqlite::memory:",
                "`sqlite::memory:` is not the address of a store: a store is kept in a file",
            ),
            (
                "mysql://u:secret@h/d",
                "`mysql://…` is not the address of a store: the scheme is not known",
            ),
        ] {
            assert_eq!(parse_address(url).unwrap_err().to_string(), message);
        }
    }
}
