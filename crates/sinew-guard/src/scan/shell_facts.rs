//! Facts of shell text: what flows into an interpreter, a file or the network, read from the
//! commands and not from their spelling.
//!
//! A line pattern knows the tails that its author thought of; here a line is split
//! ([`crate::shell`]), wrappers and redirections fall away, and the command position decides.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::facts::{ExtractedFacts, FactSource, ScanFact, fact_at};
use super::filetype::ScannedFileKind;
use super::hosts::HostClass;
use super::pattern::WorkBudget;
use super::role::TextRole;
use super::shell_packages::{self as packages, PackageSpec};
use super::shell_programs as programs;
use super::shell_programs::Interpreter;
use super::shell_secrets::{SecretStep, SecretTrail, SecretWorth};
use crate::shell::{RedirectionKind, ShellCommand, ShellPlace, ShellScript, ShellWord, base_name};

/// Kinds of facts that no pattern gives: they are read from commands and programs.
pub(crate) const KINDS: &[&str] = &[
    "registry-redirect",
    "remote-redirect",
    "package-run",
    "squat-package",
    "settings-widen",
    "secret-flow",
    "env-flow",
    "fetched-run",
    "secret-pack",
    "file-send",
];

/// A command that hands its text to another shell may do so again; people do it twice.
const MAX_INNER: usize = 3;
/// Commands of a body that are looked at: a body is asked for by each of its callers.
const MAX_BODY: usize = 64;
/// Longer texts of one kind are data, and were looked at by patterns.
const MAX_TEXT: usize = 256 * 1024;

/// Words without which no command here matters.
const TRIGGERS: &[&str] = &[
    "curl",
    "wget",
    "aria2c",
    "fetch ",
    "http ",
    "https ",
    "xh ",
    "lynx",
    "base64",
    "base32",
    "xxd",
    "openssl",
    "gunzip",
    "zcat",
    "uudecode",
    "nc ",
    "ncat",
    "netcat",
    "socat",
    "scp ",
    "rsync ",
    "gist",
    "tar ",
    "zip ",
    "history",
    "dig ",
    "nslookup",
    "config set",
    "remote ",
    "registry",
    "index-url",
    "goproxy",
    "npx",
    "uvx",
    "pipx",
    "pip install",
    "pip3 install",
    "npm i",
    "npm add",
    "pnpm ",
    "yarn ",
    "bunx",
    ".bashrc",
    ".zshrc",
    "profile",
    ".zshenv",
    "settings.json",
    "claude.md",
    "agents.md",
    "soul.md",
    ".claude",
    "osascript",
    "nohup",
    "chmod",
    "printenv",
    "env |",
    "gpg",
    "rev ",
    " tr ",
];

fn triggers() -> Option<&'static AhoCorasick> {
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(TRIGGERS).ok());
    WORDS.as_ref()
}

/// Adds the facts of one layer.
pub(crate) fn extract(
    from: &FactSource<'_>,
    layer_number: usize,
    work: &mut WorkBudget,
    out: &mut ExtractedFacts,
) {
    let layer = &from.file.layers.list[layer_number];
    let Some(words) = triggers() else { return };
    if !words.is_match(&layer.text) {
        return;
    }
    let mut reader = ShellFactReader { from: *from, layer_number, facts: Vec::new(), last: None };
    if layer.depth > 0 && layer.text.len() <= MAX_TEXT {
        work.spend(layer.text.len());
        reader.read_text(0, &layer.text, 0);
    } else {
        for (start, text, style) in regions(from, layer_number) {
            if work.is_spent() {
                break;
            }
            if text.len() > MAX_TEXT || !words.is_match(text) {
                continue;
            }
            work.spend(text.len());
            match style {
                RegionStyle::Shell => reader.read_text(start, text, 0),
                RegionStyle::Lines => reader.read_lines(start, text, words),
            }
        }
    }
    let room = super::facts::MAX_FACTS.saturating_sub(out.facts.len());
    out.facts.extend(reader.facts.into_iter().take(room));
}

/// How a stretch of text holds commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegionStyle {
    /// All of it is shell.
    Shell,
    /// Commands stand in inline code, in string literals, or on lines of their own.
    Lines,
}

