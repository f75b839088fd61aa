//! The rule table: hosts, fact patterns and rules, all data, read once.
//!
//! All engines take linear time: a literal filter finds the lines that matter, and a regular
//! expression without look-around or back-references confirms each. If a pattern does not compile,
//! the scanner refuses to start, and a scanner that does not start blocks.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use super::finding::FindingSeverity;
use super::hosts::{HostClass, HostTable};
use super::literals::{LiteralFilter, LiteralFilterError};
use super::pattern::{FactPattern, FactPatternRecord, MatchZone};

pub(crate) const HOSTS: &str = include_str!("../../data/hosts.json");
pub(crate) const ORGANISATIONS: &str = include_str!("../../data/organisations.json");
pub(crate) const FACTS: &str = include_str!("../../data/facts.json");
pub(crate) const RULES: &str = include_str!("../../data/rules.json");

/// What a literal triggers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiteralTrigger {
    /// `://`
    Url,
    /// A host that matters even without a scheme.
    Host,
    /// A word in rot13.
    Rot13,
    /// A literal of a pattern: numbers of the pattern and of the literal.
    Pattern(u16, u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FactWindow {
    Line,
    /// Within this many non-blank lines.
    Near(u32),
    Block,
    Section,
    /// A whole script; in a document each block of code is a program of its own.
    Program,
    File,
    Skill,
}

/// One alternative of one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleTerm {
    pub(crate) kind: u16,
    pub(crate) class: HostClassSet,
    pub(crate) place: MatchZone,
    pub(crate) acting: bool,
    /// In a place that people do not see.
    pub(crate) hidden: bool,
    pub(crate) decoded: bool,
}

/// Sets of host classes that rules refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostClassSet {
    Any,
    /// Not this machine, not a template, and not a vouched installer.
    Unvouched,
    /// Where stored credentials, the whole environment and hidden reports never go: every place but
    /// this machine and known vendors' own. What a skill declares as its own is among them, and so
    /// is what anyone can rent.
    Foreign,
    /// Like `Foreign`, but without rented and reserved places: where what a skill works with has no
    /// business either. What a skill says of itself takes no place out of it.
    Elsewhere,
    /// Where anyone writes what is run: everything but vendors, installers and known organisations.
    Stranger,
    /// Hosts that anyone can fill or that hide their owner.
    Bad,
    /// A vouched installer.
    Vouched,
    /// No host is named nearby.
    Unnamed,
}

impl HostClassSet {
    pub(crate) fn holds(self, class: Option<HostClass>) -> bool {
        use HostClass as C;
        match (self, class) {
            (Self::Any, _) => true,
            (Self::Unnamed, class) => class.is_none(),
            (_, None) => false,
            (Self::Unvouched, Some(class)) => class >= C::Vendor,
            (Self::Foreign, Some(class)) => {
                class == C::Reserved || class >= C::Tenant && class != C::Code
            }
            (Self::Elsewhere, Some(class)) => {
                matches!(class, C::Namesake | C::Declared) || class >= C::Unknown
            }
            (Self::Stranger, Some(class)) => class >= C::Tenant,
            (Self::Bad, Some(class)) => class >= C::Shortener,
            (Self::Vouched, Some(class)) => class == C::Installer,
        }
    }
}

/// One alternative of a rule.
#[derive(Debug, Clone)]
pub(crate) struct RuleClause {
    pub(crate) severity: FindingSeverity,
    pub(crate) window: FactWindow,
    /// Every group needs one fact; the finding is located at the first.
    pub(crate) all: Vec<Vec<RuleTerm>>,
    pub(crate) none: Vec<RuleTerm>,
    /// How many different facts of the first group are needed.
    pub(crate) min: usize,
    pub(crate) same_target: bool,
}

/// A rule, as `sinew scan rules` lists it.
#[derive(Debug)]
pub(crate) struct ScanRule {
    pub(crate) id: String,
    pub(crate) severity: FindingSeverity,
    pub(crate) ast: String,
    pub(crate) message: String,
    pub(crate) reason: String,
    pub(crate) remedy: String,
    pub(crate) base: Option<Regex>,
    pub(crate) variants: Vec<Regex>,
    pub(crate) clauses: Vec<RuleClause>,
}

#[derive(Deserialize)]
struct FactPatternsRecord {
    /// Parts of expressions that several rows share, written `%{name}` there.
    words: BTreeMap<String, String>,
    patterns: Vec<FactPatternRecord>,
}

#[derive(Deserialize)]
struct RuleRecord {
    id: String,
    severity: FindingSeverity,
    ast: String,
    message: String,
    reason: String,
    remedy: String,
    base: Option<String>,
    #[serde(default)]
    variants: Vec<String>,
    #[serde(default)]
    clauses: Vec<ClauseRecord>,
}

