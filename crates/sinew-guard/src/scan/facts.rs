//! Facts: what a text does or asks for, each with its line, role, polarity and destination.

use std::collections::{BTreeMap, BTreeSet};

use super::hosts::{HostClass, OwnHosts};
use super::inventory::ScannedFile;
use super::layers::TextLayer;
use super::lines::{LineCursor, LineRanks, floor_char_boundary, next_where};
use super::pattern::{FactPattern, MatchAttempt, MatchZone, START, WorkBudget};
use super::polarity;
use super::quoting;
use super::role::TextRole;
use super::table::{LiteralTrigger, RuleTable, TriggerWords};

/// Bytes of a line that one pattern examines around a literal; a command is shorter.
const LOOK_BACK: usize = 1024;
const LOOK_AHEAD: usize = 3072;
/// The number of facts of one skill; an honest one has a few hundred. Beyond this, hosts that no
/// fact refers to are dropped, and a file that still has too many facts is not judged.
pub(crate) const MAX_FACTS: usize = 40_000;

/// The fact kind of a plain URL, always number 0 in the table.
pub(crate) const URL: u16 = 0;

/// One thing a text does or asks for.
#[derive(Debug, Clone)]
pub(crate) struct ScanFact {
    pub(crate) kind: u16,
    pub(crate) file: usize,
    /// Line of the original, from 0.
    pub(crate) line: usize,
    /// Position of the line among the non-blank ones.
    pub(crate) rank: u32,
    pub(crate) block: u32,
    pub(crate) section: u32,
    pub(crate) role: TextRole,
    pub(crate) code: bool,
    pub(crate) layer: usize,
    /// Line within the layer, so that facts of one decoded line can be related.
    pub(crate) layer_line: usize,
    pub(crate) depth: u8,
    pub(crate) column: usize,
    pub(crate) class: Option<HostClass>,
    pub(crate) target: Option<Box<str>>,
    pub(crate) negated: bool,
    pub(crate) quoted: bool,
    /// Whether the match itself named its destination.
    pub(crate) resolved: bool,
    /// Whether, in prose, its host must be on the same line.
    pub(crate) here: bool,
    /// Whether it is a secret that belongs to a host named in the file.
    pub(crate) own: bool,
    /// Whether its file is a program.
    pub(crate) script: bool,
}

/// Facts of one file, and whether there were too many.
#[derive(Debug, Default)]
pub(crate) struct ExtractedFacts {
    pub(crate) facts: Vec<ScanFact>,
    /// There was too much work or there were too many facts: the file was not scanned completely.
    pub(crate) exhausted: bool,
    /// Lines to scan again as rot13.
    pub(crate) rot13: Vec<usize>,
}

/// What facts are extracted from, and with which table.
#[derive(Clone, Copy)]
pub(crate) struct FactSource<'a> {
    pub(crate) table: &'a RuleTable,
    pub(crate) file: &'a ScannedFile,
    /// The file's number within the skill.
    pub(crate) number: usize,
    /// The hosts that are the skill's own.
    pub(crate) declared: &'a OwnHosts,
}

/// Extracts the facts of one layer of one file.
pub(crate) fn extract(
    from: &FactSource<'_>,
    layer_number: usize,
    work: &mut WorkBudget,
    out: &mut ExtractedFacts,
) {
    let table = from.table;
    let layer = &from.file.layers.list[layer_number];
    let mut reading = LayerReader {
        from: *from,
        layer,
        layer_number,
        base: None,
        seen_until: vec![(usize::MAX, 0usize); table.patterns.len()],
    };
    reading.words(&table.plain, work, out);
    if !layer.text.is_ascii() {
        reading.words(&table.foreign, work, out);
    }
}

/// A literal within its line, or within the examined part of a long line.
struct LiteralView<'a> {
    line: &'a str,
    /// The position of the literal.
    at: usize,
    /// Bytes of the line before the part.
    shift: usize,
    is_whole: bool,
}

/// The state while one layer is read.
struct LayerReader<'a> {
    from: FactSource<'a>,
    layer: &'a TextLayer,
    layer_number: usize,
    /// What all facts of the current line have in common.
    base: Option<ScanFact>,
    /// For each pattern, the line it was last tried on, and up to which column.
    seen_until: Vec<(usize, usize)>,
}