/// The stretches of a layer: start, text, style.
fn regions<'a>(from: &FactSource<'a>, layer_number: usize) -> Vec<(usize, &'a str, RegionStyle)> {
    let file = from.file;
    let layer = &file.layers.list[layer_number];
    if layer_number > 0 {
        return vec![(0, layer.text.as_str(), RegionStyle::Lines)];
    }
    let is_shell_file = file.kind == ScannedFileKind::Script("shell");
    let mut found = Vec::new();
    let mut start = 0;
    for (number, span) in file.spans.iter().enumerate() {
        let rest = &layer.text.as_bytes()[start..];
        let last = span.lines.len().checked_sub(1).filter(|_| number + 1 < file.spans.len());
        let end = last.and_then(|last| memchr::memchr_iter(b'\n', rest).nth(last));
        let end = end.map_or(layer.text.len(), |length| start + length + 1);
        let text = &layer.text[start..end];
        if is_shell_file || span.role == TextRole::Command {
            let (skip, inner) = without_fences(text);
            found.push((start + skip, inner, RegionStyle::Shell));
        } else {
            found.push((start, text, RegionStyle::Lines));
        }
        start = end;
    }
    found
}

/// The text between the fences of a code block, and where it starts.
fn without_fences(text: &str) -> (usize, &str) {
    let is_fence = |line: &str| {
        let line = line.trim_start_matches([' ', '\t', '>']);
        line.starts_with("```") || line.starts_with("~~~")
    };
    let first = text.find('\n').map_or(text.len(), |at| at + 1);
    let (skip, text) = if is_fence(&text[..first]) { (first, &text[first..]) } else { (0, text) };
    let trimmed = text.trim_end();
    let last = trimmed.rfind('\n').map_or(0, |at| at + 1);
    if is_fence(&trimmed[last..]) { (skip, &text[..last]) } else { (skip, text) }
}

/// What a command gives to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Flow {
    Nothing,
    Decoded,
    Fetched,
}

struct ShellFactReader<'a> {
    from: FactSource<'a>,
    layer_number: usize,
    facts: Vec<ScanFact>,
    /// The line of the last position that was asked for: its start, its end, its number.
    last: Option<(usize, usize, usize)>,
}

/// One script and where its text is in the layer; text that was unquoted has no place of its own.
struct PlacedScript<'a> {
    script: &'a ShellScript,
    start: usize,
    fixed: bool,
    inner: usize,
}

impl PlacedScript<'_> {
    fn position(&self, at: usize) -> usize {
        if self.fixed { self.start } else { self.start + at }
    }
}

