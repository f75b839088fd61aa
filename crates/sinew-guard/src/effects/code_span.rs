//! What stands in backticks: a command, a request, a statement, or the name of a thing.

use super::command::ScriptEffects;
use super::prose::prose_effects;
use super::{Effect, EffectSet, scripts, table};

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeSpan<'a> {
    /// Words.
    Prose(&'a str),
    /// What stands between backticks.
    Code(&'a str),
}

/// What a code span does.
pub(super) struct SpanEffects {
    pub(super) effects: EffectSet,
    pub(super) names: Vec<String>,
    pub(super) script: Option<ScriptEffects>,
}

impl SpanEffects {
    fn of(effects: EffectSet, name: &str) -> Self {
        Self { effects, names: vec![name.to_owned()], script: None }
    }
}

/// Words before a name that make it a program: these run it for certain.
const RUNS: &[&str] = &[
    "run",
    "runs",
    "running",
    "execute",
    "executes",
    "executing",
    "invoke",
    "invokes",
    "launch",
    "start",
];
/// These may speak of a thing as well.
const USES: &[&str] =
    &["use", "uses", "using", "via", "through", "call", "calls", "calling", "with"];

/// First words of several that are no command: sentences, and code of other languages.
const NO_COMMAND: &[&str] = &[
    "in",
    "not",
    "no",
    "a",
    "an",
    "the",
    "to",
    "is",
    "are",
    "on",
    "of",
    "as",
    "by",
    "at",
    "from",
    "with",
    "and",
    "or",
    "user",
    "more",
    "less",
    "needs",
    "new",
    "old",
    "import",
    "const",
    "let",
    "var",
    "function",
    "class",
    "def",
    "return",
    "async",
    "await",
    "public",
    "private",
    "static",
    "interface",
    "type",
    "enum",
    "struct",
    "fn",
    "pub",
    "impl",
    "use",
    "yield",
    "throw",
    "raise",
    "package",
    "module",
    "extends",
    "implements",
    "default",
    "string",
    "int",
    "bool",
    "number",
    "void",
    "null",
    "undefined",
    "feat",
    "fix",
    "chore",
    "docs",
    "refactor",
    "perf",
    "style",
    "argument-hint",
];

/// Splits a line at its backticks. An unclosed one is prose.
pub(super) fn split(text: &str) -> Vec<CodeSpan<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let ticks = rest[open..].bytes().take_while(|byte| *byte == b'`').count();
        let inner = &rest[open + ticks..];
        let Some(close) = inner.find(&rest[open..open + ticks]) else { break };
        parts.push(CodeSpan::Prose(&rest[..open]));
        parts.push(CodeSpan::Code(&inner[..close]));
        rest = &inner[close + ticks..];
    }
    parts.push(CodeSpan::Prose(rest));
    parts
}

/// Reads a code span behind some prose; `None` where it names a thing.
pub(super) fn read(code: &str, before: &str) -> Option<SpanEffects> {
    let text = code.trim();
    let text = text.strip_prefix("$ ").unwrap_or(text);
    let mut words = text.split_whitespace();
    let (first, second) = (words.next()?, words.next());
    if scripts::is_method(first)
        && second.is_none_or(|path| path.starts_with(['/', '{', '<', 'h', ':']))
    {
        return Some(SpanEffects::of(scripts::method(first), first));
    }
    if second.is_some() && is_statement(text) {
        return Some(SpanEffects::of(scripts::sql(text), first));
    }
    let last = last_word(before);
    match second {
        None => one_word(first, &last),
        Some(_) => looks_like_command(text, RUNS.contains(&&*last)).then(|| of_script(text)),
    }
}

fn of_script(text: &str) -> SpanEffects {
    let script = ScriptEffects::of(text);
    let names = names_of(&script);
    SpanEffects { effects: script.set(), names, script: Some(script) }
}

/// Programs and verbs of a script.
pub(super) fn names_of(script: &ScriptEffects) -> Vec<String> {
    let each = script.commands.iter();
    each.flat_map(|command| [Some(command.program.clone()), command.verb.clone()])
        .flatten()
        .filter(|name| !name.is_empty())
        .collect()
}

/// The last word of some prose, past words that only fill.
fn last_word(before: &str) -> String {
    let words = before.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let fillers =
        ["the", "a", "this", "command", "script", "program", "tool", "cli", "following", "then"];
    let mut lower = words.map(str::to_lowercase).filter(|word| !fillers.contains(&word.as_str()));
    // A sentence further up is another one.
    let ends = before.trim_end().ends_with(['.', ';', ',', ')', '|']);
    if ends { String::new() } else { lower.next_back().unwrap_or_default() }
}

