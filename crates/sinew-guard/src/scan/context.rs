//! Context: what the surrounding lines say about a line: a heading that forbids, a list of
//! patterns, a comment.

use memchr::memchr2;

use super::lines::TextLines;
use super::polarity::negator_governs;
use super::role::{RoleSpan, TextRole};

/// What surrounds a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineContext {
    /// Below a heading or an introduction that forbids it.
    pub(crate) negated: bool,
    /// In a list of patterns.
    pub(crate) pattern: bool,
    /// A comment or docstring of code.
    pub(crate) comment: bool,
}

/// Headings of sections that show what not to do.
fn is_negative_heading(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "anti-pattern",
        "antipattern",
        "bad ",
        "red flag",
        "forbidden",
        "prohibited",
        "what not",
        "not allowed",
        "❌",
        "wrong",
        "deny list",
        "denylist",
        "blocklist",
        "blocked",
        "insecure",
        "vulnerable",
        "out of scope",
    ];
    // An order in a heading says what not to do; "Never miss an update" is not one.
    const ORDERS: &[&str] = &["don't", "do not", "never", "avoid"];
    const DEEDS: &[&str] = &[
        "run", "use", "using", "do", "execute", "commit", "write", "try", "install", "paste",
        "copy", "trust", "call", "share", "expose", "log", "store", "put", "include", "send",
        "hard", "this", "these", "touch", "edit", "modify", "allow", "accept", "follow",
    ];
    let line = line.trim_end_matches([':', '*', '.', '!', ' ']);
    let forbids = |order: &str| {
        line.match_indices(order).any(|(at, _)| {
            let next = line[at + order.len()..].trim_start_matches([' ', ':', '*', '-']);
            next.is_empty() || DEEDS.iter().any(|deed| next.starts_with(deed))
        })
    };
    WORDS.iter().any(|word| line.contains(word)) || ORDERS.iter().any(|order| forbids(order))
}

/// Headings of lists that show what attacks look like: they name both the attack and the list. Only
/// items and rows below them are excused, never a block of code.
fn is_catalogue_heading(line: &str) -> bool {
    const THREATS: &[&str] = &["attack", "injection", "malicious", "malware", "threat", "exploit"];
    const LISTS: &[&str] = &["pattern", "example", "indicator", "catalog", "detect", "signature"];
    THREATS.iter().any(|word| line.contains(word)) && LISTS.iter().any(|word| line.contains(word))
}

fn is_bad_comment(line: &str) -> bool {
    const WORDS: &[&str] =
        &["bad", "wrong", "vulnerable", "insecure", "don't", "never", "unsafe", "avoid", "❌"];
    let text = line.trim_start_matches(['#', '/', '*', '-', ' ']);
    WORDS.iter().any(|word| text.starts_with(word))
}

fn opens_pattern_list(line: &str) -> bool {
    const NAMES: &[&str] = &[
        "deny",
        "block",
        "pattern",
        "signature",
        "ioc",
        "rule",
        "malicious",
        "suspicious",
        "dangerous",
        "forbidden",
        "blacklist",
        "indicator",
        "risky",
        "sensitive",
        "detect",
        "regex",
        "keyword",
    ];
    let Some(at) = memchr2(b'=', b':', line.as_bytes()) else { return false };
    let (name, value) = line.split_at(at);
    let value = value[1..].trim_start_matches(['=', ' ', '>']);
    let opens = value.starts_with(['[', '{', '('])
        || value.is_empty() && line.ends_with(':')
        || value.starts_with("new set(")
        || value.starts_with("re.compile")
        || value.starts_with("frozenset");
    opens && name.len() < 80 && NAMES.iter().any(|word| name.contains(word))
}

/// The context of every line, stored only where it changes.
#[derive(Debug, Default)]
pub(crate) struct LineContextMap {
    changes: Vec<(usize, LineContext)>,
}

impl LineContextMap {
    /// Reads folded text in one pass.
    pub(crate) fn new(text: &str, spans: &[RoleSpan]) -> Self {
        let mut contexts = Self::default();
        let mut reader = ContextReader::default();
        let mut span_at = 0;
        for (number, line) in TextLines::new(text).enumerate() {
            while span_at + 1 < spans.len() && spans[span_at].lines.end <= number {
                span_at += 1;
            }
            let Some(span) = spans.get(span_at) else { break };
            let context = reader.read(number, line, span);
            let last = contexts.changes.last().map_or(LineContext::default(), |(_, last)| *last);
            if context != last {
                contexts.changes.push((number, context));
            }
        }
        contexts
    }

