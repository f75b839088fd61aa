//! SHA-256, of bytes and of whole trees.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The lower-case hexadecimal SHA-256 of `bytes`.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The digest of a tree: SHA-256 over each path and its file's digest, in byte order of the paths.
///
/// Times, modes and the order of the listing play no part, so that the same files have the same
/// digest on every machine.
pub fn tree<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_unstable_by(|a, b| a.0.cmp(b.0));
    let mut whole = Sha256::new();
    for (path, bytes) in files {
        whole.update((path.len() as u64).to_be_bytes());
        whole.update(path.as_bytes());
        whole.update(Sha256::digest(bytes));
    }
    format!("sha256:{}", hex(&whole.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_its_names_and_bytes_and_nothing_else() {
        let one = tree([("b", b"2".as_slice()), ("a", b"1")]);
        assert_eq!(one, tree([("a", b"1".as_slice()), ("b", b"2")]));
        assert_ne!(one, tree([("a", b"2".as_slice()), ("b", b"1")]));
        assert_ne!(tree([("ab", b"".as_slice())]), tree([("a", b"b".as_slice())]));
    }
}