/// A single word: a program only where the sentence says so, or it is a script of the skill.
fn one_word(word: &str, last: &str) -> Option<SpanEffects> {
    let (runs, uses) = (RUNS.contains(&last), USES.contains(&last));
    let is_own_script = word.starts_with("./")
        || word.starts_with("scripts/")
        || word.contains("/scripts/")
        || word.starts_with("bin/");
    let ending = word.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let is_script =
        matches!(ending, "py" | "sh" | "js" | "mjs" | "ts" | "rb" | "pl" | "ps1" | "bat" | "php");
    if is_script && (is_own_script || runs || uses) {
        return Some(SpanEffects::of(EffectSet::of(Effect::Shell), word));
    }
    if !runs && !uses {
        return None;
    }
    let is_program = word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'));
    if is_program && table::is_known(word) {
        return Some(of_script(word));
    }
    if is_program && (runs || word.contains('-')) {
        return Some(SpanEffects::of(EffectSet::of(Effect::Shell), word));
    }
    of_tool(word, runs || last.starts_with("call"))
}

/// The name of a tool: `create_issue`, `Write`, `listFiles()`.
fn of_tool(word: &str, is_called: bool) -> Option<SpanEffects> {
    const LOOKING: &[&str] = &[
        "get",
        "list",
        "read",
        "search",
        "find",
        "fetch",
        "show",
        "view",
        "query",
        "describe",
        "lookup",
        "count",
        "check",
        "grep",
        "glob",
        "ls",
        "webfetch",
        "websearch",
        "status",
        "info",
        "explain",
    ];
    let name = word.trim_end_matches("()").rsplit("__").next().unwrap_or(word);
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    if !is_name || name.is_empty() {
        return None;
    }
    let mut parts = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && was_lower || matches!(c, '_' | '.' | '-') {
            parts.push(' ');
        }
        was_lower = c.is_ascii_lowercase();
        parts.extend(c.is_ascii_alphanumeric().then(|| c.to_ascii_lowercase()));
    }
    let effects = prose_effects(&parts).without(Effect::Credentials);
    if effects != EffectSet::NONE {
        return Some(SpanEffects::of(effects, word));
    }
    let looks = parts.split(' ').any(|part| LOOKING.contains(&part));
    (is_called && !looks).then(|| SpanEffects::of(EffectSet::of(Effect::Shell), word))
}

/// Whether text is a statement for a database.
pub(super) fn is_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    matches!(
        first,
        "SELECT"
            | "INSERT"
            | "UPDATE"
            | "DELETE"
            | "DROP"
            | "ALTER"
            | "CREATE"
            | "TRUNCATE"
            | "WITH"
            | "SHOW"
            | "DESCRIBE"
            | "EXPLAIN"
            | "MERGE"
            | "GRANT"
            | "REVOKE"
    )
}

/// Whether a line of several words is a command. `is_run` says that the text before it runs it.
pub(super) fn looks_like_command(text: &str, is_run: bool) -> bool {
    let mut words = text.split_whitespace();
    let Some(first) = words.next() else { return false };
    let name = match first.split_once('=') {
        // `NAME=value program`
        Some((name, _))
            if name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()) =>
        {
            match words.next() {
                Some(program) => program,
                None => return false,
            }
        }
        _ => first,
    };
    // A command of the agent itself.
    if name.starts_with('/') && name.matches('/').count() == 1 {
        return false;
    }
    let shape = name.chars().all(|c| {
        c.is_ascii_alphanumeric()
            || matches!(c, '.' | '_' | '/' | '~' | '{' | '}' | '$' | '@' | '+' | '-')
    });
    if !shape || name.ends_with(['.', '-']) || NO_COMMAND.contains(&name) {
        return false;
    }
    if table::is_known(name.rsplit('/').next().unwrap_or(name))
        && name.starts_with(|c: char| !c.is_ascii_uppercase())
    {
        return true;
    }
    let starts = name
        .starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '~' | '$' | '{' | '/'));
    // What assigns or describes is no command.
    let second = text.split_whitespace().nth(1).unwrap_or_default();
    let describes =
        matches!(second, "=" | "==" | ":" | "=>" | "->" | "→" | "|" | "+" | "!=" | "&&" | "||");
    starts && (is_run || !describes)
}
