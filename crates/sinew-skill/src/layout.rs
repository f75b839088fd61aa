//! The layout of front matter: what a stricter dialect of YAML rejects although the values are
//! valid. Besides `yaml`, this is the only module that uses the YAML parser.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Tag};

/// Lines (from 1) of things that StrictYAML, the dialect of the Agent Skills reference, rejects.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct YamlLayout {
    /// The first tag.
    pub(crate) tag_line: Option<usize>,
    /// The first map with another indentation than the map before it in the same parent.
    pub(crate) uneven_line: Option<usize>,
    /// The first tab outside quotes, block texts and comments.
    pub(crate) tab_line: Option<usize>,
}

/// Examines the layout of a text that parses.
pub(crate) fn layout(text: &str) -> YamlLayout {
    let options = granit_parser::options! { emit_comments: false };
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut layout = YamlLayout::default();
    let mut opaque: Vec<Range<usize>> = Vec::new();
    let mut open: Vec<LayoutFrame> = Vec::new();
    while let Some(Ok((event, span))) = parser.next_event() {
        let line = span.start.line();
        let mut note_tag = |tag: Option<&Tag>| {
            if tag.is_some() {
                layout.tag_line.get_or_insert(line);
            }
        };
        match event {
            Event::Scalar(_, style, _, tag) => {
                note_tag(tag.as_deref());
                if style != ScalarStyle::Plain {
                    opaque.extend(span.byte_range());
                }
                open.last_mut().map(LayoutFrame::advance);
            }
            Event::MappingStart(_, _, tag) => {
                note_tag(tag.as_deref());
                if let Some(parent) = open.last_mut()
                    && parent.is_value()
                    && *parent.column.get_or_insert(span.start.col()) != span.start.col()
                {
                    layout.uneven_line.get_or_insert(line);
                }
                open.last_mut().map(LayoutFrame::advance);
                open.push(LayoutFrame { is_map: true, children: 0, column: None });
            }
            Event::SequenceStart(_, _, tag) => {
                note_tag(tag.as_deref());
                open.last_mut().map(LayoutFrame::advance);
                open.push(LayoutFrame { is_map: false, children: 0, column: None });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                open.pop();
            }
            Event::StreamEnd => break,
            _ => {}
        }
    }
    layout.tab_line = tab_line(text, &opaque);
    layout
}

struct LayoutFrame {
    is_map: bool,
    children: usize,
    /// The column of the first map among the values.
    column: Option<usize>,
}

impl LayoutFrame {
    fn advance(&mut self) {
        self.children += 1;
    }

    /// Whether the next child is the value of a key.
    fn is_value(&self) -> bool {
        self.is_map && self.children % 2 == 1
    }
}

fn tab_line(text: &str, opaque: &[Range<usize>]) -> Option<usize> {
    let mut opaque = opaque.iter().peekable();
    let mut line = 1;
    let mut in_comment = false;
    let mut after_blank = true;
    for (at, byte) in text.bytes().enumerate() {
        while opaque.next_if(|range| range.end <= at).is_some() {}
        let hidden = opaque.peek().is_some_and(|range| range.contains(&at));
        match byte {
            b'\n' => {
                line += 1;
                in_comment = false;
            }
            _ if hidden || in_comment => {}
            b'#' => in_comment = after_blank,
            b'\t' => return Some(line),
            _ => {}
        }
        after_blank = matches!(byte, b'\n' | b' ' | b'\t');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_stricter_dialect_refuses() {
        let lines = |text| {
            let YamlLayout { tag_line, uneven_line, tab_line } = layout(text);
            (tag_line, uneven_line, tab_line)
        };
        assert_eq!(lines("a: b\nc: |\n  x\ty\nd: \"x\ty\" # \t\n"), (None, None, None));
        assert_eq!(lines("a: b\nc: x\ty\n"), (None, None, Some(2)));
        assert_eq!(lines("a: b \t\n"), (None, None, Some(1)));
        assert_eq!(lines("a: b\nc: !!str d\n"), (Some(2), None, None));
        assert_eq!(lines("a:\n  b: c\nd:\n    e: f\n"), (None, Some(4), None));
        assert_eq!(lines("a:\n  b: c\nd:\n  e: f\n"), (None, None, None));
    }
}
