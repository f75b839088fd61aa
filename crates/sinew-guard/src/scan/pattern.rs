//! Patterns: how a fact is recognised around a literal that was found.
//!
//! Every match of most expressions starts with one of a few words. Such an expression is tried only
//! at those words, anchored: an unanchored search over text full of them would follow all starts at
//! once, which no automaton of bounded size can do quickly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use regex_automata::meta::{Config, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use serde::Deserialize;

use super::fold;
use super::lines::floor_char_boundary;
use super::literals::LiteralFilter;

/// Memory limit of one expression's automaton; with a hundred of them this bounds the whole
/// scanner.
const MAX_AUTOMATON: usize = 256 * 1024;
/// Bytes that may precede the first word of a match: a boundary that is part of it.
const MAX_LEAD: usize = 12;

/// The cost of starting an expression, in bytes examined; a host costs twice that.
pub(crate) const START: usize = 32;
/// The assumed length of an unbounded repetition, for the same purpose.
const USUAL: usize = 16;
/// The longest unbounded repetition before a literal, and how far back its start is searched.
const LONGEST: usize = 512;
const LOOK_BACK: usize = 1024;

/// How much expression work one skill may cost, in bytes examined: a substitute for CPU time that
/// is the same on every machine. Honest skills use a hundredth of it.
#[derive(Debug)]
pub(crate) struct WorkBudget {
    left: u64,
}

/// What a skill may cost in addition to its own size.
const BASE_WORK: u64 = 16_000_000;

impl WorkBudget {
    /// The budget of a skill without files.
    pub(crate) fn new() -> Self {
        Self { left: BASE_WORK }
    }

    /// Files add their size.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.left += bytes;
    }

    pub(crate) fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// Where a pattern may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MatchZone {
    #[default]
    Any,
    /// Commands, scripts, configuration; inline code in prose counts.
    Code,
    /// Prose, front matter, comments.
    Prose,
}

#[derive(Deserialize)]
pub(crate) struct FactPatternRecord {
    pub(crate) kind: String,
    any: Vec<String>,
    re: Option<String>,
    /// No fact if the command matches this.
    unless: Option<String>,
    /// Someone else's words if the text before matches this: "if a page asks you to …".
    unless_before: Option<String>,
    /// No fact if the following text matches this, which shows that it is about someone else.
    unless_after: Option<String>,
    #[serde(default, rename = "in")]
    place: MatchZone,
    #[serde(default)]
    net: bool,
    #[serde(default)]
    here: bool,
    #[serde(default)]
    speech: bool,
}

impl FactPatternRecord {
    pub(crate) fn has_destination(&self) -> bool {
        self.net
    }
}

/// One way to recognise a fact.
#[derive(Debug)]
pub(crate) struct FactPattern {
    pub(crate) kind: u16,
    pub(crate) place: MatchZone,
    /// Whether the fact has a destination.
    pub(crate) net: bool,
    /// Whether, in prose, that destination must be on the same line.
    pub(crate) here: bool,
    /// Whether it is speech, which quotation marks turn into a quotation.
    pub(crate) speech: bool,
    /// Every match contains one of these literals, in the order of the table.
    any: Vec<String>,
    source: Option<String>,
    compiled: OnceLock<Option<PatternMatcher>>,
    unless: ExemptionPattern,
    unless_after: ExemptionPattern,
    unless_before: ExemptionPattern,
}

/// An expression that exempts a text.
#[derive(Debug)]
struct ExemptionPattern {
    source: Option<String>,
    compiled: OnceLock<Option<Regex>>,
}

impl ExemptionPattern {
    fn new(source: Option<String>) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    fn matches(&self, text: &str) -> bool {
        let Some(source) = &self.source else { return false };
        let compiled = self.compiled.get_or_init(|| regex_of(&parsed(source)?));
        compiled.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

/// A match of a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PatternMatch<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The file that is written or run.
    pub(crate) target: Option<&'a str>,
    /// The host, if the match itself names it.
    pub(crate) host: Option<&'a str>,
}

/// The result of trying a pattern at a literal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MatchAttempt<'a> {
    Match(PatternMatch<'a>),
    /// No match here; another literal of the line may start one.
    NotHere,
    /// No match anywhere in this text.
    Nowhere,
}

impl FactPattern {
    /// Builds a pattern from its row; `words` are the parts that expressions share.
    pub(crate) fn new(row: FactPatternRecord, kind: u16, words: &BTreeMap<String, String>) -> Self {
        let spelled =
            |source: Option<String>| source.map(|source| fold::letters(&spell_out(source, words)));
        Self {
            kind,
            place: row.place,
            net: row.net,
            here: row.here,
            speech: row.speech,
            any: row.any.iter().map(|word| fold::letters(word)).collect(),
            source: spelled(row.re),
            compiled: OnceLock::new(),
            unless: ExemptionPattern::new(spelled(row.unless)),
            unless_after: ExemptionPattern::new(spelled(row.unless_after)),
            unless_before: ExemptionPattern::new(spelled(row.unless_before)),
        }
    }