    /// The context of a line.
    pub(crate) fn at(&self, line: usize) -> LineContext {
        let after = self.changes.partition_point(|(from, _)| *from <= line);
        after.checked_sub(1).map_or(LineContext::default(), |at| self.changes[at].1)
    }
}

/// The state carried from one line to the next.
#[derive(Debug, Default)]
struct ContextReader {
    heading: bool,
    /// Below a heading that says that attacks are listed, or below a part of that list.
    catalogue: bool,
    intro: bool,
    in_docstring: bool,
    bad_comment: bool,
    /// Depth of the brackets of a list of patterns, and the line it started on.
    list: Option<(i32, usize)>,
    previous_block: Option<u32>,
}

impl ContextReader {
    fn read(&mut self, number: usize, line: &str, span: &RoleSpan) -> LineContext {
        let trimmed = trim(line);
        let mut context = LineContext::default();
        if span.code {
            if self.previous_block != Some(span.block) {
                self.in_docstring = false;
                self.bad_comment = false;
                self.list = None;
            }
            if span.role != TextRole::Frontmatter {
                self.code(trimmed, number, &mut context);
                context.negated |= self.heading || self.intro || self.bad_comment;
            }
        } else if let Some(first) = trimmed.bytes().next() {
            if first == b'#' {
                self.heading = is_negative_heading(trimmed);
                // A catalogue's parts may have headings of their own.
                let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
                let is_part = self.catalogue && level > 1;
                self.catalogue = is_part || is_catalogue_heading(trimmed);
                self.intro = false;
                context.negated = self.heading;
            } else {
                let item = matches!(first, b'-' | b'*' | b'+' | b'|' | b'>' | b'0'..=b'9');
                self.intro &= item;
                context.negated = self.heading || self.intro;
                context.negated |= self.catalogue && item;
                if trimmed.ends_with(':') || trimmed.ends_with(":**") {
                    self.intro = negator_governs(trimmed) || is_negative_heading(trimmed);
                } else if trimmed.len() < 80 && !trimmed.is_ascii() && trimmed.contains('❌') {
                    self.intro = true;
                }
            }
        }
        self.previous_block = Some(span.block);
        context
    }

    fn code(&mut self, line: &str, number: usize, context: &mut LineContext) {
        let quotes = match memchr2(b'"', b'\'', line.as_bytes()) {
            Some(_) => line.matches("\"\"\"").count() + line.matches("'''").count(),
            None => 0,
        };
        let comment = line.starts_with('#') && !line.starts_with("#!")
            || line.starts_with("//")
            || line.starts_with("/*")
            || line.starts_with("* ")
            || line.starts_with("<!--")
            || line.starts_with("rem ");
        context.comment =
            comment || self.in_docstring || quotes > 0 && line.starts_with(['"', '\'']);
        if quotes % 2 == 1 {
            self.in_docstring = !self.in_docstring;
        }
        if line.is_empty() {
            self.bad_comment = false;
        } else if comment {
            self.bad_comment = is_bad_comment(line);
        }
        // A list of patterns lasts until its bracket closes; an unclosed one ends after a limit.
        match &mut self.list {
            Some((depth, since)) => {
                context.pattern = true;
                *depth += brackets(line);
                if *depth <= 0 || number - *since > 200 {
                    self.list = None;
                }
            }
            None if opens_pattern_list(line) => {
                context.pattern = true;
                let depth = brackets(line);
                if depth > 0 {
                    self.list = Some((depth, number));
                }
            }
            None => {}
        }
    }
}

/// Brackets that a line opens minus those it closes.
fn brackets(line: &str) -> i32 {
    line.bytes().fold(0, |depth, b| match b {
        b'[' | b'{' | b'(' => depth + 1,
        b']' | b'}' | b')' => depth - 1,
        _ => depth,
    })
}

/// A `trim` that is fast for lines that do not need it.
fn trim(line: &str) -> &str {
    let ends = (line.as_bytes().first(), line.as_bytes().last());
    match ends {
        (Some(first), Some(last)) if first.is_ascii_graphic() && last.is_ascii_graphic() => line,
        _ => line.trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_forbid_deeds_and_not_misfortunes() {
        for heading in
            ["## never run these", "## commands to avoid", "## what not to do", "## do not:"]
        {
            assert!(is_negative_heading(heading), "{heading}");
        }
        for heading in ["## never miss an update", "## avoid broken installs", "## setup"] {
            assert!(!is_negative_heading(heading), "{heading}");
        }
    }
}
