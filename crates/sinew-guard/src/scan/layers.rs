//! Layers: every reading of a file's text, from the plain one to what five levels of decoding
//! reveal.

use memchr::memchr_iter;

use super::decode::{self, DecodeBudget};
use super::fold::{self, FoldedText};
use super::lines::{LineIndex, wraps};
use super::prose_markup;
use super::role::RoleSpan;
use super::string_assembly::AssembledLines;

/// One reading of a text, folded.
#[derive(Debug)]
pub(crate) struct TextLayer {
    pub(crate) text: String,
    /// 0 for the text itself and its rewritten lines, 1 and more for decoded text.
    pub(crate) depth: u8,
    pub(crate) codec: &'static str,
    /// The decoded text before folding, for display.
    pub(crate) display: Option<String>,
    map: LineMap,
}

#[derive(Debug)]
enum LineMap {
    Same,
    /// The whole layer maps to one position: line and column.
    Fixed(usize, usize),
    Table(Vec<usize>),
}

impl TextLayer {
    /// The line of the original that line `line` of this layer maps to.
    pub(crate) fn original_line(&self, line: usize) -> usize {
        match &self.map {
            LineMap::Same => line,
            LineMap::Fixed(origin, _) => *origin,
            LineMap::Table(lines) => lines.get(line).copied().unwrap_or(0),
        }
    }

    /// The column of the original that a column of this layer maps to, and how many lines further
    /// down it counts, because decoded text has its own length.
    pub(crate) fn original_position(&self, column: usize) -> (usize, u32) {
        match &self.map {
            LineMap::Fixed(_, origin) => (*origin, wraps(column, column)),
            LineMap::Same | LineMap::Table(_) => (column, 0),
        }
    }

    /// Lines of the original, read in another way.
    pub(crate) fn of_lines(lines: Vec<(usize, String)>, depth: u8, codec: &'static str) -> Self {
        let mut text = String::new();
        let mut map = Vec::with_capacity(lines.len());
        for (number, line) in lines {
            text.push_str(&line.replace('\n', " "));
            text.push('\n');
            map.push(number);
        }
        text.pop();
        Self { text, depth, codec, display: None, map: LineMap::Table(map) }
    }
}

/// All readings of one file.
#[derive(Debug)]
pub(crate) struct FileLayers {
    pub(crate) list: Vec<TextLayer>,
    /// Oddities that folding noticed in the text itself.
    pub(crate) odd: FoldedText,
    /// Binary payloads that a decoder produced: line and bytes.
    pub(crate) payloads: Vec<(usize, Vec<u8>)>,
    /// The longest run that was decoded on each line: the raw material of obfuscation.
    pub(crate) decoded_lines: Vec<(usize, &'static str, usize)>,
}

impl FileLayers {
    /// What was decoded from a line, the outermost first.
    pub(crate) fn revealed_on(&self, line: usize) -> Option<&str> {
        let from_line = |layer: &&TextLayer| {
            layer.depth > 0 && matches!(layer.map, LineMap::Fixed(origin, _) if origin == line)
        };
        self.list.iter().filter(from_line).find_map(|layer| layer.display.as_deref())
    }
}

/// Builds the layers of one file.
pub(crate) fn build(
    text: &str,
    index: &LineIndex,
    spans: &[RoleSpan],
    file: usize,
    budget: &mut DecodeBudget,
) -> FileLayers {
    let mut odd = fold::fold(text);
    let plain = std::mem::take(&mut odd.text);
    let mut layers =
        FileLayers { list: Vec::new(), odd, payloads: Vec::new(), decoded_lines: Vec::new() };
    let mut assembled = rewrite(&plain, spans);
    prose_markup::read(&plain, spans, &mut assembled.lines);
    layers.list.push(TextLayer {
        text: plain,
        depth: 0,
        codec: "",
        display: None,
        map: LineMap::Same,
    });
    if assembled.is_cut {
        budget.exhausted.get_or_insert((file, 0));
    }
    if !assembled.lines.is_empty() {
        layers.list.push(TextLayer::of_lines(assembled.lines, 0, "assembled"));
    }
    for (line, hidden) in std::mem::take(&mut layers.odd.tags) {
        let text = fold::fold(&hidden).text;
        layers.list.push(TextLayer {
            text,
            depth: 1,
            codec: "tag-characters",
            display: Some(hidden),
            map: LineMap::Fixed(line, 0),
        });
    }
    let place_of = |at: usize| {
        let line = index.line_of(text, at);
        (line, at - index.start(text, line))
    };
    reveal(text, &place_of, 1, file, budget, &mut layers);
    layers
}

/// Lines of code that read differently once their strings are assembled.
fn rewrite(plain: &str, spans: &[RoleSpan]) -> AssembledLines {
    let mut assembled = AssembledLines::default();
    if !plain.contains('`') && !spans.iter().any(|span| span.code) {
        return assembled;
    }
    let mut start = 0;
    for (number, span) in spans.iter().enumerate() {
        // The last span goes to the end, so its lines need not be counted.
        let last = span.lines.len().checked_sub(1).filter(|_| number + 1 < spans.len());
        let end = last.and_then(|last| memchr_iter(b'\n', &plain.as_bytes()[start..]).nth(last));
        let end = end.map_or(plain.len(), |length| start + length + 1);
        assembled.read(&plain[start..end], span.lines.start, span.code);
        start = end;
    }
    assembled
}

fn reveal(
    text: &str,
    place_of: &dyn Fn(usize) -> (usize, usize),
    depth: u8,
    file: usize,
    budget: &mut DecodeBudget,
    layers: &mut FileLayers,
) {
    if depth > decode::MAX_DEPTH {
        budget.exhausted.get_or_insert((file, place_of(0).0));
        return;
    }
    for decoded in decode::find(text) {
        let (line, column) = place_of(decoded.at);
        if decoded.cut {
            budget.exhausted.get_or_insert((file, line));
        }
        if !budget.take(decoded.bytes.len(), file, line) {
            return;
        }
        layers.decoded_lines.push((line, decoded.codec, decoded.bytes.len()));
        let display = if decode::is_utf16_ascii(&decoded.bytes) {
            decoded.bytes.iter().step_by(2).map(|b| *b as char).collect()
        } else if decode::is_text(&decoded.bytes) {
            String::from_utf8_lossy(&decoded.bytes).into_owned()
        } else {
            layers.payloads.push((line, decoded.bytes));
            continue;
        };
        let folded = fold::fold(&display).text;
        let mut assembled = AssembledLines::default();
        assembled.read(&folded, 0, true);
        layers.list.push(TextLayer {
            text: folded,
            depth,
            codec: decoded.codec,
            display: Some(display.clone()),
            map: LineMap::Fixed(line, column),
        });
        if !assembled.lines.is_empty() {
            let mut layer = TextLayer::of_lines(assembled.lines, depth, "assembled");
            layer.map = LineMap::Fixed(line, column);
            layers.list.push(layer);
        }
        // Escapes are decoded in place: the rest of the line was already scanned.
        if decoded.codec != "escapes" || depth == 1 {
            reveal(&display, &|_| (line, column), depth + 1, file, budget, layers);
        }
    }
}
