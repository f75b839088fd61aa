//! Lines: where they start, and how far apart two of them are.
//!
//! A text of ten megabytes may have ten million lines or one, so nothing here stores an entry per
//! line: some positions are indexed, and the lines between them are counted again when needed.

use std::ops::Range;

use memchr::{Memchr, memchr, memchr_iter, memrchr};

/// Bytes between two indexed positions.
const BLOCK: usize = 512;
/// A longer line was not written by a person: distances within it are counted in [`WRAP`]s.
pub(crate) const MAX_LINE: usize = 4096;
/// Bytes of a long line that count as one line.
const WRAP: usize = 80;

/// The lines of a text, as `split('\n')` gives them; several times faster on short ones.
#[derive(Debug, Clone)]
pub(crate) struct TextLines<'a> {
    text: &'a str,
    ends: Memchr<'a>,
    at: Option<usize>,
}

impl<'a> TextLines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, ends: memchr_iter(b'\n', text.as_bytes()), at: Some(0) }
    }
}

impl<'a> Iterator for TextLines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let start = self.at?;
        let end = self.ends.next();
        self.at = end.map(|end| end + 1);
        Some(&self.text[start..end.unwrap_or(self.text.len())])
    }
}

/// Which line a byte is on, and where a line is.
#[derive(Debug)]
pub(crate) struct LineIndex {
    /// For every [`BLOCK`] of bytes, the number of lines that end before it.
    marks: Vec<usize>,
    len: usize,
}

impl LineIndex {
    pub(crate) fn new(text: &str) -> Self {
        let mut ended = 0;
        let mut marks = Vec::with_capacity(text.len() / BLOCK + 1);
        for block in text.as_bytes().chunks(BLOCK) {
            marks.push(ended);
            ended += count_ends(block);
        }
        Self { marks, len: ended + 1 }
    }

    /// Number of lines; a text has at least one.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The line of a byte of the indexed text.
    pub(crate) fn line_of(&self, text: &str, byte: usize) -> usize {
        let byte = byte.min(text.len());
        let block = (byte / BLOCK).min(self.marks.len().saturating_sub(1));
        let before = self.marks.get(block).copied().unwrap_or(0);
        before + count_ends(&text.as_bytes()[block * BLOCK..byte])
    }

    /// Where a line starts.
    pub(crate) fn start(&self, text: &str, line: usize) -> usize {
        let Some(last) = line.checked_sub(1) else { return 0 };
        if line >= self.len {
            return text.len();
        }
        // The block in which the preceding line ends.
        let block = self.marks.partition_point(|ended| *ended <= last) - 1;
        let from = block * BLOCK;
        let ends = memchr_iter(b'\n', &text.as_bytes()[from..]).nth(last - self.marks[block]);
        ends.map_or(text.len(), |end| from + end + 1)
    }

    /// The bytes of a line, without its line end. On a long line this takes time in its length.
    pub(crate) fn range(&self, text: &str, line: usize) -> Range<usize> {
        let start = self.start(text, line);
        start..end_of(text, start)
    }
}

/// The number of lines that end in `bytes`.
pub(crate) fn count_ends(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

/// The last boundary of a character at or before `at`.
pub(crate) fn floor_char_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Bytes that [`next_where`] tests together.
const STRIDE: usize = 64;

/// The first position at or after `from` where a byte and its successor (0 at the end) satisfy
/// `test`. Whole strides are tested without a branch, so that text without a match costs little.
pub(crate) fn next_where(
    bytes: &[u8],
    from: usize,
    test: impl Fn(u8, u8) -> bool,
) -> Option<usize> {
    let mut at = from;
    while let Some(stride) = bytes.get(at..at + STRIDE + 1) {
        let mut any = false;
        for pair in 0..STRIDE {
            any |= test(stride[pair], stride[pair + 1]);
        }
        if any {
            break;
        }
        at += STRIDE;
    }
    (at..bytes.len()).find(|at| test(bytes[*at], bytes.get(at + 1).copied().unwrap_or(0)))
}

fn end_of(text: &str, start: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |length| start + length)
}

/// Walks the lines of a text forward, from one byte to the next.
#[derive(Debug)]
pub(crate) struct LineCursor<'a> {
    text: &'a str,
    /// Number of the line.
    pub(crate) line: usize,
    /// Its bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> LineCursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, line: 0, start: 0, end: end_of(text, 0) }
    }

    /// Moves to the line of `at`; an earlier position stays on the current line.
    pub(crate) fn advance(&mut self, at: usize) {
        if at <= self.end {
            return;
        }
        let passed = &self.text.as_bytes()[self.end..at];
        self.line += count_ends(passed);
        self.start = memrchr(b'\n', passed).map_or(self.start, |i| self.end + i + 1);
        self.end = end_of(self.text, at);
    }
}

/// Ranks: how many non-blank lines come before a position, so that blank lines add no distance.
/// Positions are queried in order, so each part of the text is read once.
#[derive(Debug)]
pub(crate) struct LineRanks<'a> {
    lines: TextLines<'a>,
    /// The line that was read last, its number, and the rank before it.
    here: &'a str,
    number: usize,
    before: u32,
}

impl<'a> LineRanks<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut lines = TextLines::new(text);
        let here = lines.next().unwrap_or("");
        Self { lines, here, number: 0, before: 0 }
    }

    /// The rank of a column of a line, which must not be before the last queried line.
    pub(crate) fn at(&mut self, line: usize, column: usize) -> u32 {
        while self.number < line {
            self.before += weight(self.here);
            self.here = self.lines.next().unwrap_or("");
            self.number += 1;
        }
        self.before + u32::from(!is_blank(self.here)) + wraps(self.here.len(), column)
    }
}

/// How many lines a line counts as.
fn weight(line: &str) -> u32 {
    if is_blank(line) { 0 } else { 1 + wraps(line.len(), line.len()) }
}

fn is_blank(line: &str) -> bool {
    line.bytes().next().is_none_or(|b| !b.is_ascii_graphic()) && line.trim().is_empty()
}

/// How many wrapped lines come before a column, in a line of this length.
pub(crate) fn wraps(length: usize, column: usize) -> u32 {
    if length <= MAX_LINE { 0 } else { u32::try_from(column / WRAP).unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blank_lines_are_no_distance_and_long_ones_are() {
        let text = format!("a\n\n \nb\n{}\nc", "x".repeat(10 * MAX_LINE));
        let mut ranks = LineRanks::new(&text);
        assert_eq!((ranks.at(0, 0), ranks.at(3, 0), ranks.at(4, 0)), (1, 2, 3));
        assert_eq!(ranks.at(4, 4 * WRAP), 7);
        let late = ranks.at(4, 9 * MAX_LINE);
        assert!(ranks.at(5, 0) > late);
    }

    proptest! {
        #[test]
        fn lines_are_those_of_split(text in "[ab\n é]{0,400}") {
            let wanted: Vec<&str> = text.split('\n').collect();
            prop_assert_eq!(TextLines::new(&text).collect::<Vec<_>>(), wanted.clone());
            let index = LineIndex::new(&text);
            prop_assert_eq!(index.len(), wanted.len());
            let mut cursor = LineCursor::new(&text);
            for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
                let line = text[..at].matches('\n').count();
                prop_assert_eq!(index.line_of(&text, at), line);
                prop_assert_eq!(&text[index.range(&text, line)], wanted[line]);
                cursor.advance(at);
                prop_assert_eq!((cursor.line, &text[cursor.start..cursor.end]), (line, wanted[line]));
            }
        }
    }
}