#[derive(Deserialize)]
struct ClauseRecord {
    severity: FindingSeverity,
    window: FactWindow,
    all: Vec<String>,
    #[serde(default)]
    none: Vec<String>,
    #[serde(default = "one")]
    min: usize,
    #[serde(default)]
    same_target: bool,
}

fn one() -> usize {
    1
}

/// Words to search for, each with what it may trigger.
#[derive(Debug)]
pub(crate) struct TriggerWords {
    pub(crate) literals: LiteralFilter,
    pub(crate) triggers: Vec<Vec<LiteralTrigger>>,
}

impl TriggerWords {
    fn new(words: Vec<(String, Vec<LiteralTrigger>)>) -> Result<Self, LiteralFilterError> {
        let (words, triggers): (Vec<String>, Vec<Vec<LiteralTrigger>>) = words.into_iter().unzip();
        Ok(Self { literals: LiteralFilter::new(&words)?, triggers })
    }
}

/// All of the scanner's data.
#[derive(Debug)]
pub(crate) struct RuleTable {
    pub(crate) hosts: HostTable,
    pub(crate) patterns: Vec<FactPattern>,
    pub(crate) kinds: Vec<String>,
    /// Which kinds have a destination.
    net_kinds: Vec<bool>,
    pub(crate) plain: TriggerWords,
    /// Words with letters beyond ASCII, which would double the size of the other automaton.
    pub(crate) foreign: TriggerWords,
    pub(crate) rules: Vec<ScanRule>,
    pub(crate) by_id: BTreeMap<String, usize>,
    pub(crate) ruleset: String,
}

/// Why the table cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the rule table is unusable: {0}")]
pub struct RuleTableError(String);

/// Words whose rot13 form reveals a payload.
const ROT13_WORDS: &[&str] =
    &["phey ", "jtrg ", "uggc:", "uggcf:", "vzcbeg bf", "onfu", "fhocebprff"];

/// The digest of the shipped rules, without compiling them: a cached answer under this digest can
/// be used without a scanner.
pub fn ruleset_digest() -> String {
    let source = [HOSTS, ORGANISATIONS, FACTS, RULES, env!("CARGO_PKG_VERSION")].join("\u{0}");
    format!("sha256:{}", sinew_skill::content_hash(source.as_bytes()))
}

impl RuleTable {
    pub(crate) fn load() -> Result<Self, RuleTableError> {
        Self::from_texts(&[HOSTS, ORGANISATIONS, FACTS, RULES])
    }

    /// Reads a table from its four texts: hosts, organisations, facts, rules.
    pub(crate) fn from_texts(texts: &[&str; 4]) -> Result<Self, RuleTableError> {
        let [hosts, organisations, facts, rules] = texts;
        let fail = |error: &dyn std::fmt::Display| RuleTableError(error.to_string());
        let hosts = HostTable::from_json(hosts, organisations).map_err(|e| fail(&e))?;
        let facts: FactPatternsRecord = serde_json::from_str(facts).map_err(|e| fail(&e))?;
        let rows = facts.patterns;
        let rule_rows: Vec<RuleRecord> = serde_json::from_str(rules).map_err(|e| fail(&e))?;

        let mut kinds: Vec<String> = vec!["url".to_owned()];
        kinds.extend(super::shell_facts::KINDS.iter().map(|kind| (*kind).to_owned()));
        kinds.extend(super::program::KINDS.iter().map(|kind| (*kind).to_owned()));
        let mut net_kinds = vec![true; kinds.len()];
        let mut literals: BTreeMap<String, Vec<LiteralTrigger>> = BTreeMap::new();
        let mut patterns = Vec::with_capacity(rows.len());
        for row in rows {
            let kind = kinds.iter().position(|kind| *kind == row.kind).unwrap_or_else(|| {
                kinds.push(row.kind.clone());
                net_kinds.push(false);
                kinds.len() - 1
            });
            net_kinds[kind] |= row.has_destination();
            let id = u16::try_from(patterns.len()).map_err(|e| fail(&e))?;
            let kind = u16::try_from(kind).map_err(|e| fail(&e))?;
            let pattern = FactPattern::new(row, kind, &facts.words);
            for (word, literal) in (0u16..).zip(pattern.literals()) {
                literals
                    .entry(literal.clone())
                    .or_default()
                    .push(LiteralTrigger::Pattern(id, word));
            }
            patterns.push(pattern);
        }
        literals.entry("://".to_owned()).or_default().push(LiteralTrigger::Url);
        for host in hosts.mentionable() {
            literals.entry(host.to_owned()).or_default().push(LiteralTrigger::Host);
        }
        for word in ROT13_WORDS {
            literals.entry((*word).to_owned()).or_default().push(LiteralTrigger::Rot13);
        }
        let (plain, foreign): (Vec<_>, Vec<_>) =
            literals.into_iter().partition(|(word, _)| word.is_ascii());
        let plain = TriggerWords::new(plain).map_err(|e| fail(&e))?;
        let foreign = TriggerWords::new(foreign).map_err(|e| fail(&e))?;

        let mut rules = Vec::with_capacity(rule_rows.len());
        for row in rule_rows {
            rules.push(read_rule(row, &kinds)?);
        }
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        let by_id = rules.iter().enumerate().map(|(at, rule)| (rule.id.clone(), at)).collect();
        let ruleset = ruleset_digest();
        Ok(Self { hosts, patterns, kinds, net_kinds, plain, foreign, rules, by_id, ruleset })
    }

