//! Prose without its markup: `the **pass**word` reads like "the password", and so it is judged; several
//! blanks between words read like one.

use memchr::memchr3;
use memchr::memmem;

use super::lines::TextLines;
use super::role::RoleSpan;

/// Lines and bytes added per file; a text with more emphasis than this emphasises nothing.
const MAX_LINES: usize = 4_000;
const MAX_ADDED: usize = 256 * 1024;
/// Longer lines were not written by a person.
const MAX_LINE: usize = 4096;

/// Adds the lines of prose that read differently without emphasis and quote marks.
pub(crate) fn read(plain: &str, spans: &[RoleSpan], lines: &mut Vec<(usize, String)>) {
    let (mut added, mut count) = (0, 0);
    let mut span_at = 0;
    for (number, line) in TextLines::new(plain).enumerate() {
        if line.len() > MAX_LINE {
            continue;
        }
        let spaced = memmem::find(line.trim().as_bytes(), b"  ").is_some();
        if !spaced && memchr3(b'*', b'_', b'>', line.as_bytes()).is_none() {
            continue;
        }
        while span_at + 1 < spans.len() && spans[span_at].lines.end <= number {
            span_at += 1;
        }
        if spans.get(span_at).is_none_or(|span| span.code) {
            continue;
        }
        let bare = match (without_emphasis(line), spaced) {
            (Some(bare), true) => single_blanks(&bare),
            (None, true) => single_blanks(line),
            (Some(bare), false) => bare,
            (None, false) => continue,
        };
        added += bare.len();
        count += 1;
        if added > MAX_ADDED || count > MAX_LINES {
            return;
        }
        lines.push((number, bare));
    }
}

fn single_blanks(line: &str) -> String {
    line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The line without emphasis and quote marks, if it has any around words.
fn without_emphasis(line: &str) -> Option<String> {
    let quote = line.trim_start();
    let text = quote.trim_start_matches(['>', ' ']);
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut run, mut at, mut dropped) = (0, 0, quote.starts_with('>'));
    while at < bytes.len() {
        let mark = bytes[at];
        if mark != b'*' && mark != b'_' {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| **byte == mark).count();
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let after = bytes.get(at + length).copied();
        let word =
            |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || !b.is_ascii());
        // `a_b` and `2 * 3` are no emphasis; `pass**word**` is.
        let emphasis = length <= 3
            && (word(before) || word(after))
            && !(mark == b'_' && word(before) && word(after))
            && !(before.is_none_or(|b| b == b' ') && after.is_none_or(|b| b == b' '));
        if emphasis {
            out.push_str(&text[run..at]);
            run = at + length;
            dropped = true;
        }
        at += length;
    }
    out.push_str(&text[run..]);
    dropped.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emphasis_goes_and_names_stay() {
        let check = |line: &str, bare: Option<&str>| {
            assert_eq!(without_emphasis(line).as_deref(), bare, "{line}");
        };
        check("the **password**: `x`", Some("the password: `x`"));
        check("the pass**word** is _x_", Some("the password is x"));
        check("> *run* it", Some("run it"));
        check("snake_case_name and 2 * 3", None);
        check("plain", None);
    }
}
