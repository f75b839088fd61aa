//! Facts: what a text does or asks for, each on its line, with role, polarity and destination.

use super::hosts::HostClass;
use super::inventory::ScannedFile;
use super::layers::Layer;
use super::polarity;
use super::role::Role;
use super::table::{Table, Trigger, Where};

/// Bytes of a line that one pattern sees around a literal; a command is shorter.
const LOOK_BACK: usize = 1024;
const LOOK_AHEAD: usize = 3072;
/// Facts of one pattern kept per section: more say nothing new.
const MAX_PER_SECTION: usize = 16;
/// Facts of one file; beyond this the file is a flood, which is reported.
const MAX_PER_FILE: usize = 4096;

/// The kind of a plain URL; the table gives it the first number.
pub(crate) const URL: u16 = 0;

/// One thing a text does or asks for.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub(crate) kind: u16,
    pub(crate) file: usize,
    /// Line of the original, from 0.
    pub(crate) line: usize,
    /// Number of the line among the non-blank ones.
    pub(crate) rank: u32,
    pub(crate) block: u32,
    pub(crate) section: u32,
    pub(crate) role: Role,
    pub(crate) code: bool,
    pub(crate) layer: usize,
    /// Line within the layer, so that two facts of one decoded line know each other.
    pub(crate) layer_line: usize,
    pub(crate) depth: u8,
    pub(crate) column: usize,
    pub(crate) class: Option<HostClass>,
    pub(crate) target: Option<Box<str>>,
    pub(crate) negated: bool,
    pub(crate) quoted: bool,
    /// Whether the match itself named its destination.
    pub(crate) resolved: bool,
}

/// How much expression work one skill may cost, in bytes looked at; a deterministic stand-in for
/// CPU time. Honest skills use a hundredth of it.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
}

impl Work {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { left: 16_000_000 + bytes }
    }

    fn spend(&mut self, bytes: usize) -> bool {
        self.left = self.left.saturating_sub(bytes as u64 + 64);
        self.left > 0
    }
}

/// Facts of one file, and whether there were too many.
#[derive(Debug, Default)]
pub(crate) struct Extracted {
    pub(crate) facts: Vec<Fact>,
    pub(crate) flooded: bool,
    /// The work budget ran out: the file was not seen in full.
    pub(crate) exhausted: bool,
    /// Lines to read again in rot13.
    pub(crate) rot13: Vec<usize>,
}

/// What facts are read from, and with which table.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) table: &'a Table,
    pub(crate) file: &'a ScannedFile,
    /// The file's number within the skill.
    pub(crate) number: usize,
    /// Hosts that the skill declares.
    pub(crate) declared: &'a [String],
}