impl ShellFactReader<'_> {
    /// Splits text that is shell.
    fn read_text(&mut self, start: usize, text: &str, inner: usize) {
        let script = ShellScript::parse(text);
        self.read_script(&PlacedScript { script: &script, start, fixed: false, inner });
    }

    /// Text that another command unquoted and runs.
    fn read_inner(&mut self, start: usize, text: &str, inner: usize) {
        if inner < MAX_INNER && text.len() <= MAX_TEXT {
            let script = ShellScript::parse(text);
            self.read_script(&PlacedScript { script: &script, start, fixed: true, inner });
        }
    }

    /// Lines of prose and of other languages: inline code, string literals, bare commands.
    fn read_lines(&mut self, start: usize, text: &str, words: &AhoCorasick) {
        let mut until = 0;
        for hit in words.find_iter(text) {
            if hit.start() < until {
                continue;
            }
            let from = text[..hit.start()].rfind('\n').map_or(0, |at| at + 1);
            let end = text[hit.start()..].find('\n').map_or(text.len(), |at| hit.start() + at);
            until = end;
            let line = &text[from..end];
            if line.len() > 8 * 1024 {
                continue;
            }
            for (at, part) in command_parts(line, hit.start() - from) {
                self.read_text(start + from + at, part, 1);
            }
        }
    }

    fn read_script(&mut self, placed: &PlacedScript<'_>) {
        let script = placed.script;
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut pipelines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, command) in script.commands.iter().enumerate() {
            if let Some(parent) = command.parent {
                children.entry(parent).or_default().push(at);
            }
            pipelines.entry(command.pipeline).or_default().push(at);
        }
        let tree = CommandTree { placed, children: &children };
        for stages in pipelines.values() {
            self.pipeline(&tree, stages);
        }
        for (at, command) in script.commands.iter().enumerate() {
            self.command(&tree, at, command);
        }
        for (at, step) in SecretTrail::new(script, &children).follow() {
            self.secret_step(&tree, at, &step);
        }
    }

    /// What happens to a secret. A login may go where anyone's own account is.
    fn secret_step(&mut self, tree: &CommandTree<'_>, at: usize, step: &SecretStep) {
        let start = tree.placed.script.commands[at].span.start;
        let (class, any) = self.hosts_of(tree, at);
        match step {
            SecretStep::Pack(file) => {
                self.push(tree.placed, "secret-pack", start, None, true, Some(file));
            }
            SecretStep::Send(file) => {
                self.push(tree.placed, "file-send", start, class, any, Some(file));
            }
            SecretStep::Leak(worth) => {
                let goes_to_stranger = class.is_some_and(|class| class >= HostClass::Tenant);
                if goes_to_stranger || *worth == SecretWorth::Keys {
                    self.push(tree.placed, "secret-flow", start, class, true, None);
                }
            }
        }
    }

    /// What flows from one stage to the next.
    fn pipeline(&mut self, tree: &CommandTree<'_>, stages: &[usize]) {
        let mut flow = Flow::Nothing;
        let mut hosts = None;
        let mut has_urls = false;
        let first = tree.placed.script.commands[stages[0]].span.start;
        for at in stages {
            let command = &tree.placed.script.commands[*at];
            if flow > Flow::Nothing {
                if tree.runs_input(*at, 0) {
                    let kind = if flow == Flow::Fetched { "pipe-exec" } else { "decode-pipe" };
                    self.push(tree.placed, kind, first, hosts, has_urls, None);
                }
                for file in tree.files_written(command) {
                    if flow == Flow::Fetched {
                        self.push(tree.placed, "fetch-save", first, hosts, has_urls, Some(&file));
                    }
                }
            }
            let own = tree.gives(*at, 0);
            if own == Flow::Fetched {
                let (class, any) = self.hosts_of(tree, *at);
                hosts = hosts.max(class);
                has_urls |= any;
            }
            flow = if programs::passes_through(command) || command.is_group {
                flow.max(own)
            } else {
                own
            };
        }
    }

    /// The worst host among the addresses of a command and of what it holds.
    fn hosts_of(&self, tree: &CommandTree<'_>, at: usize) -> (Option<HostClass>, bool) {
        let FactSource { table, declared, .. } = self.from;
        let mut worst = None;
        let mut any = false;
        for word in tree.all_words(at, 0) {
            if let Some(colon) = word.text.find("://") {
                if let Some(place) = table.hosts.mention_at(&word.text, colon, declared) {
                    worst = worst.max(Some(place.class));
                    any = true;
                }
            } else if let Some((host, path)) = programs::bare_address(&word.text) {
                worst = worst.max(Some(table.hosts.classify(host, path, declared)));
                any = true;
            }
        }
        (worst, any)
    }

    fn command(&mut self, tree: &CommandTree<'_>, at: usize, command: &ShellCommand) {
        let placed = tree.placed;
        let start = command.span.start;
        self.inner_scripts(tree, at, command);
        if tree.obeys_substitution(at) {
            let (class, any) = self.hosts_of(tree, at);
            let flow = tree.inner_flow(at);
            let kind = if flow == Flow::Fetched { "subst-exec" } else { "decode-pipe" };
            self.push(placed, kind, start, class, any, None);
        }
        let fetched = programs::fetches(command);
        if fetched {
            let (class, any) = self.hosts_of(tree, at);
            for file in programs::saved_as(command) {
                self.push(placed, "fetch-save", start, class, any, Some(&file));
            }
            if programs::config_file(command).is_some() {
                let file = programs::config_file(command).unwrap_or_default();
                self.push(placed, "fetch-save", start, class, any, Some(&file));
            }
        }
        if programs::sends(command) {
            let (class, any) = self.hosts_of(tree, at);
            self.push(placed, "net-sink", start, class, any, None);
        }
        if programs::publishes(command) {
            self.push(placed, "net-sink", start, Some(HostClass::Tenant), true, None);
        }
        for file in programs::run_files(command) {
            self.push(placed, "exec-file", start, None, false, Some(&file));
        }
        for file in tree.files_written(command) {
            if programs::is_start_up_file(&file) && !self.builds_image(placed, start) {
                self.push(placed, "persist", start, None, false, None);
            }
        }
        self.packages(tree, at, command);
    }

    /// Texts that a command hands to a shell.
    fn inner_scripts(&mut self, tree: &CommandTree<'_>, at: usize, command: &ShellCommand) {
        let place = tree.placed.position(command.span.start);
        if let Some(text) = programs::command_text(command) {
            let text = text.clone();
            self.read_inner(place, &text.text, tree.placed.inner + 1);
        }
        let is_shell = matches!(programs::interpreter(command), Some(Interpreter::Shell));
        if let Some(input) = command.input()
            && input.kind != RedirectionKind::Input
            && is_shell
            && tree.runs_input(at, 0)
        {
            self.read_inner(place, &input.target.text, tree.placed.inner + 1);
        }
    }

    /// Registries, remotes and packages.
    fn packages(&mut self, tree: &CommandTree<'_>, at: usize, command: &ShellCommand) {
        let placed = tree.placed;
        let start = command.span.start;
        if let Some(kind) = packages::redirects(command) {
            let (class, any) = self.hosts_of(tree, at);
            self.push(placed, kind, start, class, any, None);
        }
        if packages::widens_settings(command) {
            self.push(placed, "settings-widen", start, None, false, None);
        }
        for package in packages::packages(command) {
            match package {
                PackageSpec::Run(name) => {
                    let (class, any) = self.hosts_of(tree, at);
                    self.push(placed, "package-run", start, class, any, Some(&name));
                }
                PackageSpec::Squat(name) => {
                    self.push(placed, "squat-package", start, None, false, Some(&name));
                }
            }
        }
    }

    fn push(
        &mut self,
        placed: &PlacedScript<'_>,
        kind: &str,
        at: usize,
        class: Option<HostClass>,
        resolved: bool,
        target: Option<&str>,
    ) {
        let FactSource { table, .. } = self.from;
        let Some(kind) = table.kind(kind) else { return };
        let text = &self.from.file.layers.list[self.layer_number].text;
        let at = placed.position(at).min(text.len());
        let (start, end, number) = self.line_of(text, at);
        let line = &text[start..end];
        let mut fact = fact_at(&self.from, self.layer_number, number, line, at - start, kind);
        fact.target = target.map(|target| base_name(target).into());
        if resolved {
            fact.class = class;
            fact.resolved = true;
        } else if table.is_net(kind) {
            // Resolved with the hosts around it.
            fact.class = Some(HostClass::Loopback);
        }
        self.facts.push(fact);
    }

    /// Whether the line is an instruction of a Dockerfile: an image is not the user's home.
    fn builds_image(&mut self, placed: &PlacedScript<'_>, at: usize) -> bool {
        let text = &self.from.file.layers.list[self.layer_number].text;
        let (start, end, _) = self.line_of(text, placed.position(at).min(text.len()));
        text[start..end].trim_start().starts_with("run ")
    }

    /// The line of a position: positions mostly grow, so that lines are counted once.
    fn line_of(&mut self, text: &str, at: usize) -> (usize, usize, usize) {
        let (from, number) = match self.last {
            Some((start, end, number)) if at >= start => {
                if at <= end {
                    return (start, end, number);
                }
                (start, number)
            }
            _ => (0, 0),
        };
        let passed = &text.as_bytes()[from..at];
        let number = number + super::lines::count_ends(passed);
        let start = memchr::memrchr(b'\n', passed).map_or(from, |end| from + end + 1);
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |n| at + n);
        self.last = Some((start, end, number));
        (start, end, number)
    }
}