    /// Every match contains one of these literals, in folded spelling.
    pub(crate) fn literals(&self) -> &[String] {
        &self.any
    }

    /// Whether the command shows that it is not what it looks like.
    pub(crate) fn is_excused(&self, command: &str) -> bool {
        self.unless.matches(command)
    }

    /// Whether the text around it shows that it is about someone else.
    pub(crate) fn is_about_others(&self, before: &str, after: &str) -> bool {
        self.unless_after.matches(after) || self.unless_before.matches(before)
    }

    /// Looks at `text`, in which the literal number `word` was found at `at`.
    pub(crate) fn try_match<'a>(
        &self,
        text: &'a str,
        at: usize,
        word: u16,
        work: &mut WorkBudget,
    ) -> MatchAttempt<'a> {
        let word = usize::from(word);
        let Some(source) = &self.source else {
            // The literal alone is the match.
            let end = at + self.any.get(word).map_or(0, String::len);
            return MatchAttempt::Match(PatternMatch { start: at, end, target: None, host: None });
        };
        match self.compiled.get_or_init(|| PatternMatcher::new(source, &self.any)) {
            Some(matcher) => matcher.look(text, at, word, work),
            None => MatchAttempt::Nowhere,
        }
    }

    #[cfg(test)]
    pub(crate) fn compiles(&self) -> bool {
        let guard = |guard: &ExemptionPattern| {
            guard.source.as_ref().is_none_or(|source| parsed(source).is_some())
        };
        let source = self.source.as_ref();
        source.is_none_or(|source| PatternMatcher::new(source, &self.any).is_some())
            && guard(&self.unless)
            && guard(&self.unless_after)
            && guard(&self.unless_before)
    }
}

/// Expands shared parts; a part may use those before it.
fn spell_out(mut source: String, words: &BTreeMap<String, String>) -> String {
    for _ in 0..2 {
        for (name, word) in words.iter().filter(|_| source.contains("%{")).collect::<Vec<_>>() {
            source = source.replace(&format!("%{{{name}}}"), word);
        }
    }
    source
}

/// An expression over bytes: folded text is mostly ASCII, and such automata are a tenth of the
/// size.
fn parsed(source: &str) -> Option<Hir> {
    syntax::parse_with(source, &syntax::Config::new().unicode(false).utf8(false)).ok()
}

fn regex_of(hir: &Hir) -> Option<Regex> {
    let config = Config::new()
        .utf8_empty(false)
        .hybrid_cache_capacity(MAX_AUTOMATON)
        .nfa_size_limit(Some(10 * MAX_AUTOMATON));
    Regex::builder().configure(config).build_from_hir(hir).ok()
}

#[derive(Debug)]
struct PatternMatcher {
    regex: Regex,
    starts: MatchStarts,
    /// The cost of one anchored attempt.
    cost: usize,
    /// Bytes of a match that may precede a literal of the table.
    back: usize,
    target: Option<usize>,
    hosts: Vec<usize>,
}

/// Where a match can start.
#[derive(Debug)]
enum MatchStarts {
    /// At a literal of the table: for each, how far before it.
    AtLiteral(Vec<Vec<usize>>),
    /// At the start of the line.
    AtLineStart,
    /// At one of these words, or a few bytes before it.
    AtWord {
        words: Box<LiteralFilter>,
        longest: usize,
        lead: usize,
    },
    Anywhere,
}