impl LayerReader<'_> {
    /// Extracts the facts that these words trigger.
    fn words(&mut self, words: &TriggerWords, work: &mut WorkBudget, out: &mut ExtractedFacts) {
        let layer = self.layer;
        let text = layer.text.as_str();
        let mut cursor = LineCursor::new(text);
        let mut last_url = usize::MAX;
        for hit in words.literals.hits(text) {
            if out.facts.len() >= MAX_FACTS {
                rank(&mut out.facts, self.from.file);
                forget_idle_places(&mut out.facts);
            }
            if work.is_spent() || out.facts.len() >= MAX_FACTS {
                out.exhausted = true;
                return;
            }
            cursor.advance(hit.start);
            // A long line is examined through a window, so that its length does not multiply the
            // cost.
            let whole = &text[cursor.start..cursor.end];
            let range = window(whole, hit.start - cursor.start);
            let view = LiteralView {
                line: &whole[range.clone()],
                at: hit.start - cursor.start - range.start,
                shift: range.start,
                is_whole: range.len() == whole.len(),
            };
            for trigger in &words.triggers[hit.word] {
                match *trigger {
                    LiteralTrigger::Url => {
                        if last_url != hit.start {
                            last_url = hit.start;
                            out.facts.extend(self.url(cursor.line, &view, work));
                        }
                    }
                    LiteralTrigger::Host => out.facts.extend(self.bare_host(cursor.line, &view)),
                    LiteralTrigger::Rot13 => {
                        if out.rot13.last() != Some(&cursor.line)
                            && out.rot13.len() < 256
                            && layer.depth == 0
                        {
                            out.rot13.push(cursor.line);
                        }
                    }
                    LiteralTrigger::Pattern(id, word) => {
                        let id = usize::from(id);
                        out.facts.extend(self.pattern(id, word, cursor.line, &view, work));
                    }
                }
            }
        }
    }

    /// What all facts of a line have in common.
    fn base(&mut self, line: usize) -> &ScanFact {
        if self.base.as_ref().is_none_or(|base| base.layer_line != line) {
            self.base = None;
        }
        let FactSource { file, number, .. } = self.from;
        let (layer, layer_number) = (self.layer, self.layer_number);
        self.base.get_or_insert_with(|| base_fact(file, number, layer_number, layer, line))
    }

    fn url(
        &mut self,
        line: usize,
        view: &LiteralView<'_>,
        work: &mut WorkBudget,
    ) -> Option<ScanFact> {
        let FactSource { table, declared, .. } = self.from;
        let place = table.hosts.mention_at(view.line, view.at, declared)?;
        work.spend(2 * START + place.url.len());
        let column = view.at.saturating_sub(5);
        let mut fact = self.base(line).clone();
        fact.column = column + view.shift;
        fact.kind = URL;
        fact.class = Some(place.class);
        fact.target = Some(place.url.into());
        fact.negated = fact.negated || polarity::negates(view.line, column);
        Some(fact)
    }

    /// A host named without a scheme.
    fn bare_host(&mut self, line: usize, view: &LiteralView<'_>) -> Option<ScanFact> {
        let FactSource { table, declared, .. } = self.from;
        let before = &view.line[..view.at];
        if before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '/' | '@'))
            || before.ends_with("://")
        {
            return None;
        }
        let rest = &view.line[view.at..];
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | '>' | ','))
            .unwrap_or(rest.len());
        let place = &rest[..end];
        let (host, path) = place.split_once('/').unwrap_or((place, ""));
        let mut fact = self.base(line).clone();
        fact.column = view.at + view.shift;
        fact.kind = URL;
        fact.class = Some(table.hosts.classify(host, path, declared));
        fact.target = Some(place.into());
        fact.negated = fact.negated || polarity::negates(view.line, view.at);
        Some(fact)
    }

    fn pattern(
        &mut self,
        id: usize,
        word: u16,
        line: usize,
        view: &LiteralView<'_>,
        work: &mut WorkBudget,
    ) -> Option<ScanFact> {
        let at = view.at + view.shift;
        let (seen_line, until) = self.seen_until[id];
        if seen_line == line && at < until {
            return None;
        }
        let FactSource { table, declared, .. } = self.from;
        let pattern = &table.patterns[id];
        let until = if view.is_whole { usize::MAX } else { at + LOOK_AHEAD / 2 };
        if !self.is_at_home(pattern, line, view) {
            self.seen_until[id] = (line, until);
            return None;
        }
        let seen = match pattern.try_match(view.line, view.at, word, work) {
            MatchAttempt::Match(seen) => seen,
            MatchAttempt::NotHere => return None,
            MatchAttempt::Nowhere => {
                self.seen_until[id] = (line, until);
                return None;
            }
        };
        self.seen_until[id] = (line, until);
        let command = quoting::command_around(view.line, seen.start, seen.end);
        if pattern.is_excused(command) {
            return None;
        }
        let mut fact = self.base(line).clone();
        fact.kind = pattern.kind;
        fact.column = seen.start + view.shift;
        fact.target = seen.target.map(base_name);
        fact.negated = fact.negated || polarity::negates(view.line, seen.start);
        let quoted = || quoting::in_literal(view.line, seen.start, seen.end);
        // A defanged address is evidence: nothing fetches it.
        fact.quoted |= command.contains("hxxp") && !command.contains("http");
        let (before, after) = (view.line.get(..seen.start), view.line.get(seen.end..));
        if pattern.is_about_others(before.unwrap_or(""), after.unwrap_or("")) {
            fact.negated = true;
            fact.quoted = true;
        }
        if fact.code {
            if quoting::is_pattern_literal(view.line, seen.start, seen.end) {
                fact.role = TextRole::Pattern;
            }
            // Words that were assembled first are not a quotation.
            let plain = self.layer_number == 0 && fact.role != TextRole::Frontmatter;
            fact.quoted |= pattern.speech && plain && quoted();
        } else if (pattern.place == MatchZone::Prose || pattern.speech)
            && fact.role != TextRole::Frontmatter
            && quoted()
        {
            fact.quoted = true;
        } else if fact.negated && quoted() {
            // Code within a sentence that forbids it is shown, not requested.
            fact.quoted = true;
        }
        // The destination is resolved once the whole file is known; mark it for that.
        let own = seen.host.map(|host| table.hosts.classify(host, "", declared));
        fact.class = own.or(pattern.net.then_some(HostClass::Loopback));
        fact.resolved = own.is_some();
        fact.here = pattern.here;
        Some(fact)
    }

    /// Whether the line is of the kind that the pattern applies to.
    fn is_at_home(&mut self, pattern: &FactPattern, line: usize, view: &LiteralView<'_>) -> bool {
        let decoded = self.layer.depth > 0;
        match pattern.place {
            MatchZone::Any => true,
            MatchZone::Code => {
                let fact = self.base(line);
                fact.code && fact.role != TextRole::Frontmatter || has_code_mark(view.line)
            }
            MatchZone::Prose => {
                let fact = self.base(line);
                !fact.code
                    || fact.role == TextRole::Frontmatter
                    || decoded
                    || is_prose_in_code(fact)
            }
        }
    }
}

