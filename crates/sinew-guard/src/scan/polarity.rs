//! Polarity: whether a text tells its reader to do something, or not to.
//!
//! Negation is asked of the clause that governs a match. "Never skip this step: run X" does not
//! negate X, and "Run X. Never Y." does not either.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memchr2;

use super::lines::Lines;
use super::role::{Role, Span};

/// What surrounds a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Context {
    /// Under a heading or an introduction that says not to.
    pub(crate) negated: bool,
    /// In a list of patterns.
    pub(crate) pattern: bool,
    /// A comment or docstring of code.
    pub(crate) comment: bool,
}

/// Negators that govern what follows them in a clause.
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
];
/// Verbs of looking: they govern what they look for when they say what kind of thing that is. "Check for
/// updates: run X" asks for X.
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
/// What texts about attacks look for.
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
/// Verbs after which a negator asks for the deed: "never skip", "don't forget".
const DOUBLE: &[&str] = &[
    "skip", "forget", "omit", "fail", "hesitate", "miss", "worry", "ignore", "tell", "mention",
    "inform", "notify", "warn", "ask", "stop", "refuse",
];

/// Whether the clause before byte `at` of a folded line negates what stands there.
pub(crate) fn negates(line: &str, at: usize) -> bool {
    let mut before = &line[..floor(line, at)];
    // What a bracket or a code mark opens belongs to the clause outside it.
    if before.len() > 400 {
        before = &before[floor(before, before.len() - 400)..];
    }
    // Most lines forbid nothing, and need no look at their clauses.
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
        // A colon ends the clause unless what stands before it is the order itself.
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
        let words = NEGATORS.iter().chain(SEARCHES);
        AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words).ok()
    });
    WORDS.as_ref()
}

fn negator_governs(clause: &str) -> bool {
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
            || !negator.starts_with(|c: char| c.is_alphanumeric());
        let after = clause[found.end()..].trim_start();
        starts_word && !DOUBLE.iter().any(|verb| after.starts_with(verb))
    })
}

/// "To avoid trouble, run X" and "Avoid trouble by running X" ask for X: what stands before is why.
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

/// Headings under which things are shown in order not to be done.
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
    // An order in a heading says what not to do; "Never miss an update" says nothing of the kind.
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

/// The context of every line, kept where it changes.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    changes: Vec<(usize, Context)>,
}

impl Contexts {
    /// Reads folded text in one pass.
    pub(crate) fn new(text: &str, spans: &[Span]) -> Self {
        let mut contexts = Self::default();
        let mut reader = Reader::default();
        let mut span_at = 0;
        for (number, line) in Lines::new(text).enumerate() {
            while span_at + 1 < spans.len() && spans[span_at].lines.end <= number {
                span_at += 1;
            }
            let Some(span) = spans.get(span_at) else { break };
            let context = reader.read(number, line, span);
            let last = contexts.changes.last().map_or(Context::default(), |(_, last)| *last);
            if context != last {
                contexts.changes.push((number, context));
            }
        }
        contexts
    }

    /// What surrounds a line.
    pub(crate) fn at(&self, line: usize) -> Context {
        let after = self.changes.partition_point(|(from, _)| *from <= line);
        after.checked_sub(1).map_or(Context::default(), |at| self.changes[at].1)
    }
}

/// What one line leaves behind for the next.
#[derive(Debug, Default)]
struct Reader {
    heading: bool,
    intro: bool,
    in_docstring: bool,
    bad_comment: bool,
    /// Depth of the brackets of a list of patterns, and the line it started on.
    list: Option<(i32, usize)>,
    previous_block: Option<u32>,
}

