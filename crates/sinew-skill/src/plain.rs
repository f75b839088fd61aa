//! The fields that need no YAML parser: one line, a bare key, a bare text.
//!
//! Two of three skills hold nothing else, and a general parser spends more time on their
//! description than it takes to read the file. Only lines that can mean one thing are taken; at the
//! first doubt the rest is left to the parser, and a test holds the two against each other.

use crate::value::Value;
use crate::yaml::resolve_plain;

/// The fields at the top of a block, and what is left of it.
pub(crate) struct Leading<'a> {
    /// Each with its key and its value, one per line from the first.
    pub(crate) fields: Vec<(&'a str, Value)>,
    /// The text after them.
    pub(crate) rest: &'a str,
}

/// Takes the plain fields off the top of a block.
pub(crate) fn leading_fields(text: &str) -> Leading<'_> {
    let mut leading = Leading { fields: Vec::new(), rest: text };
    while let Some((line, after)) = split_line(leading.rest) {
        let Some((key, value)) = plain_field(line) else { break };
        // An indented, blank or odd line below could still belong to this value.
        let ends_here =
            after.is_empty() || split_line(after).is_some_and(|(line, _)| key_of(line).is_some());
        // The same key twice is for the parser to name.
        if !ends_here || leading.fields.iter().any(|(known, _)| *known == key) {
            break;
        }
        leading.fields.push((key, Value::String(value.to_owned())));
        leading.rest = after;
    }
    leading
}

fn split_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    Some(text.split_once('\n').unwrap_or((text, "")))
}

fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let starts = key.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (starts && plain).then_some((key, value))
}

fn plain_field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = key_of(line)?;
    let value = value.strip_prefix(' ')?.trim_matches(' ');
    let starts = value.starts_with(|c: char| c.is_alphabetic() || c == '(');
    let doubtful = value.contains(": ")
        || value.contains(" #")
        || value.ends_with(':')
        || value.contains(['\t', '\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{feff}']);
    let is_text = |text: &str| matches!(resolve_plain(text), Value::String(_));
    (starts && !doubtful && is_text(value) && is_text(key)).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use crate::yaml;
    use proptest::prelude::*;

    fn agrees(text: &str) {
        match (yaml::parse(text), yaml::parse_whole(text)) {
            (Ok(quick), Ok(whole)) => {
                assert_eq!(quick.value, whole.value, "{text:?}");
                assert_eq!(quick.places, whole.places, "{text:?}");
                assert_eq!(quick.flow_line, whole.flow_line, "{text:?}");
            }
            (Err(quick), Err(whole)) => assert_eq!(quick, whole, "{text:?}"),
            (quick, whole) => panic!("{text:?}: {quick:?} is not {whole:?}"),
        }
    }

    #[test]
    fn lines_that_could_mean_something_else_are_left_to_the_parser() {
        for text in [
            "",
            "a: b",
            "a: b\n",
            "a: b\nc: d",
            "a: b\n\n  c\n",
            "a: b\n  c: d\n",
            "a: b\n- c\n",
            "a: b\na: c\n",
            "a: b # c\n",
            "a: b: c\n",
            "a:b\nc: d\n",
            "a: true\nb: x\n",
            "true: b\n",
            "a: b\n...\n",
            "a: b\n---\nc: d\n",
            "a: b\nmetadata: {x: [1]}\n",
            "a: b\nm:\n  x: 1\n",
            "a: x\nm:\n- 1\n",
            "a: (b) c\nd: e:\n",
            "a: é\u{2028}b\nc: d\n",
            "a: b\nc: *x\n",
            "a: b\nc: 'd\n",
            "a: b\nc: d e\n f\n",
            "a: b \nc:  d\n",
        ] {
            agrees(text);
        }
    }

    proptest! {
        #[test]
        fn the_short_cut_agrees_with_the_parser(
            lines in proptest::collection::vec("[a-d-]{0,2}:?[ :#'(\\[{*&-]?[ ]?[a-z(é ]{0,4}[:# ]?[a-z]?", 0..6),
        ) {
            agrees(&lines.join("\n"));
        }
    }
}
