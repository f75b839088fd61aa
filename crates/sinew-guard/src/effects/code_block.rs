//! Blocks of code: commands of a shell one by one, other languages as a whole, data not at all.

use super::code_span;
use super::command::ScriptEffects;
use super::prose::prose_effects;
use super::skill_text::{SkillStep, SkillStepKind};
use super::{Effect, EffectSet, scripts};

/// Labels of blocks that a shell runs.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "shell", "ksh", "fish", "dash", "shellscript"];
/// Sessions: what follows a prompt is a command, the rest is its output.
const SESSIONS: &[&str] = &["console", "terminal", "shell-session", "shellsession", "session"];
/// Shells that are not read here.
const OTHER_SHELLS: &[&str] =
    &["powershell", "pwsh", "ps1", "bat", "batch", "cmd", "dos", "applescript", "nushell"];
/// Languages whose programs may do anything.
const PROGRAMS: &[&str] = &[
    "python",
    "py",
    "python3",
    "javascript",
    "js",
    "jsx",
    "mjs",
    "typescript",
    "ts",
    "tsx",
    "ruby",
    "rb",
    "go",
    "golang",
    "rust",
    "rs",
    "java",
    "kotlin",
    "swift",
    "c",
    "cpp",
    "c++",
    "csharp",
    "cs",
    "php",
    "perl",
    "lua",
    "r",
    "julia",
    "scala",
    "elixir",
    "clojure",
    "haskell",
    "dart",
    "vue",
    "svelte",
    "solidity",
    "node",
    "deno",
    "groovy",
    "matlab",
    "makefile",
    "make",
    "dockerfile",
    "docker",
    "hcl",
    "terraform",
    "tf",
    "objc",
    "zig",
    "nim",
    "ocaml",
    "fsharp",
    "vb",
    "vba",
    "cypher",
    "mongodb",
    "js-repl",
];
/// What describes and is not run.
const DATA: &[&str] = &[
    "json",
    "jsonc",
    "json5",
    "jsonl",
    "yaml",
    "yml",
    "toml",
    "ini",
    "xml",
    "html",
    "css",
    "scss",
    "md",
    "markdown",
    "mdx",
    "csv",
    "tsv",
    "diff",
    "patch",
    "mermaid",
    "dot",
    "svg",
    "regex",
    "log",
    "tree",
    "latex",
    "tex",
    "bibtex",
    "proto",
    "protobuf",
    "env",
    "dotenv",
    "properties",
    "plantuml",
    "ascii",
    "output",
    "gitignore",
    "conf",
    "nginx",
    "http-response",
    "jq",
    "math",
    "promql",
    "logql",
    "kql",
    "prompt",
];
/// Lines of a program that are shown in place of all of it.
const SHOWN_LINES: usize = 3;

/// A block of code and what it is labelled as.
pub(super) struct CodeBlock<'a> {
    label: String,
    lines: Vec<&'a str>,
}

/// The block that begins at a line, and the line behind it. Indented commands are blocks too.
pub(super) fn at<'a>(lines: &[&'a str], at: usize) -> Option<(CodeBlock<'a>, usize)> {
    let line = lines[at];
    let text = line.trim();
    if let Some(fence) = fence_of(text) {
        let label = text[fence.len()..].trim().trim_start_matches(['{', '.']);
        let label =
            label.split([' ', '}', ',', ':']).next().unwrap_or_default().to_ascii_lowercase();
        let rest = &lines[at + 1..];
        let close = rest.iter().position(|line| {
            let line = line.trim();
            line.starts_with(fence) && line.trim_start_matches(&fence[..1]).is_empty()
        });
        let end = close.unwrap_or(rest.len());
        let block = CodeBlock { label, lines: rest[..end].to_vec() };
        return Some((block, (at + end + 2).min(lines.len())));
    }
    let indented = line.starts_with("    ") || line.starts_with('\t');
    let prompt = text.starts_with("$ ");
    let is_listed =
        text.starts_with(['-', '*', '|', '#']) || text.starts_with(|c: char| c.is_ascii_digit());
    let is_command = || text.contains(" -") && code_span::looks_like_command(text, false);
    if (prompt || indented && !is_listed && is_command()) && !text.contains('`') {
        return Some((CodeBlock { label: "indented".to_owned(), lines: vec![text] }, at + 1));
    }
    None
}

/// Whether a block of code follows from a line on, past blank lines.
pub(super) fn follows(lines: &[&str], at: usize) -> bool {
    let next = lines[at.min(lines.len())..].iter().find(|line| !line.trim().is_empty());
    next.is_some_and(|line| fence_of(line.trim()).is_some())
}

/// The marks that open a block.
fn fence_of(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    // "```code```" on one line is a code span.
    (length >= 3 && !text[length..].contains('`')).then(|| &text[..length])
}