impl Reader {
    fn read(&mut self, number: usize, line: &str, span: &Span) -> Context {
        let trimmed = trim(line);
        let mut context = Context::default();
        if span.code {
            if self.previous_block != Some(span.block) {
                self.in_docstring = false;
                self.bad_comment = false;
                self.list = None;
            }
            if span.role != Role::Frontmatter {
                self.code(trimmed, number, &mut context);
                context.negated |= self.heading || self.intro || self.bad_comment;
            }
        } else if let Some(first) = trimmed.bytes().next() {
            if first == b'#' {
                self.heading = is_negative_heading(trimmed);
                self.intro = false;
                context.negated = self.heading;
            } else {
                let item = matches!(first, b'-' | b'*' | b'+' | b'|' | b'>' | b'0'..=b'9');
                self.intro &= item;
                context.negated = self.heading || self.intro;
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

    fn code(&mut self, line: &str, number: usize, context: &mut Context) {
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
        // A list of patterns lasts until its bracket closes; an unclosed one not for ever.
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

/// Brackets that a line opens and does not close.
fn brackets(line: &str) -> i32 {
    line.bytes().fold(0, |depth, b| match b {
        b'[' | b'{' | b'(' => depth + 1,
        b']' | b'}' | b')' => depth - 1,
        _ => depth,
    })
}

/// `trim`, which most lines do not need.
fn trim(line: &str) -> &str {
    let ends = (line.as_bytes().first(), line.as_bytes().last());
    match ends {
        (Some(first), Some(last)) if first.is_ascii_graphic() && last.is_ascii_graphic() => line,
        _ => line.trim(),
    }
}

/// Whether the match at `at..end` is a search pattern or stands in a literal of one.
pub(crate) fn is_pattern_literal(line: &str, at: usize, end: usize) -> bool {
    const SEARCH: &[&str] =
        &["grep ", "rg ", "ripgrep ", "ag ", "ack ", "findstr ", "select-string "];
    const CALLS: &[&str] = &[
        "re.compile",
        "re.search",
        "re.match",
        "re.findall",
        "regexp(",
        ".test(",
        ".match(",
        ".includes(",
        "contains(",
        "r\"",
        "r'",
        "regex",
        "pattern",
        "matches(",
        "rule(",
        "startswith(",
        "assert",
        "expect(",
        "== \"",
        "== '",
    ];
    let before = &line[..floor(line, at)];
    let segment = before.rsplit([';', '&']).next().unwrap_or(before);
    let in_quotes = in_literal(line, at, end);
    if in_quotes && is_handed_over(before) {
        return false;
    }
    if SEARCH.iter().any(|tool| segment.contains(tool)) && (in_quotes || !segment.contains('|')) {
        return true;
    }
    // What is printed is said, unless it goes on to somewhere.
    const PRINTS: &[&str] = &["echo ", "printf ", "print(", "console.log(", "write-host ", "puts "];
    let after = &line[floor(line, end)..];
    if in_quotes
        && PRINTS.iter().any(|call| before.trim_start().starts_with(call))
        && !after.contains(['>', '|'])
        && !before.contains('|')
    {
        return true;
    }
    in_quotes
        && (CALLS.iter().any(|call| before.contains(call))
            || is_asked_of(before)
            || is_expression(line, at, end))
}

/// `x in ["…` asks whether something is there; `for x in ["…` goes through it.
fn is_asked_of(before: &str) -> bool {
    before.rfind(" in ").is_some_and(|at| {
        let asked = &before[..at];
        !asked.trim_start().starts_with("for ") && !asked.contains(" for ")
    })
}

/// Whether the literal that is open at the end of `before` goes to something that runs it.
fn is_handed_over(before: &str) -> bool {
    const RUNS: &[&str] = &[
        " -c",
        "eval",
        "exec",
        "system(",
        "popen(",
        "subprocess",
        "spawn",
        "execsync(",
        "iex",
        "invoke-expression",
        "new function",
        "-command",
        "<<<",
    ];
    let opened = before.rfind(['"', '\'', '`']).unwrap_or(before.len());
    let call = before[..opened].trim_end_matches(['(', '[', '"', '\'', ' ', '$', 'f', 'r', 'b']);
    let command = call.rsplit([';', '|', '&']).next().unwrap_or(call);
    RUNS.iter().any(|run| command.ends_with(run.trim_end_matches('(')))
        || command.contains("subprocess.")
}

/// Whether the literal around `at..end` is a regular expression, by what only those contain.
fn is_expression(line: &str, at: usize, end: usize) -> bool {
    const MARKS: &[&str] = &["(?i)", "(?:", "\\s*", "\\s+", "\\b", "\\w", "\\d", "[^", ".*"];
    let (at, end) = (floor(line, at), floor(line, end));
    let start = line[..at].rfind(['"', '\'']).map_or(0, |i| i + 1);
    let stop = line[end..].find(['"', '\'']).map_or(line.len(), |i| end + i);
    let literal = &line[start..stop];
    MARKS.iter().filter(|mark| literal.contains(**mark)).count() >= 2
        || literal.starts_with("(?i)")
        || literal.contains("(?i)(")
}

/// The command that `at..end` belongs to: its neighbours on the line, and what a comment says, cannot
/// speak for it.
pub(crate) fn command_around(line: &str, at: usize, end: usize) -> &str {
    let (at, end) = (floor(line, at), floor(line, end));
    let start = line[..at].rfind([';', '|', '&']).map_or(0, |i| i + 1);
    let after = &line[end..];
    let next = [after.find([';', '|', '&']), after.find(" #"), after.find(" //")];
    let stop = next.into_iter().flatten().min().map_or(line.len(), |i| end + i);
    &line[start..stop]
}

/// Whether `at..end` lies between two quotation marks or code marks of one kind.
pub(crate) fn in_literal(line: &str, at: usize, end: usize) -> bool {
    // A match may take the closing mark along.
    let last = floor(line, end.min(line.len()).saturating_sub(1).max(at));
    let (before, after) = (&line[..floor(line, at)], &line[last..]);
    ['"', '\'', '`'].iter().any(|quote| {
        let open = before.matches(*quote).count() % 2 == 1;
        // A quotation may go on in the next line; an apostrophe is none.
        open && (after.contains(*quote) || *quote == '"')
    })
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
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

    #[test]
    fn searched_text_is_a_pattern() {
        let line = "grep -rn \"curl .* | bash\" .";
        assert!(is_pattern_literal(line, line.find("curl").unwrap_or(0), 22));
        let line = "curl x | bash";
        assert!(!is_pattern_literal(line, 0, 13));
    }
}
