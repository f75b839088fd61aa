//! SHA-256 of whole trees.

use sha2::{Digest as _, Sha256};
use sinew_skill::content_hash;

/// The digest of a tree: SHA-256 over each path and its file's digest, in byte order of the paths.
///
/// Times, modes and the order of the listing do not matter, so the same files have the same digest
/// on every machine.
pub fn tree<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
    tree_of_hashes(files.into_iter().map(|(path, bytes)| (path, Sha256::digest(bytes).into())))
}

/// The digest of a tree whose files have already been hashed.
pub fn tree_of_hashes<'a>(files: impl IntoIterator<Item = (&'a str, [u8; 32])>) -> String {
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_unstable_by(|a, b| a.0.cmp(b.0));
    let mut whole = Vec::with_capacity(files.iter().map(|(path, _)| 8 + path.len() + 32).sum());
    for (path, digest) in files {
        whole.extend((path.len() as u64).to_be_bytes());
        whole.extend(path.as_bytes());
        whole.extend(digest);
    }
    format!("sha256:{}", content_hash(&whole))
}

/// The bytes of a hexadecimal SHA-256.
pub fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
    }
    Some(bytes)
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
        let known = from_hex(&content_hash(b"1")).unwrap();
        assert_eq!(tree_of_hashes([("a", known)]), tree([("a", b"1".as_slice())]));
        assert_eq!(from_hex("not hex"), None);
    }
}