impl CodeBlock<'_> {
    /// Its steps, with the script where it is one.
    pub(super) fn steps(&self) -> Vec<(SkillStep, Option<ScriptEffects>)> {
        let label = self.label.as_str();
        let text = || self.lines.join("\n");
        if SHELLS.contains(&label) || label == "indented" {
            return of_shell(&without_prompts(&self.lines, false));
        }
        if SESSIONS.contains(&label) {
            return of_shell(&without_prompts(&self.lines, true));
        }
        if OTHER_SHELLS.contains(&label) {
            let lines = self.lines.iter().map(|line| line.trim());
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ':']));
            return lines.map(|line| whole(line, EffectSet::of(Effect::Shell))).collect();
        }
        if PROGRAMS.contains(&label) {
            return self.shown_program();
        }
        match label {
            "sql" | "postgresql" | "mysql" | "sqlite" | "plsql" | "tsql" | "bigquery" => {
                let text = text();
                let statements = text.split(';').map(str::trim).filter(|part| !part.is_empty());
                return statements.map(|one| whole(one, scripts::sql(one))).collect();
            }
            "graphql" | "gql" => {
                let changes = text().split_whitespace().any(|word| word == "mutation");
                let set = if changes { EffectSet::of(Effect::Write) } else { EffectSet::NONE };
                return vec![whole(self.lines.first().unwrap_or(&""), set)];
            }
            _ if DATA.contains(&label) => return Vec::new(),
            _ => {}
        }
        self.of_unlabelled()
    }

    /// A program, by its first lines.
    fn shown_program(&self) -> Vec<(SkillStep, Option<ScriptEffects>)> {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.trim_end()).collect();
        let filled = || lines.iter().filter(|line| !line.trim().is_empty());
        let mut text: Vec<&str> = filled().take(SHOWN_LINES).copied().collect();
        if text.is_empty() {
            return Vec::new();
        }
        let more = format!("… {} lines of {}", filled().count(), self.label);
        if filled().count() > SHOWN_LINES {
            text.push(&more);
        }
        vec![whole(&text.join("\n"), EffectSet::of(Effect::Shell))]
    }

    /// A block without a label that is known: the lines of it that are commands or requests.
    fn of_unlabelled(&self) -> Vec<(SkillStep, Option<ScriptEffects>)> {
        let lines = || self.lines.iter().map(|line| line.trim());
        if lines().any(|line| line.starts_with("$ ")) {
            return of_shell(&without_prompts(&self.lines, true));
        }
        let is_filled = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let filled = lines().filter(is_filled).count();
        let certain = |line: &str| {
            let first = line.split_whitespace().next().unwrap_or_default();
            let many = line.split_whitespace().nth(1).is_some();
            let flagged = line.contains(" -") || line.contains(" | ") || line.contains("&&");
            let named = super::table::is_known(first) && !is_sentence(line);
            let own = first.contains(['-', '/']) && !line.contains(": ") && !is_sentence(line);
            many && (named
                || code_span::looks_like_command(line, false)
                    && (flagged || own)
                    && !is_sentence(line))
        };
        let commands = lines().filter(is_filled).filter(|line| certain(line)).count();
        if commands * 2 > filled {
            return of_shell(&self.lines.join("\n"));
        }
        let mut steps = Vec::new();
        for line in lines().filter(is_filled) {
            let mut words = line.split_whitespace();
            let (first, second) =
                (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if scripts::is_method(first) && second.starts_with(['/', 'h', '{', '<']) {
                steps.push(whole(line, scripts::method(first)));
            } else if code_span::is_statement(line) && line.split_whitespace().nth(1).is_some() {
                steps.push(whole(line, scripts::sql(line)));
            } else if certain(line) {
                steps.extend(of_shell(line));
            } else if line.starts_with(['"', '“']) {
                // What the user may say to it.
                let effects = prose_effects(line);
                steps.extend((effects != EffectSet::NONE).then(|| whole(line, effects)));
            }
        }
        steps
    }
}

/// Whether a line reads as a sentence: words, and marks that commands do not end with.
fn is_sentence(line: &str) -> bool {
    let plain =
        line.split_whitespace().filter(|word| word.chars().all(char::is_alphabetic)).count();
    line.ends_with(['.', '?', '!', ':', ',']) && plain > 2
        || line.contains("→")
        || line.contains("—")
}

fn whole(text: &str, effects: EffectSet) -> (SkillStep, Option<ScriptEffects>) {
    let first = text.split_whitespace().next().unwrap_or_default().to_owned();
    let step = SkillStep {
        text: text.to_owned(),
        kind: SkillStepKind::Command,
        effects,
        names: vec![first],
    };
    (step, None)
}

/// Lines without prompts. In a session what follows no prompt is output.
fn without_prompts(lines: &[&str], is_session: bool) -> String {
    let prompt = |line: &str| {
        let line = line.trim_start();
        ["$ ", "% ", "# "]
            .into_iter()
            .take(if is_session { 3 } else { 1 })
            .find_map(|mark| line.strip_prefix(mark).map(str::to_owned))
    };
    let any = is_session && lines.iter().any(|line| prompt(line).is_some());
    let mut out: Vec<String> = Vec::new();
    let mut continued = false;
    for line in lines {
        match prompt(line) {
            Some(command) => out.push(command),
            None if continued || !any => out.push((*line).to_owned()),
            None => continue,
        }
        continued = line.trim_end().ends_with('\\');
    }
    out.join("\n")
}

/// The pipelines of a script, each as it is.
fn of_shell(text: &str) -> Vec<(SkillStep, Option<ScriptEffects>)> {
    let script = ScriptEffects::of(text);
    let mut steps: Vec<(SkillStep, Option<ScriptEffects>)> = Vec::new();
    let mut at = 0;
    while at < script.commands.len() {
        let span = script.commands[at].span.clone();
        let count = script.commands[at..].iter().take_while(|command| command.span == span).count();
        let commands = script.commands[at..at + count].to_vec();
        let own = ScriptEffects { commands };
        let step = SkillStep {
            text: text.get(span).unwrap_or(text).trim().to_owned(),
            kind: SkillStepKind::Command,
            effects: own.set(),
            names: code_span::names_of(&own),
        };
        steps.push((step, Some(own)));
        at += count;
    }
    steps
}
