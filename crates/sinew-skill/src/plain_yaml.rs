//! A short cut for front matter that needs no YAML parser: bare keys, bare and simply quoted
//! values, nested by indentation.
//!
//! Nearly every skill contains nothing else, and a general parser spends more time on a description
//! than reading the file takes. Only text with a single meaning is accepted; at the first doubt the
//! whole text is left to the parser, and a test compares the two.

use crate::value::{YamlMapping, YamlValue};
use crate::yaml::{FieldPosition, MAX_DEPTH, ParsedYaml, is_text, resolve_plain};

/// Longer texts are left to the parser, which enforces every limit.
const MAX_LINES: usize = 200;
/// More commas than this may separate more values than are allowed.
const MAX_COMMAS: usize = 500;
/// Characters that end a line for some readers but not for others, or that are invisible.
const ODD_BREAKS: [char; 4] = ['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}'];

/// The value of a plain text; `None` if the parser is needed.
pub(crate) fn parse(text: &str) -> Option<ParsedYaml> {
    let odd = memchr::memchr2(b'\t', b'\r', text.as_bytes()).is_some()
        || (!text.is_ascii() && text.contains(ODD_BREAKS));
    if odd || text.bytes().filter(|b| *b == b',').count() > MAX_COMMAS {
        return None;
    }
    let mut reader = PlainYamlReader { lines: Vec::new(), at: 0, flow_line: None };
    for line in text.lines() {
        if reader.lines.len() == MAX_LINES {
            return None;
        }
        reader.lines.push(IndentedLine::of(line)?);
    }
    let mut places = Vec::new();
    let first = reader.lines.first()?;
    if first.indent != 0 || first.text.starts_with('-') {
        return None;
    }
    let value = YamlValue::Map(reader.mapping(0, 1, Some(&mut places))?);
    (reader.at == reader.lines.len()).then_some(ParsedYaml {
        value,
        flow_line: reader.flow_line,
        places,
    })
}

/// A line and its indentation.
#[derive(Clone, Copy)]
struct IndentedLine<'a> {
    indent: usize,
    text: &'a str,
}

impl<'a> IndentedLine<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        (!text.is_empty())
            .then(|| Self { indent: line.len() - text.len(), text: text.trim_end_matches(' ') })
    }
}

struct PlainYamlReader<'a> {
    lines: Vec<IndentedLine<'a>>,
    at: usize,
    flow_line: Option<usize>,
}

impl<'a> PlainYamlReader<'a> {
    /// The entries with exactly this `indent`, up to the first line with less.
    fn mapping(
        &mut self,
        indent: usize,
        depth: usize,
        mut places: Option<&mut Vec<FieldPosition>>,
    ) -> Option<YamlMapping> {
        // One less than the parser's own limit, which also counts scalars.
        if depth >= MAX_DEPTH - 1 {
            return None;
        }
        let mut map = YamlMapping::default();
        while let Some(&IndentedLine { indent: found, text }) = self.lines.get(self.at) {
            if found < indent {
                break;
            }
            if found > indent {
                return None;
            }
            let line = self.at + 1;
            let (key, rest) = key_of(text)?;
            // A duplicate key is left to the parser, which reports it.
            if map.get(key).is_some() {
                return None;
            }
            self.at += 1;
            let value = match rest.strip_prefix(' ').map(|rest| rest.trim_start_matches(' ')) {
                _ if rest.is_empty() => self.block(indent, depth)?,
                Some(value) => self.inline(value, line, depth)?,
                None => return None,
            };
            // An indented line below could still belong to this value.
            if !rest.is_empty() && self.lines.get(self.at).is_some_and(|next| next.indent > indent)
            {
                return None;
            }
            if let Some(places) = &mut places {
                let odd = matches!(value, YamlValue::Bool(_) | YamlValue::Null);
                let written = odd.then(|| rest.trim().to_owned());
                places.push(FieldPosition { key: key.to_owned(), line, written });
            }
            map.0.push((key.to_owned(), value));
        }
        Some(map)
    }

    /// The block below a key without a value on its line.
    fn block(&mut self, indent: usize, depth: usize) -> Option<YamlValue> {
        let next = *self.lines.get(self.at)?;
        if next.text.starts_with("- ") && next.indent >= indent {
            return self.sequence(next.indent, depth + 1);
        }
        (next.indent > indent)
            .then(|| self.mapping(next.indent, depth + 1, None))
            .flatten()
            .map(YamlValue::Map)
    }