/// Reads the facts of one layer of one file.
pub(crate) fn extract(
    from: &Source<'_>,
    layer_number: usize,
    work: &mut Work,
    out: &mut Extracted,
) {
    let Source { table, file, number, declared } = *from;
    let layer = &file.layers.list[layer_number];
    let text = layer.text.as_str();
    let mut cursor = Cursor::new(text);
    let mut seen_until = vec![(usize::MAX, 0usize); table.patterns.len()];
    let mut counts = vec![(u32::MAX, 0usize); table.patterns.len()];
    let mut last_url = usize::MAX;
    for hit in table.literals.find_overlapping_iter(text) {
        if out.facts.len() >= MAX_PER_FILE {
            out.flooded = true;
            return;
        }
        cursor.advance(hit.start());
        // A long line is seen through a window, so that its length never multiplies.
        let whole = &text[cursor.start..cursor.end];
        let view = window(whole, hit.start() - cursor.start);
        let shift = view.start;
        let is_whole = view.len() == whole.len();
        let line = &whole[view];
        let at = hit.start() - cursor.start - shift;
        for trigger in &table.triggers[hit.pattern().as_usize()] {
            match *trigger {
                Trigger::Url => {
                    if last_url == hit.start() {
                        continue;
                    }
                    last_url = hit.start();
                    if let Some(place) = table.hosts.place_at(line, at, declared) {
                        let column = at.saturating_sub(5);
                        let mut fact = base_fact(
                            file,
                            number,
                            layer_number,
                            layer,
                            cursor.line,
                            column + shift,
                        );
                        fact.kind = URL;
                        fact.class = Some(place.class);
                        fact.target = Some(place.url.into());
                        fact.negated = fact.negated || polarity::negates(line, column);
                        out.facts.push(fact);
                    }
                }
                Trigger::Host => {
                    let bare = !line[..at].ends_with(|c: char| {
                        c.is_alphanumeric() || matches!(c, '.' | '-' | '/' | '@')
                    });
                    if bare && !line[..at].ends_with("://") {
                        let end = line[at..]
                            .find(|c: char| {
                                c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | '>' | ',')
                            })
                            .map_or(line.len(), |e| at + e);
                        let place = &line[at..end];
                        let (host, path) = place.split_once('/').unwrap_or((place, ""));
                        let mut fact =
                            base_fact(file, number, layer_number, layer, cursor.line, at + shift);
                        fact.kind = URL;
                        fact.class = Some(table.hosts.classify(host, path, declared));
                        fact.target = Some(place.into());
                        fact.negated = fact.negated || polarity::negates(line, at);
                        out.facts.push(fact);
                    }
                }
                Trigger::Rot13 => {
                    if out.rot13.last() != Some(&cursor.line)
                        && out.rot13.len() < 256
                        && layer.depth == 0
                    {
                        out.rot13.push(cursor.line);
                    }
                }
                Trigger::Pattern(id) => {
                    let id = usize::from(id);
                    let (seen_line, until) = seen_until[id];
                    if seen_line == cursor.line && at + shift < until {
                        continue;
                    }
                    let pattern = &table.patterns[id];
                    let mut fact = base_fact(file, number, layer_number, layer, cursor.line, at);
                    if pattern.place == Where::Code && !fact.code && !has_code_mark(line)
                        || pattern.place == Where::Prose
                            && fact.code
                            && fact.role != Role::Frontmatter
                            && layer.depth == 0
                            && !is_prose_in_code(&fact)
                    {
                        seen_until[id] = (
                            cursor.line,
                            if is_whole { usize::MAX } else { at + shift + LOOK_AHEAD / 2 },
                        );
                        continue;
                    }
                    if !work.spend(line.len()) {
                        out.exhausted = true;
                        return;
                    }
                    seen_until[id] = (
                        cursor.line,
                        if is_whole { usize::MAX } else { at + shift + LOOK_AHEAD / 2 },
                    );
                    let mut own_class = None;
                    let matched = match pattern.regex() {
                        None if pattern.has_regex() => continue,
                        None => Some((at, at + hit.len(), None)),
                        Some(regex) => regex.captures(line.as_bytes()).and_then(|captures| {
                            let text = |found: regex::bytes::Match<'_>| {
                                String::from_utf8_lossy(found.as_bytes()).into_owned()
                            };
                            let whole = captures.get(0)?;
                            let target = captures.name("t").map(|t| base_name(&text(t)));
                            let host = captures.name("h").or_else(|| captures.name("h2"));
                            own_class =
                                host.map(|host| table.hosts.classify(&text(host), "", declared));
                            Some((whole.start(), whole.end(), target))
                        }),
                    };
                    let Some((start, end, target)) = matched else { continue };
                    if counts[id].0 != fact.section {
                        counts[id] = (fact.section, 0);
                    }
                    counts[id].1 += 1;
                    if counts[id].1 > MAX_PER_SECTION {
                        continue;
                    }
                    fact.kind = pattern.kind;
                    fact.column = start + shift;
                    fact.target = target;
                    fact.negated = fact.negated || polarity::negates(line, start);
                    if fact.code {
                        if polarity::is_pattern_literal(line, start, end) {
                            fact.role = Role::Pattern;
                        }
                    } else if (pattern.place == Where::Prose || pattern.speech)
                        && polarity::in_literal(line, start, end)
                        && fact.role != Role::Frontmatter
                    {
                        fact.quoted = true;
                    } else if fact.negated && polarity::in_literal(line, start, end) {
                        // Code within a sentence that forbids it is shown, not asked for.
                        fact.quoted = true;
                    }
                    // A destination is resolved once the whole file is known; mark it for that.
                    fact.class = own_class.or(pattern.net.then_some(HostClass::Loopback));
                    fact.resolved = own_class.is_some();
                    out.facts.push(fact);
                }
            }
        }
    }
}

