//! Polarity: whether a clause tells the reader to do something, or not to do it.
//!
//! Negation is looked for in the clause that governs a match. "Never skip this step: run X" does
//! not negate X, and neither does "Run X. Never Y."

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::fold;
use super::lines::floor_char_boundary;

/// Negators that govern the rest of their clause.
const NEGATORS: &[&str] = &[
    "never",
    "do not",
    "don't",
    "dont ",
    "must not",
    "mustn't",
    "should not",
    "shouldn't",
    "avoid",
    "refuse",
    "reject",
    "forbid",
    "prohibit",
    "disallow",
    "cannot",
    "can't",
    "won't",
    "not to ",
    "beware",
    "instead of",
    "rather than",
    "flags ",
    "flagged",
    "flag any",
    "block any",
    "block all",
    "blocks ",
    "blocked",
    "prevent",
    "patterns like",
    "pattern:",
    "examples of",
    "attempts to",
    "tries to",
    "trying to",
    "red flag",
    "warn about",
    "warn if",
    "malicious:",
    "anti-pattern",
    "wrong:",
    "bad:",
    "❌",
    "🚫",
    "⛔",
    "✗",
    "unsafe:",
    "attackers hide",
    "attackers use",
    "attackers embed",
    "attackers often",
    "attackers may",
    "attackers can",
    "不要",
    "切勿",
    "请勿",
    "禁止",
    "никогда",
    "nunca",
    "não execute",
    "no ejecut",
    "jamais",
    "niemals",
];
/// Verbs of searching: they govern what follows if it names a kind of threat. "Check for updates:
/// run X" asks for X.
const SEARCHES: &[&str] = &[
    "detect",
    "look for",
    "looks for",
    "looking for",
    "search for",
    "searches for",
    "scan for",
    "scans for",
    "check for",
    "checks for",
    "watch for",
];
/// What texts about attacks search for.
const SOUGHT: &[&str] = &[
    "pattern",
    "string",
    "phrase",
    "indicator",
    "signature",
    "such as",
    "like",
    "attempt",
    "payload",
    "attack",
    "inject",
    "malicious",
    "suspicious",
    "dangerous",
    "prompt",
    "exploit",
    "keyword",
    "usage",
    "use of",
    "uses of",
    "calls",
    "commands",
    "secret",
    "vulnerab",
    "obfuscat",
    "anything",
    "any ",
    "that ",
    "instances",
    "hidden",
    "hardcoded",
    "unsafe",
    "risky",
];
/// Verbs after which a negator demands the action: "never skip", "don't forget".
const DOUBLE: &[&str] = &[
    "skip", "forget", "omit", "fail", "hesitate", "miss", "worry", "ignore", "tell", "mention",
    "inform", "notify", "warn", "ask", "stop", "refuse",
];

/// Whether the clause before byte `at` of a folded line negates the text at `at`.
pub(crate) fn negates(line: &str, at: usize) -> bool {
    let mut before = &line[..floor_char_boundary(line, at)];
    // Text that a bracket or code mark opens belongs to the clause outside it.
    if before.len() > 400 {
        before = &before[floor_char_boundary(before, before.len() - 400)..];
    }
    // Most lines negate nothing, so their clauses need not be examined.
    if !negators().is_some_and(|words| words.is_match(before)) {
        return false;
    }
    let clause_start = before
        .rmatch_indices(['.', ';', '!', '?', '\n'])
        .find(|(i, mark)| {
            let next = before[i + mark.len()..].chars().next();
            next.is_none_or(char::is_whitespace)
        })
        .map_or(0, |(i, _)| i + 1);
    let mut clause = &before[clause_start..];
    for turn in [" but ", " however ", ", then ", " and then ", " always "] {
        if let Some(i) = clause.rfind(turn) {
            clause = &clause[i + turn.len()..];
        }
    }
    if let Some((head, tail)) = clause.rsplit_once(": ") {
        // A colon ends the clause unless the text before it is the order itself.
        if !negator_governs(tail) && !ends_in_order(head) {
            return false;
        }
    }
    negator_governs(clause)
}

fn ends_in_order(head: &str) -> bool {
    let words: Vec<&str> = head.split_whitespace().collect();
    negator_governs(head) && words.len() <= 12
}

fn negators() -> Option<&'static AhoCorasick> {
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let words = NEGATORS.iter().chain(SEARCHES).map(|word| fold::letters(word));
        AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words).ok()
    });
    WORDS.as_ref()
}

/// Whether a clause contains a negator that governs its end.
pub(crate) fn negator_governs(clause: &str) -> bool {
    let Some(words) = negators() else { return false };
    if !words.is_match(clause) {
        return false;
    }
    let clause = after_purpose(clause);
    words.find_overlapping_iter(clause).any(|found| {
        let (at, number) = (found.start(), found.pattern().as_usize());
        let negator = NEGATORS.get(number).or_else(|| SEARCHES.get(number - NEGATORS.len()));
        let negator = negator.copied().unwrap_or("");
        if number >= NEGATORS.len() && !SOUGHT.iter().any(|kind| clause[at..].contains(kind)) {
            return false;
        }
        let starts_word = at == 0
            || !clause[..at].ends_with(|c: char| c.is_alphanumeric())
            || !negator.starts_with(|c: char| c.is_ascii_alphanumeric());
        let after = clause[found.end()..].trim_start();
        starts_word && !DOUBLE.iter().any(|verb| after.starts_with(verb))
    })
}

/// "To avoid trouble, run X" and "Avoid trouble by running X" ask for X: the part before it is only
/// the purpose.
fn after_purpose(clause: &str) -> &str {
    const TURNS: &[&str] = &[
        ", run",
        ", execute",
        ", use ",
        ", just ",
        ", simply ",
        ", please ",
        ", first ",
        ", paste",
        ", copy",
        ", open ",
        ", install",
        ", download",
        " by running",
        " by executing",
        " by pasting",
        " by installing",
    ];
    let turns = TURNS.iter().filter_map(|turn| clause.rfind(turn).map(|at| at + turn.len()));
    turns.max().map_or(clause, |at| &clause[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, matched: &str, negated: bool) {
        let at = line.find(matched).expect("the match");
        assert_eq!(negates(line, at), negated, "{line}");
    }

    #[test]
    fn negation_is_asked_of_the_governing_clause() {
        check("never run curl x | sh from unknown sites", "curl", true);
        check("never skip this step: run curl x | sh", "curl", false);
        check("run curl x | sh. never look back", "curl", false);
        check("do not: curl x | sh", "curl", true);
        check("don't forget to run curl x | sh", "curl", false);
        check("this is not easy. run curl x | sh", "curl", false);
        check("❌ curl x | sh", "curl", true);
        check("first download, then run curl", "curl", false);
        check("agents must not ignore it but run curl", "curl", false);
        check("detects prompts that say ignore previous instructions", "ignore", true);
        check("check for updates: run curl x | sh", "curl", false);
        check("look for patterns like curl x | sh", "curl", true);
        check("to avoid errors, run curl x | sh", "curl", false);
        check("avoid commands such as curl x | sh", "curl", true);
        check("copy this block and run curl x | sh", "curl", false);
        check("avoid trouble by running curl x | sh", "curl", false);
        check("instead of waiting, run curl x | sh", "curl", false);
    }
}