    fn sequence(&mut self, indent: usize, depth: usize) -> Option<YamlValue> {
        if depth >= MAX_DEPTH - 1 {
            return None;
        }
        let mut items = Vec::new();
        while let Some(line) = self.lines.get(self.at).copied() {
            if line.indent < indent {
                break;
            }
            let Some(item) = line.text.strip_prefix("- ") else {
                // A key at the same indentation as the dashes belongs to the surrounding map.
                if line.indent == indent && !line.text.starts_with('-') {
                    break;
                }
                return None;
            };
            if line.indent != indent {
                return None;
            }
            let value = item.trim_start_matches(' ');
            if key_of(value).is_some() {
                // The item is a map whose first key follows the dash.
                let inner = indent + (line.text.len() - value.len());
                self.lines[self.at] = IndentedLine { indent: inner, text: value };
                items.push(YamlValue::Map(self.mapping(inner, depth + 1, None)?));
                continue;
            }
            self.at += 1;
            items.push(self.inline(value, self.at, depth)?);
            if self.lines.get(self.at).is_some_and(|next| next.indent > indent) {
                return None;
            }
        }
        Some(YamlValue::List(items))
    }

    /// A value on the line of its key or dash.
    fn inline(&mut self, text: &'a str, line: usize, depth: usize) -> Option<YamlValue> {
        if let Some(quoted) = text.strip_prefix('"') {
            return simply_quoted(quoted, '"');
        }
        if let Some(quoted) = text.strip_prefix('\'') {
            return simply_quoted(quoted, '\'');
        }
        if text.starts_with(['[', '{']) {
            self.flow_line.get_or_insert(line);
            let mut flow = FlowReader { rest: text };
            let value = flow.value(depth + 1)?;
            return flow.rest.is_empty().then_some(value);
        }
        let doubtful = text.contains(": ") || text.contains(" #") || text.ends_with(':');
        let starts = text.starts_with(|c: char| c.is_alphanumeric() || c == '(');
        (starts && !doubtful).then(|| resolve_plain(text))
    }
}

fn key_of(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let starts = key.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (starts && plain && (rest.is_empty() || rest.starts_with(' ')) && is_text(key))
        .then_some((key, rest))
}

/// Text up to a closing quote at the end of the line, without anything that quoting could change.
fn simply_quoted(text: &str, quote: char) -> Option<YamlValue> {
    let inner = text.strip_suffix(quote)?;
    (!inner.contains([quote, '\\'])).then(|| YamlValue::String(inner.to_owned()))
}

/// Lists and maps in brackets on one line, as in JSON.
struct FlowReader<'a> {
    rest: &'a str,
}

impl<'a> FlowReader<'a> {
    fn value(&mut self, depth: usize) -> Option<YamlValue> {
        if depth >= MAX_DEPTH - 1 {
            return None;
        }
        match self.rest.as_bytes().first()? {
            b'[' => self.items(']', |flow| flow.value(depth + 1)).map(YamlValue::List),
            b'{' => {
                let mut map = YamlMapping::default();
                for (key, value) in self.items('}', |flow| flow.field(depth + 1))? {
                    if map.get(&key).is_some() {
                        return None;
                    }
                    map.0.push((key, value));
                }
                Some(YamlValue::Map(map))
            }
            b'"' => self.quoted().map(|text| YamlValue::String(text.to_owned())),
            _ => self.word().map(resolve_plain),
        }
    }

    /// The items between an opening bracket and `end`, separated by commas.
    fn items<T>(&mut self, end: char, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.rest = self.rest[1..].trim_start_matches(' ');
        while !self.take(end) {
            if !items.is_empty() {
                self.take(',').then_some(())?;
            }
            items.push(item(self)?);
            self.rest = self.rest.trim_start_matches(' ');
        }
        Some(items)
    }

    fn field(&mut self, depth: usize) -> Option<(String, YamlValue)> {
        let key = if self.rest.starts_with('"') {
            self.quoted()?.to_owned()
        } else {
            let key = self.word().filter(|key| is_text(key))?;
            // After a bare word, a colon counts only before a blank.
            self.rest.starts_with(": ").then_some(key)?.to_owned()
        };
        self.take(':').then_some(())?;
        Some((key, self.value(depth)?))
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let (text, rest) = self.rest[1..].split_once('"')?;
        self.rest = rest;
        (!text.contains('\\')).then_some(text)
    }

