//! Edits that correct a file and change nothing else.
//!
//! An edit refers to whole lines, so the bytes of every other line, the byte order mark and the
//! style of line ends stay as they are. Edits never guess: an issue that only the author can
//! resolve has none.

use serde::Serialize;

use super::ValidationIssue;

/// How an issue is corrected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// What the edits do, briefly.
    pub summary: String,
    /// The edits, which do not overlap.
    pub edits: Vec<FileEdit>,
}

/// One change to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FileEdit {
    /// Removes the byte order mark.
    StripBom,
    /// Replaces whole lines.
    Lines {
        /// The first line to remove, from 1; new lines are inserted before it.
        line: usize,
        /// How many lines to remove.
        remove: usize,
        /// The lines to insert, without line ends.
        insert: Vec<String>,
    },
}

impl Fix {
    pub(super) fn new(summary: impl Into<String>, edits: Vec<FileEdit>) -> Self {
        Self { summary: summary.into(), edits }
    }
}

impl FileEdit {
    pub(super) fn replace(line: usize, remove: usize, text: &str) -> Self {
        Self::Lines { line, remove, insert: text.split('\n').map(str::to_owned).collect() }
    }

    pub(super) fn remove(line: usize, remove: usize) -> Self {
        Self::Lines { line, remove, insert: Vec::new() }
    }
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Applies the fixes of `issues` to a file; returns `None` if there is nothing to change.
///
/// Identical edits are applied once; of two edits that touch the same line the first is applied,
/// and the next run handles what is left.
pub fn apply_fixes(bytes: &[u8], issues: &[ValidationIssue]) -> Option<Vec<u8>> {
    let (bom, text) = match bytes.strip_prefix(BOM) {
        Some(text) => (BOM, text),
        None => (&[][..], bytes),
    };
    let mut lines = split_lines(text);
    let ending = lines.iter().map(|line| line.ending).find(|ending| !ending.is_empty());
    let ending = ending.unwrap_or(b"\n");

    let edits = issues.iter().filter_map(|issue| issue.fix.as_ref()).flat_map(|fix| &fix.edits);
    let mut strip_bom = false;
    let mut chosen: Vec<(usize, usize, &[String])> = Vec::new();
    for edit in edits {
        match edit {
            FileEdit::StripBom => strip_bom = true,
            FileEdit::Lines { line, remove, insert } => {
                let new = (*line, *remove, insert.as_slice());
                let in_file = *line >= 1 && line + remove <= lines.len() + 1;
                if in_file && !chosen.iter().any(|old| overlaps(old, &new)) {
                    chosen.push(new);
                }
            }
        }
    }
    // From the end, so that the numbers of earlier lines stay valid; removals before insertions.
    chosen.sort_by_key(|&(line, remove, _)| (line, remove));
    for (line, remove, insert) in chosen.into_iter().rev() {
        let at = line - 1;
        // The last line of a file may have no line end; a line that replaces it has none either.
        let reaches_end = at + remove == lines.len();
        let last = match lines.last_mut() {
            Some(line) if reaches_end && remove > 0 => line.ending,
            Some(line) if reaches_end => std::mem::replace(&mut line.ending, ending),
            _ => ending,
        };
        let count = insert.len();
        let new = insert.iter().enumerate().map(|(index, text)| RawLine {
            text: text.as_bytes(),
            ending: if index + 1 == count { last } else { ending },
        });
        lines.splice(at..at + remove, new);
    }

    let mut fixed = Vec::with_capacity(bytes.len() + 64);
    fixed.extend_from_slice(if strip_bom { &[] } else { bom });
    for line in lines {
        fixed.extend_from_slice(line.text);
        fixed.extend_from_slice(line.ending);
    }
    (fixed != bytes).then_some(fixed)
}

fn overlaps(old: &(usize, usize, &[String]), new: &(usize, usize, &[String])) -> bool {
    let same_place = old.0 == new.0 && (old.1 > 0) == (new.1 > 0);
    same_place || (old.0 < new.0 + new.1 && new.0 < old.0 + old.1 && old.1 > 0 && new.1 > 0)
}

struct RawLine<'a> {
    text: &'a [u8],
    ending: &'a [u8],
}

/// The lines of a file, each with its line end; LF, CRLF and CR each end a line.
fn split_lines(text: &[u8]) -> Vec<RawLine<'_>> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let length = match &rest[at..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        lines.push(RawLine { text: &rest[..at], ending: &rest[at..at + length] });
        rest = &rest[at + length..];
    }
    lines
}
