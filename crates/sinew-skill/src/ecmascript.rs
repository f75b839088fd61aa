//! Text as JavaScript measures it: ECMAScript's white space, UTF-16 lengths.
//!
//! OpenClaw and its plugins are written in JavaScript. Its `trim`, `\s` and `length` differ from
//! Rust's in a few characters, and a limit that is counted differently is another limit.

/// White space and line ends of ECMAScript; unlike Rust's it has U+FEFF and lacks U+0085.
pub fn is_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// The text without white space at its ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The text without white space at its end.
pub fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// The text on one line: runs of white space become one blank, the ends are trimmed.
pub fn collapse(text: &str) -> String {
    let words = text.split(is_space).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Length in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The start of a text, at most `units` UTF-16 code units long, never half a character.
pub fn head(text: &str, units: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > units {
            return &text[..at];
        }
    }
    text
}

/// The end of a text, at most `units` UTF-16 code units long, never half a character.
pub fn tail(text: &str, units: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.len_utf16();
        if used > units {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// Text of one line for records and messages, cut with an ellipsis.
pub fn short(text: &str, units: usize) -> String {
    let line = collapse(text);
    if utf16_len(&line) <= units {
        return line;
    }
    format!("{}…", trim_end(head(&line, units.saturating_sub(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_cuts_count_utf16_and_keep_characters_whole() {
        assert_eq!(utf16_len("a😀"), 3);
        assert_eq!(head("a😀b", 2), "a");
        assert_eq!(tail("a😀b", 2), "b");
        assert_eq!((head("ab", 9), tail("ab", 9)), ("ab", "ab"));
        assert_eq!(collapse(" a \u{a0}\n b\u{feff}"), "a b");
        assert_eq!(short("one two three", 8), "one two…");
    }
}