impl PatternMatcher {
    fn new(source: &str, any: &[String]) -> Option<Self> {
        let hir = parsed(source)?;
        let starts = MatchStarts::of(&hir, any)?;
        let regex = regex_of(&hir)?;
        let group = |name| regex.group_info().to_index(regex_automata::PatternID::ZERO, name);
        let (target, hosts) = (group("t"), ["h", "h2"].into_iter().filter_map(group).collect());
        let back = reach(&hir, LONGEST).min(LOOK_BACK);
        Some(Self { regex, starts, cost: START + reach(&hir, USUAL), back, target, hosts })
    }

    fn look<'a>(
        &self,
        text: &'a str,
        at: usize,
        word: usize,
        work: &mut WorkBudget,
    ) -> MatchAttempt<'a> {
        let mut attempt = |start: usize| {
            work.spend(self.cost);
            self.search(text, start, Anchored::Yes)
        };
        match &self.starts {
            MatchStarts::AtLiteral(back) => back
                .get(word)
                .into_iter()
                .flatten()
                .filter_map(|back| at.checked_sub(*back))
                .find_map(attempt)
                .map_or(MatchAttempt::NotHere, MatchAttempt::Match),
            MatchStarts::AtLineStart => {
                attempt(0).map_or(MatchAttempt::Nowhere, MatchAttempt::Match)
            }
            MatchStarts::AtWord { words, longest, lead } => {
                // A match contains the literal, so it starts before it, within a limit.
                let low = floor_char_boundary(text, at.saturating_sub(self.back));
                let high = ceiling(text, (at + longest).min(text.len()));
                let mut starts: Vec<usize> = words
                    .hits(&text[low..high])
                    .map(|found| low + found.start)
                    .flat_map(|start| start.saturating_sub(*lead)..=start)
                    .filter(|start| *start <= at)
                    .collect();
                starts.sort_unstable();
                starts.dedup();
                let seen = starts.into_iter().find_map(attempt);
                work.spend((high - low) / 2);
                seen.map_or(MatchAttempt::NotHere, MatchAttempt::Match)
            }
            MatchStarts::Anywhere => {
                work.spend(text.len() * 2);
                self.search(text, 0, Anchored::No)
                    .map_or(MatchAttempt::Nowhere, MatchAttempt::Match)
            }
        }
    }

    fn search<'a>(
        &self,
        text: &'a str,
        start: usize,
        anchored: Anchored,
    ) -> Option<PatternMatch<'a>> {
        let input = Input::new(text).range(start..).anchored(anchored);
        if self.target.is_none() && self.hosts.is_empty() {
            let found = self.regex.search(&input)?;
            return Some(PatternMatch {
                start: found.start(),
                end: found.end(),
                target: None,
                host: None,
            });
        }
        let mut captures: Captures = self.regex.create_captures();
        self.regex.search_captures(&input, &mut captures);
        let whole = captures.get_match()?;
        let group = |at: usize| captures.get_group(at).and_then(|span| text.get(span.range()));
        Some(PatternMatch {
            start: whole.start(),
            end: whole.end(),
            target: self.target.and_then(group),
            host: self.hosts.iter().copied().find_map(group),
        })
    }
}

impl MatchStarts {
    fn of(hir: &Hir, any: &[String]) -> Option<Self> {
        if hir.properties().look_set_prefix().contains(Look::Start) {
            return Some(Self::AtLineStart);
        }
        let mut words = BTreeSet::new();
        let Some(lead) = first_words(hir, &mut words) else { return Some(Self::Anywhere) };
        // If the first word of every match contains a literal of the table, that literal is enough.
        let held = |word: &Vec<u8>| any.iter().any(|l| !offsets(word, l.as_bytes()).is_empty());
        if words.iter().all(held) {
            let back = any.iter().map(|literal| {
                let mut back: BTreeSet<usize> = BTreeSet::new();
                for offset in words.iter().flat_map(|word| offsets(word, literal.as_bytes())) {
                    back.extend(offset..=offset + lead);
                }
                back.into_iter().rev().collect()
            });
            return Some(Self::AtLiteral(back.collect()));
        }
        let longest = words.iter().map(Vec::len).max().unwrap_or(0);
        Some(Self::AtWord { words: Box::new(LiteralFilter::new(words).ok()?), longest, lead })
    }
}