    /// The number of a kind of fact.
    pub(crate) fn kind(&self, name: &str) -> Option<u16> {
        self.kinds.iter().position(|kind| kind == name).and_then(|at| u16::try_from(at).ok())
    }

    /// Whether facts of a kind have a destination.
    pub(crate) fn is_net(&self, kind: u16) -> bool {
        self.net_kinds.get(usize::from(kind)).copied().unwrap_or(false)
    }

    pub(crate) fn rule(&self, id: &str) -> Option<&ScanRule> {
        self.by_id.get(id).map(|at| &self.rules[*at])
    }
}

fn read_rule(row: RuleRecord, kinds: &[String]) -> Result<ScanRule, RuleTableError> {
    let regex = |source: &str| {
        Regex::new(&format!("(?i){source}"))
            .map_err(|error| RuleTableError(format!("{}: {error}", row.id)))
    };
    let base = row.base.as_deref().map(regex).transpose()?;
    let variants = row.variants.iter().map(|source| regex(source)).collect::<Result<_, _>>()?;
    let mut clauses = Vec::with_capacity(row.clauses.len());
    for clause in row.clauses {
        let group = |text: &String| {
            text.split('|')
                .map(|term| read_term(term, kinds, &row.id))
                .collect::<Result<Vec<_>, _>>()
        };
        clauses.push(RuleClause {
            severity: clause.severity,
            window: clause.window,
            all: clause.all.iter().map(group).collect::<Result<_, _>>()?,
            none: clause.none.iter().map(group).collect::<Result<Vec<_>, _>>()?.concat(),
            min: clause.min,
            same_target: clause.same_target,
        });
    }
    Ok(ScanRule {
        id: row.id,
        severity: row.severity,
        ast: row.ast,
        message: row.message,
        reason: row.reason,
        remedy: row.remedy,
        base,
        variants,
        clauses,
    })
}

/// `kind`, then any of `@class-set`, `#place`, `^` (found in a decoded layer).
fn read_term(term: &str, kinds: &[String], rule: &str) -> Result<RuleTerm, RuleTableError> {
    let unknown = |what: &str| RuleTableError(format!("{rule}: {what} in `{term}`"));
    let (rest, decoded) = term.strip_suffix('^').map_or((term, false), |rest| (rest, true));
    let (rest, place) =
        rest.split_once('#').map_or((rest, None), |(rest, place)| (rest, Some(place)));
    let (name, class) =
        rest.split_once('@').map_or((rest, None), |(name, class)| (name, Some(class)));
    let kind =
        kinds.iter().position(|kind| kind == name).ok_or_else(|| unknown("an unknown fact"))?;
    Ok(RuleTerm {
        kind: u16::try_from(kind).map_err(|error| RuleTableError(error.to_string()))?,
        class: match class {
            None => HostClassSet::Any,
            Some("unvouched") => HostClassSet::Unvouched,
            Some("foreign") => HostClassSet::Foreign,
            Some("elsewhere") => HostClassSet::Elsewhere,
            Some("stranger") => HostClassSet::Stranger,
            Some("bad") => HostClassSet::Bad,
            Some("vouched") => HostClassSet::Vouched,
            Some("unnamed") => HostClassSet::Unnamed,
            Some(_) => return Err(unknown("an unknown class")),
        },
        place: match place {
            None | Some("act" | "hidden") => MatchZone::Any,
            Some("code") => MatchZone::Code,
            Some("prose") => MatchZone::Prose,
            Some(_) => return Err(unknown("an unknown place")),
        },
        acting: place == Some("act"),
        hidden: place == Some("hidden"),
        decoded,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_loads_and_every_pattern_compiles() {
        let table = RuleTable::load().expect("the shipped table");
        for pattern in &table.patterns {
            assert!(pattern.compiles(), "{pattern:?}");
        }
        for rule in &table.rules {
            assert!(!rule.message.is_empty() && !rule.reason.is_empty() && !rule.remedy.is_empty());
        }
    }
}
