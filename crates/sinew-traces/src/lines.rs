//! Lines of a file, one at a time, however long the file is.

use std::io::{self, BufRead};

/// A longer line holds a picture or a whole file; it is skipped and counted.
pub(crate) const MAX_LINE: usize = 1024 * 1024;

/// Counts of what a transcript contained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LineCounts {
    /// Lines that are not empty.
    pub lines: u64,
    /// Lines that are not JSON.
    pub malformed: u64,
    /// Records of a type that is not known.
    pub unknown: u64,
    /// Lines that are longer than the limit.
    pub oversize: u64,
    /// Steps beyond the limit of a run.
    pub steps_left_out: u64,
}

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineRead {
    /// There is one, without its end.
    Here,
    /// There was one that is too long.
    TooLong,
    /// There are no more.
    End,
}

/// Reads the next line into `line`, which is reused.
pub(crate) fn next(from: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<LineRead> {
    line.clear();
    let mut too_long = false;
    loop {
        let here = match from.fill_buf() {
            Ok(here) => here,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if here.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => LineRead::TooLong,
                (false, true) => LineRead::End,
                (false, false) => LineRead::Here,
            });
        }
        let end = here.iter().position(|&byte| byte == b'\n');
        let part = &here[..end.unwrap_or(here.len())];
        if !too_long && line.len() + part.len() <= MAX_LINE {
            line.extend_from_slice(part);
        } else {
            too_long = true;
            line.clear();
        }
        let used = part.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            return Ok(if too_long { LineRead::TooLong } else { LineRead::Here });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_passed_over_whole() {
        let text = format!("a\n{}\nb", "x".repeat(MAX_LINE + 1));
        let mut from = io::BufReader::with_capacity(7, text.as_bytes());
        let mut line = Vec::new();
        let mut seen = Vec::new();
        loop {
            match next(&mut from, &mut line).expect("bytes") {
                LineRead::End => break,
                LineRead::TooLong => seen.push("long".to_owned()),
                LineRead::Here => seen.push(String::from_utf8_lossy(&line).into_owned()),
            }
        }
        assert_eq!(seen, ["a", "long", "b"]);
    }
}