/// The hosts that a file names, in order of lines.
struct FileHosts<'a> {
    all: Vec<(&'a ScanFact, HostClass)>,
    by_block: BTreeMap<u32, HostClass>,
    /// The worst class, comments excluded.
    worst: Option<HostClass>,
}

impl<'a> FileHosts<'a> {
    fn new(urls: impl Iterator<Item = &'a ScanFact>) -> Self {
        let mut places = Self { all: Vec::new(), by_block: BTreeMap::new(), worst: None };
        for (fact, class) in urls.filter_map(|fact| Some((fact, fact.class?))) {
            let last =
                places.all.last().is_some_and(|(last, c)| last.block == fact.block && *c == class);
            if fact.block != 0 && !last {
                let worst = places.by_block.entry(fact.block).or_insert(class);
                *worst = class.max(*worst);
            }
            if fact.role != TextRole::Comment {
                places.worst = places.worst.max(Some(class));
            }
            places.all.push((fact, class));
        }
        places
    }

    /// The worst host near a fact: on its line, within a dozen lines, in its block, or else
    /// anywhere in the code of its file. Prose must name the host on the same line.
    fn near(&self, fact: &ScanFact) -> Option<HostClass> {
        let from = self.all.partition_point(|(place, _)| place.rank + NEAR < fact.rank);
        let to = self.all.partition_point(|(place, _)| place.rank <= fact.rank + NEAR);
        let worst = |test: &dyn Fn(&ScanFact) -> bool| {
            let fitting = self.all[from..to].iter().filter(|(place, _)| test(place));
            fitting.map(|(_, class)| *class).max()
        };
        let here = worst(&|place| place.layer == fact.layer && place.layer_line == fact.layer_line)
            .or_else(|| worst(&|place| place.line == fact.line));
        if fact.here && !fact.code {
            return here;
        }
        here.or_else(|| worst(&|place| place.role != TextRole::Comment))
            .or_else(|| self.by_block.get(&fact.block).copied())
            .or(if fact.code { self.worst } else { None })
    }

