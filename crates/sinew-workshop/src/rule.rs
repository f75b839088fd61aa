//! A rule that a user taught: one line of text, and how two of them compare.
//!
//! The same rule said again strengthens the one that is there; one that says the opposite, or another
//! value for the same thing, takes its place.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::activity::is_dense;
use sinew_skill::ecmascript as text;

/// The longest rule, in UTF-16 code units: what is longer is a document, not a rule.
const MAX_RULE: usize = 500;

/// Rules with so many of their words in common are the same.
const SAME: f64 = 0.75;
/// Rules with so many of their words in common are about the same thing.
const SAME_SUBJECT: f64 = 0.5;

/// How two rules compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleRelation {
    /// They say the same.
    Same,
    /// They say different things about the same subject.
    Contradiction,
    /// They have nothing to do with each other.
    Other,
}

/// What people say before they come to the point.
const OPENERS: &str = r"^(?i:(?:(?:no|nope|nah|ok|okay|alright|right|well|so|oh|oh god|oh no|whoa|wow|hey|hmm+|ugh|argh|seriously|please|pls|thanks|thank you|great|nice|good|fine|sorry|look|listen|wait|again|nein|nee|ja|bitte|danke|non|oui|merci|no no|sì|grazie|gracias|oye|não|obrigad[oa]|нет|спасибо)[,.!…:–—-]+\s*)+)";

static OPENER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(OPENERS).ok());

/// The counter at the end of a rule that was said more than once.
static SAID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r" \(said (\d{1,6}) times, last on (\d{4}-\d{2}-\d{2})\)$").ok());

/// An instruction as one line: without what people say before they come to the point.
pub(crate) fn rule_line(instruction: &str) -> String {
    let line = text::collapse(instruction);
    let start =
        OPENER.as_ref().and_then(|opener| opener.find(&line)).map_or(0, |found| found.end());
    let rest = line.get(start..).unwrap_or(&line);
    // An opener that is nearly all of the message was its point.
    let rest = if text::utf16_len(rest) < 8 { line.as_str() } else { rest };
    let rest = rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '#' | '>'));
    text::short(rest, MAX_RULE).trim_end_matches(['.', ' ', '。']).to_owned()
}

/// A rule without its counter, and how often it was said.
pub(crate) fn without_count(rule: &str) -> (&str, u64) {
    let found = SAID.as_ref().and_then(|said| said.captures(rule));
    match found {
        Some(found) => {
            let end = found.get(0).map_or(rule.len(), |whole| whole.start());
            let count = found.get(1).and_then(|count| count.as_str().parse().ok());
            (&rule[..end], count.unwrap_or(1))
        }
        None => (rule, 1),
    }
}

/// A rule that was said again, on a day such as `2026-11-12`.
pub(crate) fn strengthened(rule: &str, day: &str) -> String {
    let (plain, count) = without_count(rule);
    format!("{plain} (said {} times, last on {day})", count + 1)
}

/// How a new rule compares with one that is there.
pub(crate) fn compare(new: &str, old: &str) -> RuleRelation {
    let (old, _) = without_count(old);
    let (new, old) = (RuleWords::of(new), RuleWords::of(old));
    let shared = new.subject.intersection(&old.subject).count() as f64;
    let all = new.subject.union(&old.subject).count() as f64;
    if all == 0.0 {
        return RuleRelation::Other;
    }
    let likeness = shared / all;
    let same_way = new.forbids == old.forbids && new.values == old.values;
    if likeness >= SAME && same_way {
        RuleRelation::Same
    } else if likeness >= SAME_SUBJECT && !same_way {
        RuleRelation::Contradiction
    } else {
        RuleRelation::Other
    }
}

/// The words of a rule by what they do.
struct RuleWords {
    subject: BTreeSet<String>,
    values: BTreeSet<String>,
    forbids: bool,
}

const FORBIDDING: &[&str] = &[
    "not",
    "never",
    "no",
    "don't",
    "dont",
    "without",
    "stop",
    "avoid",
    "nicht",
    "nie",
    "kein",
    "keine",
    "keinen",
    "ohne",
    "ne",
    "pas",
    "jamais",
    "sans",
    "nunca",
    "sin",
    "não",
    "sem",
    "non",
    "mai",
    "senza",
    "не",
    "никогда",
    "без",
];
const NUMBERS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "twelve", "fourteen", "fifteen", "twenty", "thirty", "forty", "fifty", "sixty", "ninety",
    "hundred", "thousand",
];
/// Words without a subject of their own.
const EMPTY: &[&str] = &[
    "a", "an", "the", "to", "of", "in", "on", "for", "and", "or", "but", "is", "are", "be", "it",
    "that", "this", "you", "your", "i", "me", "my", "we", "our", "us", "do", "please", "always",
    "from", "now", "next", "time", "before", "first", "then", "must", "should", "have", "has",
    "with", "when", "every", "use", "will", "can", "just", "only", "there", "they", "them", "so",
    "as", "at",
];

impl RuleWords {
    fn of(rule: &str) -> Self {
        let lower = rule.to_lowercase().replace(['’', '‘'], "'");
        let (mut subject, mut values, mut forbids) = (BTreeSet::new(), BTreeSet::new(), false);
        if lower.chars().any(is_dense) {
            let dense: Vec<char> = lower.chars().filter(|c| is_dense(*c)).collect();
            subject.extend(dense.windows(2).map(|pair| pair.iter().collect::<String>()));
            forbids = ["不要", "别", "不能", "ないで", "禁止", "지 마", "지 말"]
                .iter()
                .any(|word| lower.contains(word));
        }
        for word in lower.split(|c: char| !c.is_alphanumeric() && c != '\'') {
            if word.is_empty() || word.chars().any(is_dense) {
                continue;
            }
            if FORBIDDING.contains(&word) {
                forbids = true;
            } else if word.starts_with(|c: char| c.is_ascii_digit()) || NUMBERS.contains(&word) {
                values.insert(word.to_owned());
            } else if !EMPTY.contains(&word) {
                subject.insert(word.trim_end_matches('s').to_owned());
            }
        }
        Self { subject, values, forbids }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_the_point_of_a_message() {
        let check = |said: &str, rule: &str| assert_eq!(rule_line(said), rule);
        check(
            "no, always run the tests before you commit",
            "always run the tests before you commit",
        );
        check("Oh no. Please, never post on Sundays.", "never post on Sundays");
        check("no pie charts. ever.", "no pie charts. ever");
        check("- # >do not\nnest", "do not nest");
    }

    #[test]
    fn rules_are_compared_by_subject_direction_and_value() {
        let check = |new: &str, old: &str, how| assert_eq!(compare(new, old), how, "{new} | {old}");
        check(
            "Run the tests before you commit",
            "always run tests before the commit",
            RuleRelation::Same,
        );
        check(
            "invoices are due in 14 days",
            "invoices are due in 30 days",
            RuleRelation::Contradiction,
        );
        check("don't sign mails with Alex", "sign mails with Alex", RuleRelation::Contradiction);
        check("two hashtags at most", "window seats only", RuleRelation::Other);
        check(
            "run the tests before you commit",
            "run the tests before you commit (said 3 times, last on 2026-01-02)",
            RuleRelation::Same,
        );
    }

    #[test]
    fn saying_it_again_counts() {
        let once = strengthened("run the tests", "2026-11-12");
        assert_eq!(once, "run the tests (said 2 times, last on 2026-11-12)");
        assert_eq!(
            strengthened(&once, "2026-11-13"),
            "run the tests (said 3 times, last on 2026-11-13)"
        );
    }
}
