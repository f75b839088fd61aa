//! An excerpt of a program's output: its beginning and its end, as plain text.

use std::collections::VecDeque;

use crate::env_value::SecretMasker;

/// Bytes captured of each end of a stream: the first error and the last lines.
pub const KEPT_BYTES: usize = 64 * 1024;

/// A stream's beginning and end.
#[derive(Debug, Clone, Default)]
pub struct OutputExcerpt {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl OutputExcerpt {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = KEPT_BYTES - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(KEPT_BYTES);
        self.tail.drain(..over);
    }

    /// All bytes that were written, captured or not.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that were left out between beginning and end.
    fn dropped(&self) -> u64 {
        self.total - self.head.len() as u64 - self.tail.len() as u64
    }

    /// Every byte, if none was left out.
    pub(crate) fn complete_bytes(&self) -> Option<Vec<u8>> {
        let all = || self.head.iter().chain(&self.tail).copied().collect();
        (self.dropped() == 0).then(all)
    }

    /// The text without escapes, controls and secrets. Some more is left out around the cut,
    /// because half of a secret would not be recognised.
    pub fn text(&self, masker: &SecretMasker) -> String {
        let mut tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.dropped() == 0 {
            let mut whole = self.head.clone();
            whole.append(&mut tail);
            return masker.mask(&plain_text(&String::from_utf8_lossy(&whole)));
        }
        let edge = masker.longest();
        let head = &self.head[..self.head.len().saturating_sub(edge)];
        let tail = &tail[edge.min(tail.len())..];
        let dropped = self.total - (head.len() + tail.len()) as u64;
        let clean = |bytes| masker.mask(&plain_text(&String::from_utf8_lossy(bytes)));
        format!("{}\n[{dropped} bytes left out]\n{}", clean(head), clean(tail))
    }
}

/// Text as a person would see it: without escape sequences and controls, and with only the final
/// state of a line that a progress bar rewrote.
pub fn plain_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut line = 0;
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                plain.push('\n');
                line = plain.len();
            }
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => plain.truncate(line),
            '\t' => plain.push(c),
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => skip_control_sequence(chars),
        // Titles and links end at a bell, or at the escape that starts the terminator.
        Some(']' | 'P' | '_' | '^') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' {
                    return;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    return;
                }
            }
        }
        Some('(' | ')' | '#') => drop(chars.next()),
        _ => {}
    }
}

fn skip_control_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    for c in chars.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&c) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env_value::EnvValue;

    #[test]
    fn text_is_plain() {
        assert_eq!(plain_text("\u{1b}[31merror\u{1b}[0m: x\r\n"), "error: x\n");
        assert_eq!(plain_text("10%\r20%\rdone\n"), "done\n");
        assert_eq!(plain_text("\u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b\u{8}"), "ab");
        assert_eq!(plain_text("\u{9b}2Ja\u{1b}"), "a");
    }

    #[test]
    fn both_ends_are_kept_and_a_cut_shows_no_half_secret() {
        let mut kept = OutputExcerpt::default();
        let secret = "s3cr3t-".repeat(20);
        kept.push(&vec![b'a'; KEPT_BYTES - 50]);
        kept.push(secret.as_bytes());
        kept.push(&vec![b'b'; 2 * KEPT_BYTES]);
        let text = kept.text(&SecretMasker::new(&[EnvValue::new(secret)]));
        assert!(!text.contains("s3c"), "{}", &text[KEPT_BYTES - 200..KEPT_BYTES + 100]);
        assert!(text.contains("bytes left out]") && text.ends_with('b'));
        assert!(text.len() < 2 * KEPT_BYTES + 100);
        assert_eq!(kept.total(), (3 * KEPT_BYTES + 90) as u64);
        assert_eq!(kept.complete_bytes(), None);
    }
}