/// About how many bytes an expression examines, if an unbounded repetition matches `open` bytes.
fn reach(hir: &Hir, open: usize) -> usize {
    let sum = |parts: &[Hir]| parts.iter().map(|part| reach(part, open)).sum();
    let most = |parts: &[Hir]| parts.iter().map(|part| reach(part, open)).max().unwrap_or(0);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(_) => 1,
        HirKind::Capture(capture) => reach(&capture.sub, open),
        HirKind::Concat(parts) => sum(parts),
        HirKind::Alternation(parts) => most(parts),
        HirKind::Repetition(repeated) => {
            // Text never has more blanks than this between two words.
            let open = if is_blank(&repeated.sub) { open.min(8) } else { open };
            let times = repeated.max.map_or(open, |most| most as usize);
            times.saturating_mul(reach(&repeated.sub, open)).min(4096)
        }
    }
}

/// Whether an expression matches one blank.
fn is_blank(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().all(|range| range.start() <= b' ' && range.end() <= b' ')
        }
        HirKind::Literal(literal) => *literal.0 == *b" ",
        _ => false,
    }
}

fn ceiling(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn offsets(word: &[u8], literal: &[u8]) -> Vec<usize> {
    (0..word.len()).filter(|at| word[*at..].starts_with(literal)).collect()
}

/// Collects the words that matches start with; returns how many bytes may precede them, or `None`
/// if a match can start with anything.
fn first_words(hir: &Hir, words: &mut BTreeSet<Vec<u8>>) -> Option<usize> {
    if let Some(found) = Extractor::new().extract(hir).literals()
        && found.iter().all(|literal| !literal.is_empty())
    {
        words.extend(found.iter().map(|literal| literal.as_bytes().to_vec()));
        return Some(0);
    }
    match hir.kind() {
        HirKind::Capture(capture) => first_words(&capture.sub, words),
        HirKind::Alternation(parts) => parts
            .iter()
            .map(|part| first_words(part, words))
            .try_fold(0, |most, lead| lead.map(|lead| most.max(lead))),
        HirKind::Concat(parts) => {
            let (first, rest) = parts.split_first()?;
            let lead = first.properties().maximum_len()?;
            let rest = first_words(&Hir::concat(rest.to_vec()), words)?;
            Some(lead + rest).filter(|lead| *lead <= MAX_LEAD)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(re: &str, any: &[&str]) -> FactPattern {
        let row = serde_json::json!({ "kind": "x", "re": re, "any": any });
        FactPattern::new(serde_json::from_value(row).expect("a row"), 0, &BTreeMap::new())
    }

    /// All kinds of starts find the first match of a line.
    fn check(re: &str, any: &[&str], text: &str, wanted: Option<&str>) {
        let pattern = pattern(re, any);
        let mut hits: Vec<(usize, u16)> = Vec::new();
        for (number, word) in any.iter().enumerate() {
            hits.extend(text.match_indices(word).map(|(at, _)| (at, number as u16)));
        }
        hits.sort_unstable();
        let seen = hits.iter().find_map(|(at, word)| {
            match pattern.try_match(text, *at, *word, &mut WorkBudget::new()) {
                MatchAttempt::Match(seen) => Some(seen),
                _ => None,
            }
        });
        assert_eq!(seen.map(|seen| &text[seen.start..seen.end]), wanted, "{re}");
    }

    #[test]
    fn matches_are_found_wherever_they_start() {
        check(r"\bcurl\b.{0,20}\| sh", &["curl"], "curly curl x | sh", Some("curl x | sh"));
        check(r"(?:^|[^.\w])exec\(", &["exec"], "a.exec( exec(", Some(" exec("));
        check(r"(?:^|[^.\w])exec\(", &["exec"], "exec(", Some("exec("));
        check(r"send .{0,20}://", &["://"], "send a send b://", Some("send a send b://"));
        check(r"[a-z]+://", &["://"], "see http://x", Some("http://"));
        check(r"^\s*data=", &["data"], "  data=1", Some("  data="));
        check(r"^\s*data=", &["data"], "x data=1", None);
        check(r"\bcurl x", &["curl"], "wget x", None);
        check(r"os\.system|popen", &["system", "popen"], "a popen", Some("popen"));
    }

    #[test]
    fn groups_name_target_and_host() {
        let pattern = pattern(r"to (?P<h>\S+) as (?P<t>\S+)", &["to "]);
        let MatchAttempt::Match(seen) =
            pattern.try_match("send to a.example as b", 5, 0, &mut WorkBudget::new())
        else {
            panic!("no match")
        };
        assert_eq!((seen.host, seen.target), (Some("a.example"), Some("b")));
    }
}