/// Parts of a line that are commands: inline code, string literals, or all from the first word of a
/// command on.
fn command_parts(line: &str, hit: usize) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    for quote in ['`', '"', '\''] {
        let mut at = 0;
        while let Some(open) = line[at..].find(quote).map(|length| at + length) {
            let Some(length) = line[open + 1..].find(quote) else { break };
            let inner = &line[open + 1..open + 1 + length];
            if inner.len() > 6 && inner.contains(' ') {
                parts.push((open + 1, inner));
            }
            at = open + length + 2;
        }
        // Beside inline code, the rest of a line is prose.
        if !parts.is_empty() || quote == '`' && at > 0 {
            return parts;
        }
    }
    vec![(hit, &line[hit..])]
}

/// A script with the commands that each command holds.
struct CommandTree<'a> {
    placed: &'a PlacedScript<'a>,
    children: &'a BTreeMap<usize, Vec<usize>>,
}

impl<'a> CommandTree<'a> {
    fn command(&self, at: usize) -> &'a ShellCommand {
        &self.placed.script.commands[at]
    }

    fn inside(&self, at: usize, place: impl Fn(ShellPlace) -> bool) -> impl Iterator<Item = usize> {
        let all = self.children.get(&at).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(move |at| place(self.command(*at).place))
    }

    /// The commands of a group's or a called function's body.
    fn body(&self, at: usize) -> Vec<usize> {
        let command = self.command(at);
        let group = match self.placed.script.called(command) {
            Some(function) => function.body,
            None if command.is_group => at,
            None => return Vec::new(),
        };
        self.inside(group, |place| place != ShellPlace::Substitution).take(MAX_BODY).collect()
    }

    /// What a command writes to its output.
    fn gives(&self, at: usize, depth: usize) -> Flow {
        let command = self.command(at);
        if depth > MAX_INNER {
            return Flow::Nothing;
        }
        if programs::fetches(command) && programs::saved_as(command).is_empty() {
            return Flow::Fetched;
        }
        if programs::decodes(command) {
            return Flow::Decoded;
        }
        let from_body = self.body(at).into_iter().map(|inner| self.gives(inner, depth + 1)).max();
        // `echo "$(curl …)"` gives what it was given.
        let echoes = matches!(command.program(), Some("echo" | "printf" | "cat"));
        let inner = if echoes { self.inner_flow(at) } else { Flow::Nothing };
        from_body.unwrap_or(Flow::Nothing).max(inner)
    }

    /// What the substitutions of a command give.
    fn inner_flow(&self, at: usize) -> Flow {
        self.inside(at, |place| place == ShellPlace::Substitution)
            .map(|inner| self.gives(inner, 1))
            .max()
            .unwrap_or(Flow::Nothing)
    }

    /// Whether a command runs what it reads from its input.
    fn runs_input(&self, at: usize, depth: usize) -> bool {
        let command = self.command(at);
        if depth > MAX_INNER {
            return false;
        }
        if programs::runs_input(command) {
            return true;
        }
        let body = self.body(at);
        let name = |at: &usize| self.command(*at).program().unwrap_or("");
        let reads = body.iter().any(|at| name(at) == "read" || name(at) == "mapfile");
        let runs = |at: &usize| {
            let command = self.command(*at);
            matches!(name(at), "eval")
                || programs::command_text(command).is_some()
                || command.program_word().is_some_and(|word| word.text.starts_with('$'))
        };
        let deep = |at: &usize| runs(at) || self.body(*at).iter().any(runs);
        reads && body.iter().any(deep)
            || body
                .iter()
                .any(|inner| self.command(*inner).stage == 0 && self.runs_input(*inner, depth + 1))
    }

    /// Whether a command runs what a substitution of it gives: `eval "$(…)"`, `sh -c "$(…)"`,
    /// `source <(…)`, `bash <<< "$(…)"`, `$(…)` as a command.
    fn obeys_substitution(&self, at: usize) -> bool {
        let command = self.command(at);
        if self.inner_flow(at) == Flow::Nothing {
            return false;
        }
        let word = |word: &ShellWord| word.has_substitution;
        let is_called = command.program_word().is_some_and(|w| w.text == "$()");
        let runs_words = match programs::interpreter(command) {
            Some(Interpreter::Shell | Interpreter::Language) => {
                command.arguments().iter().any(word)
            }
            None => {
                matches!(command.program(), Some("eval" | "source" | "." | "exec" | "trap"))
                    && command.arguments().iter().any(word)
            }
        };
        let input = command.input().is_some_and(|input| word(&input.target));
        is_called || runs_words || input && programs::runs_input(command)
    }

    /// The words of a command and of everything inside it.
    fn all_words(&self, at: usize, depth: usize) -> Vec<&'a ShellWord> {
        let command = self.command(at);
        let mut words: Vec<&ShellWord> = command.words.iter().collect();
        words.extend(command.assignments.iter().map(|(_, value)| value));
        words.extend(command.redirections.iter().map(|redirection| &redirection.target));
        if depth <= MAX_INNER {
            let inner = self.children.get(&at).into_iter().flatten().copied().take(MAX_BODY);
            let called = self.placed.script.called(command).map(|function| function.body);
            for inner in inner.chain(called) {
                words.extend(self.all_words(inner, depth + 1));
            }
        }
        words
    }

    /// Files that a command writes: by redirection, and by copying or by `tee`.
    fn files_written(&self, command: &ShellCommand) -> Vec<String> {
        let mut files: Vec<String> =
            command.written_files().map(|word| word.text.clone()).collect();
        files.extend(programs::written_operands(command));
        files
    }
}