/// Where a text names a place.
struct Place {
    layer: usize,
    layer_line: usize,
    line: usize,
    block: u32,
    rank: u32,
    quiet: bool,
    class: HostClass,
}

/// Gives every fact that goes over the network the worst place near it: on its line, within a dozen
/// lines, in its block, else anywhere in the code of its file.
pub(crate) fn resolve_places(facts: &mut [Fact]) {
    let places: Vec<Place> = facts
        .iter()
        .filter(|fact| fact.kind == URL)
        .filter_map(|fact| {
            Some(Place {
                layer: fact.layer,
                layer_line: fact.layer_line,
                line: fact.line,
                block: fact.block,
                rank: fact.rank,
                quiet: fact.role == Role::Comment,
                class: fact.class?,
            })
        })
        .collect();
    let waits = |fact: &Fact| fact.kind != URL && fact.class.is_some() && !fact.resolved;
    for fact in facts.iter_mut().filter(|fact| waits(fact)) {
        let worst = |test: &dyn Fn(&Place) -> bool| {
            places.iter().filter(|place| test(place)).map(|place| place.class).max()
        };
        fact.class = worst(&|p| p.layer == fact.layer && p.layer_line == fact.layer_line)
            .or_else(|| worst(&|p| p.line == fact.line))
            .or_else(|| worst(&|p| p.rank.abs_diff(fact.rank) <= 12 && !p.quiet))
            .or_else(|| worst(&|p| p.block == fact.block && fact.block != 0))
            .or_else(|| if fact.code { worst(&|p| !p.quiet) } else { None });
    }
}

fn base_fact(
    file: &ScannedFile,
    number: usize,
    layer_number: usize,
    layer: &Layer,
    layer_line: usize,
    column: usize,
) -> Fact {
    let line = layer.origin(layer_line);
    let span = file.span_at(line);
    let context = file.contexts.get(line).copied().unwrap_or_default();
    let role = if span.code && context.comment && span.role != Role::Frontmatter {
        Role::Comment
    } else if span.code && context.pattern {
        Role::Pattern
    } else {
        span.role
    };
    Fact {
        kind: 0,
        file: number,
        line,
        rank: file.ranks.get(line).copied().unwrap_or(0),
        block: span.block,
        section: span.section,
        role,
        code: span.code,
        layer: layer_number,
        layer_line,
        depth: layer.depth,
        column,
        class: None,
        target: None,
        negated: context.negated,
        quoted: matches!(role, Role::Quoted),
        resolved: false,
    }
}

/// Prose that stands in a fence: prompts are often shown that way, and comments speak too.
fn is_prose_in_code(fact: &Fact) -> bool {
    matches!(fact.role, Role::Code | Role::Comment | Role::Pattern)
}

/// Inline code makes a command of a line of prose; so does a shell's own punctuation.
fn has_code_mark(line: &str) -> bool {
    line.contains('`')
        || line.contains("$ ")
        || line.contains(" | ")
        || line.contains("://")
        || line.contains("~/")
}

fn window(line: &str, at: usize) -> std::ops::Range<usize> {
    if line.len() <= LOOK_BACK + LOOK_AHEAD {
        return 0..line.len();
    }
    let mut start = at.saturating_sub(LOOK_BACK);
    let mut end = (at + LOOK_AHEAD).min(line.len());
    while !line.is_char_boundary(start) {
        start -= 1;
    }
    while !line.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

fn base_name(path: &str) -> Box<str> {
    let path = path.trim_matches(['"', '\'', '`', '(', ')', ',', ';']);
    path.rsplit(['/', '\\']).next().unwrap_or(path).split(['?', '#']).next().unwrap_or("").into()
}

/// Walks the lines of a text forward.
struct Cursor<'a> {
    text: &'a str,
    line: usize,
    start: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        let end = text.find('\n').unwrap_or(text.len());
        Self { text, line: 0, start: 0, end }
    }

    fn advance(&mut self, at: usize) {
        while at > self.end {
            self.start = self.end + 1;
            self.end =
                self.text[self.start..].find('\n').map_or(self.text.len(), |i| self.start + i);
            self.line += 1;
        }
    }
}
