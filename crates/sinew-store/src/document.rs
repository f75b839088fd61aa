//! Documents: JSON by collection and key, changed by compare-and-set.

use serde::{Deserialize, Serialize};

use crate::JsonText;

/// The version of a document.
///
/// A store never reuses a version: a document that was deleted and created again cannot be mistaken
/// for the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentVersion(pub u64);

/// The state that a change expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Anything, or nothing: the last writer wins.
    Any,
    /// No document.
    Absent,
    /// This version.
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

/// A document, with the version to name when it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its key within the collection.
    pub key: String,
    /// Its version.
    pub version: DocumentVersion,
    /// The content.
    pub body: JsonText,
}

/// Which keys of a collection to list. Keys are ordered by their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyRange<'a> {
    /// Only keys that begin with this.
    pub prefix: &'a str,
    /// Only keys after this one; empty for all.
    pub after: &'a str,
}

impl<'a> KeyRange<'a> {
    /// Every key.
    pub const ALL: KeyRange<'static> = KeyRange { prefix: "", after: "" };

    /// Keys that begin with `prefix`.
    pub fn with_prefix(prefix: &'a str) -> Self {
        Self { prefix, after: "" }
    }

    /// Continues after `key`.
    #[must_use]
    pub fn after(self, key: &'a str) -> Self {
        Self { after: key, ..self }
    }

    /// The first text after everything that begins with the prefix, if there is one.
    pub(crate) fn end(&self) -> Option<String> {
        let mut end = self.prefix.to_owned();
        while let Some(last) = end.pop() {
            // Scalar values and their UTF-8 bytes sort in the same order, except for the gap of the
            // surrogates.
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