    /// The host that a fact names on its line, or else the one that stands nearest to it.
    fn beside(&self, fact: &ScanFact) -> Option<&'a ScanFact> {
        let from = self.all.partition_point(|(place, _)| place.rank + NEAR < fact.rank);
        let to = self.all.partition_point(|(place, _)| place.rank <= fact.rank + NEAR);
        let near = self.all[from..to].iter().map(|(place, _)| *place);
        // Of several on one line the worst counts.
        near.min_by_key(|place| (place.line.abs_diff(fact.line), std::cmp::Reverse(place.class)))
    }
}

/// Whether a secret is the own one of the host beside it: `ACME_API_KEY` of `api.acme.io`, under the
/// name by which the host is registered, or a variable that the skill declares, at a host that it
/// declares. No declaration makes a known vendor's key a skill's own.
fn is_own_key(secret: &str, place: &ScanFact, declared: &OwnHosts) -> bool {
    let url = place.target.as_deref().unwrap_or("");
    let host = url.split("://").nth(1).unwrap_or(url);
    let host = host.split(['/', ':', '?']).next().unwrap_or("");
    let name = super::metadata::registrable(host).split('.').next().unwrap_or("");
    let is_vendors = super::program::is_vendors_key(&secret.to_ascii_uppercase());
    // A name such as `API_KEY` says of no vendor that it is his.
    let is_declared = declared.keys.iter().any(|key| key == secret) || is_generic(secret);
    let is_own_place = place.class.is_some_and(|class| class <= HostClass::Declared);
    is_home_of(&BTreeSet::from([name]), secret) || is_declared && is_own_place && !is_vendors
}

fn is_generic(secret: &str) -> bool {
    secret.split('_').all(|word| word.len() < 4 || COMMON.contains(&word))
}

/// Words of variables that name no one.
const COMMON: &[&str] = &[
    "access", "admin", "auth", "client", "database", "default", "login", "main", "password",
    "private", "secret", "token", "user", "webhook",
];

/// Whether a secret is named after one of the hosts: `ACME_API_KEY` belongs to `api.acme.io`.
fn is_home_of(labels: &BTreeSet<&str>, secret: &str) -> bool {
    let mut words = secret.split('_').filter(|word| word.len() >= 4 && !COMMON.contains(word));
    words.any(|word| labels.contains(word))
}

/// Lines within which a host belongs to a network access.
const NEAR: u32 = 12;

/// Sets each fact's line rank, and sorts the facts by it.
pub(crate) fn rank(facts: &mut [ScanFact], file: &ScannedFile) {
    facts.sort_by_key(|fact| fact.line);
    let mut ranks = LineRanks::new(file.plain());
    for fact in facts.iter_mut() {
        let (column, within) = file.layers.list[fact.layer].original_position(fact.column);
        fact.rank = ranks.at(fact.line, column) + within;
    }
    facts.sort_by_key(|fact| (fact.line, fact.rank, fact.layer, fact.layer_line));
}

/// Drops hosts of one file that no fact nearby refers to, unless they matter by themselves. The
/// facts are sorted by rank.
pub(crate) fn forget_idle_places(facts: &mut Vec<ScanFact>) {
    let others: Vec<u32> =
        facts.iter().filter(|fact| fact.kind != URL).map(|fact| fact.rank).collect();
    let mut seen: BTreeSet<Option<HostClass>> = BTreeSet::new();
    facts.retain(|fact| {
        let next = others.partition_point(|rank| *rank + NEAR < fact.rank);
        let near = others.get(next).is_some_and(|rank| *rank <= fact.rank + NEAR);
        fact.kind != URL
            || near
            || fact.class >= Some(HostClass::Shortener)
            || seen.insert(fact.class)
    });
}