    fn word(&mut self) -> Option<&'a str> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let end = self.rest.find(|c| !plain(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let ends = rest.trim_start_matches(' ').starts_with([',', ']', '}', ':']);
        (ends && word.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(word)
    }

    /// Consumes a mark and the blanks around it, if it is next.
    fn take(&mut self, mark: char) -> bool {
        let Some(rest) = self.rest.trim_start_matches(' ').strip_prefix(mark) else { return false };
        self.rest = rest.trim_start_matches(' ');
        true
    }
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
    fn what_could_mean_something_else_is_left_to_the_parser() {
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
            "a:\n  b:\n    - c: d\n      e: [f, \"g\"]\n    - h\n  i: 'j'\nk: ~\n",
            "a:\n- b: c\n  d: e\n- f\ng: h\n",
            "a:\n  - b\n c: d\n",
            "a:\n  - - b\n",
            "a: [b, c\n",
            "a: [b,, c]\n",
            "a: [b, ]\n",
            "a: \"b\\n\"\n",
            "a: \"b\" c\n",
            "a: 'it''s'\n",
            "a:\nb: c\n",
            "a:\n  b: c\n  - d\n",
            "a: [true, 1.0, null]\n",
            "a: False\nb: null\n",
            "a: 1e3\nb: 0x1f\nc: 2024-01-01\n",
            "a: b\n ",
            "a: {\"b\":\"c\", d: [e, {\"f\": 1.0}]}\nb: {}\nc: []\n",
            "a: {b:c}\n",
            "a: {b : c}\n",
            "a: {\"b\" : c}\n",
            "a: {b}\n",
            "a: {b: c,}\n",
            "a: {b: c, b: d}\n",
            "a: [b c]\n",
            "a: [b: c]\n",
            "a: [b] c\n",
            "a: [b]]\n",
            "a: {b: {c: [d, [e]]}}\n",
            "a: {true: b, 1: c}\n",
            "a: {\"x\": \"y\\\"z\"}\n",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn ordinary_metadata_is_read_without_the_parser() {
        let text = "name: a\ndescription: \"b: c\"\nmetadata:\n  openclaw:\n    emoji: \"x\"\n    requires:\n      bins: [git, jq]\n    install:\n      - id: brew\n        bins: [jq]\n";
        assert!(crate::plain_yaml::parse(text).is_some());
        agrees(text);
    }

    #[test]
    fn real_front_matter_means_the_same_to_both() {
        let Some(rows) = sinew_testkit::shared_rows("data/skills.jsonl.gz") else { return };
        let (mut all, mut plain) = (0, 0);
        for row in rows {
            let text = row["text"].as_str().unwrap_or_default().replace('\r', "");
            let Some(text) = text.strip_prefix("---\n") else { continue };
            let Some((front, _)) = text.split_once("\n---") else { continue };
            agrees(front);
            all += 1;
            plain += usize::from(super::parse(front).is_some());
        }
        assert!(plain * 10 > all * 7, "the short cut serves {plain} of {all}");
    }

    proptest! {
        #[test]
        fn the_short_cut_agrees_with_the_parser(
            lines in proptest::collection::vec("[a-d-]{0,2}:?[ :#'(\\[{*&-]?[ ]?[a-z(é ]{0,4}[:# ]?[a-z]?", 0..6),
        ) {
            agrees(&lines.join("\n"));
        }

        #[test]
        fn nesting_means_the_same_to_both(
            lines in proptest::collection::vec(
                "[ ]{0,4}(- ){0,2}([ab]{1,2}:)?[ ]{0,2}([ab1]{1,3}|\"[ab:# ]{0,3}\"|'[a:]{0,2}'|\\[[ab, \"]{0,4}\\]|true|~|-)?",
                1..7,
            ),
        ) {
            agrees(&lines.join("\n"));
        }

        #[test]
        fn brackets_mean_the_same_to_both(
            values in proptest::collection::vec("[\\[{]{0,2}([ab1]{1,2}|\"[ab:,]{0,2}\"|[:, ]|[\\]}\\[{]){0,9}[\\]}]{0,2}", 1..3),
        ) {
            agrees(&values.iter().map(|value| format!("k{}: {value}\n", value.len())).collect::<String>());
        }
    }
}
