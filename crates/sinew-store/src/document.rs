//! Documents: JSON by collection and key, changed by compare-and-set.

use serde::{Deserialize, Serialize};

use crate::JsonText;

/// Which state of a document it is.
///
/// A store gives no version twice: a document that was deleted and made again cannot be taken for
/// the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentVersion(pub u64);

/// What must be there for a change to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Anything, or nothing: the last writer wins.
    Any,
    /// No document.
    Absent,
    /// The document as it was read.
    Version(DocumentVersion),
}

impl ExpectedVersion {
    pub(crate) fn allows(self, found: Option<DocumentVersion>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => found.is_none(),
            Self::Version(version) => found == Some(version),
        }
    }
}

/// A document and the version to name when it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its name within the collection.
    pub key: String,
    /// Which state this is.
    pub version: DocumentVersion,
    /// The content.
    pub body: JsonText,
}

/// Which keys of a collection to list. Keys are ordered by their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyRange<'a> {
    /// Only keys that begin with this.
    pub prefix: &'a str,
    /// Only keys behind this one; empty for all.
    pub after: &'a str,
}

impl<'a> KeyRange<'a> {
    /// Every key.
    pub const ALL: KeyRange<'static> = KeyRange { prefix: "", after: "" };

    /// Keys that begin with `prefix`.
    pub fn with_prefix(prefix: &'a str) -> Self {
        Self { prefix, after: "" }
    }

    /// Goes on behind `key`.
    #[must_use]
    pub fn after(self, key: &'a str) -> Self {
        Self { after: key, ..self }
    }

    /// The first text behind everything that begins with the prefix, if there is one.
    pub(crate) fn end(&self) -> Option<String> {
        let mut end = self.prefix.to_owned();
        while let Some(last) = end.pop() {
            // Scalar values and their UTF-8 bytes have the same order; surrogates are a hole in it.
            let next = match last {
                '\u{d7ff}' => Some('\u{e000}'),
                other => char::from_u32(other as u32 + 1),
            };
            if let Some(next) = next {
                end.push(next);
                return Some(end);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_text_that_does_not_begin_with_it() {
        for (prefix, end) in [
            ("", None),
            ("a", Some("b")),
            ("run/", Some("run0")),
            ("a\u{d7ff}", Some("a\u{e000}")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}\u{10ffff}", None),
        ] {
            assert_eq!(KeyRange::with_prefix(prefix).end().as_deref(), end, "{prefix:?}");
        }
    }
}