/// Gives every fact that uses the network the worst host near it, and marks every secret that
/// belongs to a host named in the file.
pub(crate) fn resolve_places(facts: &mut [ScanFact], table: &RuleTable, declared: &OwnHosts) {
    let secret = table.kind("env-secret");
    let waits = |fact: &ScanFact| {
        fact.kind != URL && (fact.class.is_some() && !fact.resolved || Some(fact.kind) == secret)
    };
    if !facts.iter().any(waits) {
        return;
    }
    let places = FileHosts::new(facts.iter().filter(|fact| fact.kind == URL));
    let answers: Vec<(Option<HostClass>, bool)> = facts
        .iter()
        .filter(|fact| waits(fact))
        .map(|fact| {
            let name = fact.target.as_deref().filter(|_| Some(fact.kind) == secret);
            let class = if fact.class.is_some() { places.near(fact) } else { None };
            let at_home = |name: &str| {
                let name = name.to_ascii_lowercase();
                places.beside(fact).is_some_and(|place| is_own_key(&name, place, declared))
            };
            (class, name.is_some_and(at_home))
        })
        .collect();
    for (fact, (class, own)) in facts.iter_mut().filter(|fact| waits(fact)).zip(answers) {
        fact.class = class;
        fact.own = own;
    }
}

fn base_fact(
    file: &ScannedFile,
    number: usize,
    layer_number: usize,
    layer: &TextLayer,
    layer_line: usize,
) -> ScanFact {
    let line = layer.original_line(layer_line);
    let span = file.span_at(line);
    let context = file.context(line);
    let role = if span.code && context.comment && span.role != TextRole::Frontmatter {
        TextRole::Comment
    } else if span.code && context.pattern {
        TextRole::Pattern
    } else {
        span.role
    };
    ScanFact {
        kind: 0,
        file: number,
        line,
        rank: 0,
        block: span.block,
        section: span.section,
        role,
        code: span.code,
        layer: layer_number,
        layer_line,
        depth: layer.depth,
        column: 0,
        class: None,
        target: None,
        negated: context.negated,
        quoted: matches!(role, TextRole::Quoted),
        resolved: false,
        here: false,
        own: false,
        script: file.kind.is_code(),
    }
}

/// A fact that was read from the structure of a text and not from a pattern: its role, its polarity
/// and whether it is only shown are those of the line that it is on.
pub(crate) fn fact_at(
    from: &FactSource<'_>,
    layer_number: usize,
    layer_line: usize,
    line: &str,
    column: usize,
    kind: u16,
) -> ScanFact {
    let layer = &from.file.layers.list[layer_number];
    let mut fact = base_fact(from.file, from.number, layer_number, layer, layer_line);
    let column = floor_char_boundary(line, column);
    let view = window(line, column);
    let (line, at) = (&line[view.clone()], column - view.start);
    let end = (at + 8).min(line.len());
    fact.kind = kind;
    fact.column = column;
    fact.negated = fact.negated || polarity::negates(line, at);
    fact.quoted |= line.contains("hxxp") && !line.contains("http");
    if fact.code {
        if quoting::is_pattern_literal(line, at, end) {
            fact.role = TextRole::Pattern;
        }
    } else if fact.negated && quoting::in_literal(line, at, end) {
        fact.quoted = true;
    }
    fact
}

/// Prose inside a fence: prompts are often shown that way, and comments count as prose too.
fn is_prose_in_code(fact: &ScanFact) -> bool {
    matches!(fact.role, TextRole::Code | TextRole::Comment | TextRole::Pattern)
}

/// Inline code makes a line of prose a command; so does shell punctuation.
fn has_code_mark(line: &str) -> bool {
    let mark = |b: u8, next: u8| {
        (b == b'`')
            | ((b == b'$') | (b == b'|')) & (next == b' ')
            | ((b == b':') | (b == b'~')) & (next == b'/')
    };
    next_where(line.as_bytes(), 0, mark).is_some()
}

fn window(line: &str, at: usize) -> std::ops::Range<usize> {
    if line.len() <= LOOK_BACK + LOOK_AHEAD {
        return 0..line.len();
    }
    let start = floor_char_boundary(line, at.saturating_sub(LOOK_BACK));
    let mut end = (at + LOOK_AHEAD).min(line.len());
    while !line.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

fn base_name(path: &str) -> Box<str> {
    let path = path.trim_matches(['"', '\'', '`', '(', ')', ',', ';']);
    path.rsplit(['/', '\\']).next().unwrap_or(path).split(['?', '#']).next().unwrap_or("").into()
}
