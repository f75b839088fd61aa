//! Programs: Python and JavaScript as small trees, and the flow of values through them.
//!
//! A pattern sees one line; a thief reads in one function, sends in another and joins them in a
//! third file. Here the names of a skill's programs are resolved, constants are put together,
//! calls are followed across its files, and what comes from a key file, the environment or an
//! agent's own records is followed to the network, into an interpreter or into a file that runs by
//! itself. The trees are our own: no grammar has to be compiled or shipped, hostile text cannot
//! make them fail, and they leave out what a flow does not need.
//!
//! **Invariant:** reading and following are bounded; what was not followed is said.

mod calls;
mod decoding;
mod effects;
mod expression;
mod flow;
mod js_statement;
mod library;
mod literal;
mod members;
mod names;
mod signature;
mod source;
mod statement;
mod token;
mod tree;
mod value;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::facts::{ExtractedFacts, FactSource, fact_at};
use super::finding::{Finding, FindingSeverity};
use super::fold;
use super::hosts::OwnHosts;
use super::inventory::ScannedFile;
use super::layers::TextLayer;
use super::structure;
use super::table::RuleTable;
use flow::{FlowModule, ProgramFlow};

pub(crate) use flow::FlowFact;

/// Kinds of facts that only a flow gives.
pub(crate) const KINDS: &[&str] = &["agent-flow", "key-flow", "dotenv-flow"];

/// Words without which nothing leaves a program and nothing is run by it.
const TRIGGERS: &[&str] = &[
    "http",
    "socket",
    "exec",
    "eval",
    "system",
    "popen",
    "spawn",
    "subprocess",
    "urlopen",
    "fetch",
    "smtp",
    "ftp",
    "rc\"",
    "rc'",
    ".profile",
    "launchagents",
    "autostart",
    ".claude",
    ".codex",
    ".openclaw",
    ".cursor",
    "decode",
    "fromcharcode",
    "chr(",
    "boto3",
    "upload",
    "loads(",
    "dns.",
    "sendbeacon",
    "authorized_keys",
    "systemd",
    "function(",
    "import_module",
    "run_path",
];

fn triggers() -> Option<&'static AhoCorasick> {
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(TRIGGERS).ok());
    WORDS.as_ref()
}

/// Whether a file of this name, in lower case, holds keys or logins.
pub(super) fn holds_secrets(path: &str) -> bool {
    library::content_of(path).has(value::ValueOrigin::SECRET)
}

/// Whether a variable of this name, in capitals, holds a known vendor's key.
pub(super) fn is_vendors_key(variable: &str) -> bool {
    library::vendor_of(variable).is_some()
}

/// Whether a command, in lower case, prints the whole environment, the clipboard or a keychain.
pub(super) fn prints_secrets(command: &str) -> bool {
    let secret = value::ValueOrigin::SECRET | value::ValueOrigin::ENVIRONMENT;
    let program = command.split(' ').next().unwrap_or("");
    // A skill's own entry of the keychain is its own business.
    let others = ["dump-keychain", "claude", "codex", "gemini", "openclaw", "chrome"];
    if program == "security" && !others.iter().any(|other| command.contains(other)) {
        return false;
    }
    matches!(program, "env" | "printenv" | "security" | "pbpaste" | "xclip" | "xsel" | "wl-paste")
        && library::output_of(command).has(secret)
}

/// What the programs of a skill do.
#[derive(Debug, Default)]
pub(crate) struct ProgramFindings {
    facts: Vec<FlowFact>,
    /// The files of programs that were not followed to their end.
    cut: BTreeSet<usize>,
    too_deep: BTreeSet<usize>,
}

/// Follows the programs of a skill. Texts that they put together become layers of their files.
pub(crate) fn read(
    table: &RuleTable,
    declared: &OwnHosts,
    files: &mut [ScannedFile],
) -> ProgramFindings {
    let mut modules: Vec<FlowModule> = Vec::new();
    let Some(words) = triggers() else { return ProgramFindings::default() };
    let mut unread = BTreeSet::new();
    for (number, file) in files.iter().enumerate() {
        let pieces = source::programs(file);
        let mut is_cut = source::is_too_large(file) || pieces.len() >= source::MAX_PIECES;
        for piece in pieces {
            let body = statement::parse(&piece.text, piece.language);
            is_cut |= body.len() >= statement::MAX_STATEMENTS;
            modules.push(FlowModule {
                file: number,
                line: piece.line,
                name: Rc::from(piece.name.as_str()),
                body: Rc::new(body),
            });
        }
        if is_cut && words.is_match(file.plain()) {
            unread.insert(number);
        }
    }
    let speaks = |module: &FlowModule| words.is_match(files[module.file].plain());
    if modules.is_empty() || !modules.iter().any(speaks) {
        return ProgramFindings { cut: unread, ..ProgramFindings::default() };
    }
    let mut flow = ProgramFlow::new(table, declared, &modules);
    flow.run();
    let cut = flow.cut.union(&unread).copied().collect();
    let too_deep = std::mem::take(&mut flow.too_deep);
    let (facts, texts) = (std::mem::take(&mut flow.facts), std::mem::take(&mut flow.texts));
    for (number, file) in files.iter_mut().enumerate() {
        for is_decoded in [false, true] {
            let lines: Vec<(usize, String)> = texts
                .iter()
                .filter(|(file, _, _, decoded)| *file == number && *decoded == is_decoded)
                .map(|(_, line, text, _)| (*line, fold::fold(text).text))
                .collect();
            if !lines.is_empty() {
                let depth = u8::from(is_decoded);
                file.layers.list.push(TextLayer::of_lines(lines, depth, "program"));
            }
        }
    }
    ProgramFindings { facts, cut, too_deep }
}

impl ProgramFindings {
    /// Adds the facts of one file.
    pub(crate) fn facts_of(&self, from: &FactSource<'_>, out: &mut ExtractedFacts) {
        let text = from.file.plain();
        for found in self.facts.iter().filter(|fact| fact.file == from.number) {
            let Some(kind) = from.table.kind(found.kind) else { continue };
            let line = super::lines::TextLines::new(text).nth(found.line).unwrap_or("");
            let mut fact = fact_at(from, 0, found.line, line, 0, kind);
            fact.class = found.class;
            fact.resolved = true;
            // A program does what it does, whatever its comments say about it.
            fact.negated = from.file.context(found.line).negated;
            out.facts.push(fact);
        }
    }

    /// Says which programs were not followed to their end, so that a person looks at them.
    pub(crate) fn omissions(&self, table: &RuleTable, files: &[ScannedFile]) -> Vec<Finding> {
        let detail = "the program is too large to be followed; its lines were looked at one by one";
        let about = |number: usize, file: &ScannedFile| {
            let is_packed = !self.cut.contains(&number) && structure::names_a_licence(file);
            let severity = if is_packed { FindingSeverity::Info } else { FindingSeverity::Warn };
            structure::file_finding(table, "unanalysable-code", severity, &file.path, detail)
        };
        let all: BTreeSet<usize> = self.cut.union(&self.too_deep).copied().collect();
        all.into_iter().filter_map(|at| files.get(at).map(|file| about(at, file))).collect()
    }
}
