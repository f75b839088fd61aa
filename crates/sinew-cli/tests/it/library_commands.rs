//! The commands in the bodies of carried skills, and how each of them is checked. What was checked, with
//! which version, stands in `skills/checked.tsv`; a body that changes without it fails here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use sinew_guard::shell::{ShellCommand, ShellScript, ShellWord, base_name};

pub(crate) const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sinew-engine/skills");

/// How a command is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CheckKind {
    /// It is run on sample files (`carried_runs.rs`).
    Run,
    /// Its request is made, and caught before it leaves (`carried_requests.rs`).
    Sent,
    /// Its tool's own help knows it (`carried_commands.rs`).
    Parsed,
    /// It cannot be tried where the tests run.
    Documents,
}

impl CheckKind {
    fn named(name: &str) -> Option<Self> {
        let all = [Self::Run, Self::Sent, Self::Parsed, Self::Documents];
        all.into_iter().find(|kind| kind.as_str() == name)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Sent => "sent",
            Self::Parsed => "parsed",
            Self::Documents => "documents",
        }
    }
}

/// Programs of every system, and what a shell does itself: a skill teaches nothing about them.
const EVERYWHERE: &[&str] = &[
    ":", "[", "aplay", "afplay", "base64", "basename", "break", "cat", "cd", "command", "cut",
    "date", "diff", "dirname", "echo", "export", "file", "find", "for", "grep", "head", "iconv",
    "local", "ls", "mkdir", "mv", "open", "printf", "read", "return", "rm", "seq", "sleep", "sort",
    "tail", "test", "tr", "uname", "uniq", "wc", "while", "done",
];

/// Commands that no machine of the tests can try, by program and first words, with the reason.
pub(crate) const NOT_HERE: &[(&str, &str, &str)] = &[
    ("docker", "compose", "Debian's Compose is of version 1"),
    ("himalaya", "message send", "no mail server takes it"),
    ("spogo", "", "in no registry that the tests use"),
    ("sw_vers", "", "macOS"),
    ("fdesetup", "", "macOS"),
    ("socketfilterfw", "", "macOS"),
    ("softwareupdate", "", "macOS"),
    ("csrutil", "", "macOS"),
    ("spctl", "", "macOS"),
    ("$IM", "photo.heic", "ImageMagick of Debian writes no such file to try it on"),
    ("pbpaste", "", "macOS"),
];

/// A program behind a variable of the bodies.
const VARIABLES: &[(&str, &str)] = &[("$IM", "convert"), ("$TTS", "sherpa-onnx-offline-tts")];

/// The words of a command as its program gets them; `docker run` is not taken for what it runs.
pub(crate) fn own_words(command: &ShellCommand) -> &[ShellWord] {
    match command.words.first() {
        Some(first) if first.text == "sudo" => command.words.get(1..).unwrap_or_default(),
        _ => &command.words,
    }
}

/// A carried skill with the commands of its body.
pub(crate) struct SkillBody {
    pub(crate) name: String,
    /// How the table of the library says that it was checked.
    pub(crate) kind: CheckKind,
    /// Its blocks of shell, placeholders as they are.
    pub(crate) blocks: Vec<String>,
}

/// Every carried skill, by name.
pub(crate) fn bodies() -> Vec<SkillBody> {
    let readme = fs::read_to_string(format!("{LIBRARY}/README.md")).expect("the table");
    let rows = readme.lines().filter(|line| line.starts_with("| `"));
    let cells =
        rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let found = cells.map(|row| {
        let name = row[0].trim_matches('`').to_owned();
        let kind = CheckKind::named(row[4]).expect("a known way of checking");
        let path: PathBuf = [LIBRARY, &name, "SKILL.md"].iter().collect();
        let text = fs::read_to_string(path).expect("a skill");
        let blocks = text.split("```bash\n").skip(1);
        let blocks = blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned());
        SkillBody { name, kind, blocks: blocks.collect() }
    });
    found.collect()
}

/// A command of a body.
pub(crate) struct BodyCommand {
    pub(crate) command: ShellCommand,
    pub(crate) program: String,
    pub(crate) kind: CheckKind,
}

impl BodyCommand {
    /// Its words on one line.
    pub(crate) fn line(&self) -> String {
        let words: Vec<&str> = self.command.words.iter().map(|word| word.text.as_str()).collect();
        words.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl SkillBody {
    /// The commands of tools in it, placeholders as plain words.
    pub(crate) fn commands(&self) -> Vec<BodyCommand> {
        let placeholder = regex::Regex::new("<([a-z][a-z0-9-]*)>").expect("an expression");
        let plain = placeholder.replace_all(&self.blocks.join("\n"), "$1").into_owned();
        let script = ShellScript::parse(&plain);
        let functions: BTreeSet<&str> =
            script.functions.iter().map(|one| one.name.as_str()).collect();
        let mut found = Vec::new();
        for command in script.commands.iter().filter(|command| !command.is_group) {
            let Some(word) = own_words(command).first() else { continue };
            let word = base_name(&word.text);
            let program =
                VARIABLES.iter().find(|(name, _)| *name == word).map_or(word, |row| row.1);
            // The head of a loop is `name in words`, arithmetic `name + 1`.
            let second = own_words(command).get(1).map_or("", |word| word.text.as_str());
            if ["in", "+"].contains(&second) || EVERYWHERE.contains(&program) {
                continue;
            }
            let kind = self.kind_of(word, functions.contains(word), command);
            found.push(BodyCommand { command: command.clone(), program: program.to_owned(), kind });
        }
        found
    }

    fn kind_of(&self, word: &str, is_function: bool, command: &ShellCommand) -> CheckKind {
        let words: Vec<&str> = own_words(command).iter().map(|word| word.text.as_str()).collect();
        let behind = words.get(1..).unwrap_or_default().join(" ");
        let away =
            NOT_HERE.iter().any(|(program, verb, _)| *program == word && behind.starts_with(verb));
        match self.kind {
            _ if away => CheckKind::Documents,
            // What a request is made of and what is done with its answer is carried out with it.
            CheckKind::Sent if is_function || ["curl", "jq"].contains(&word) => CheckKind::Sent,
            CheckKind::Sent => CheckKind::Parsed,
            kind => kind,
        }
    }
}

/// The rows that `checked.tsv` must have: skill, how, command. `documents` are listed only for skills of
/// which others were tried.
fn rows() -> Vec<(String, CheckKind, String)> {
    let mut rows = Vec::new();
    for body in bodies().iter().filter(|body| body.kind != CheckKind::Documents) {
        let mut seen = BTreeSet::new();
        for command in body.commands() {
            let line = command.line();
            if seen.insert(line.clone()) {
                rows.push((body.name.clone(), command.kind, line));
            }
        }
    }
    rows
}

/// The first version that the table of the library names for a skill.
fn table_version(skill: &str) -> String {
    let readme = fs::read_to_string(format!("{LIBRARY}/README.md")).expect("the table");
    let row = readme.lines().find(|line| line.starts_with(&format!("| `{skill}`"))).expect("a row");
    let cell = row.split('|').nth(3).unwrap_or_default();
    cell.split(',').next().unwrap_or_default().trim().to_owned()
}

/// Writes the list anew, with the versions of the tools that were asked.
pub(crate) fn write_checked(version: &mut dyn FnMut(&str) -> String) {
    let mut text = "skill\thow\tversion\tcommand\n".to_owned();
    for (skill, kind, line) in rows() {
        let word = line.split(' ').find(|word| !["sudo"].contains(word)).unwrap_or_default();
        let program = VARIABLES.iter().find(|(name, _)| *name == word).map_or(word, |row| row.1);
        let version = match kind {
            CheckKind::Documents => "-".to_owned(),
            CheckKind::Sent if program != "jq" => version("curl"),
            _ => version(program),
        };
        // A program that does not tell its version, or a function of the body: as the table says.
        let version = match version.as_str() {
            "-" if kind != CheckKind::Documents => table_version(&skill),
            _ => version,
        };
        text.push_str(&format!("{skill}\t{}\t{version}\t{line}\n", kind.as_str()));
    }
    fs::write(format!("{LIBRARY}/checked.tsv"), text).expect("the list is written");
}

/// A body says nothing that was not checked, and the table counts what was.
#[test]
fn every_command_of_a_checked_skill_is_in_the_list() {
    let text = fs::read_to_string(format!("{LIBRARY}/checked.tsv")).expect("the list");
    let listed: Vec<Vec<&str>> =
        text.lines().skip(1).map(|line| line.splitn(4, '\t').collect()).collect();
    let expected: Vec<(String, CheckKind, String)> = rows();
    let named: Vec<(String, &str, String)> =
        listed.iter().map(|row| (row[0].to_owned(), row[1], row[3].to_owned())).collect();
    for (skill, kind, line) in &expected {
        let row = (skill.clone(), kind.as_str(), line.clone());
        assert!(
            named.contains(&row),
            "{skill}: `{line}` is not listed as {}; `SINEW_LONG=1 SINEW_UPDATE=1` with the test \
             `the_commands_of_carried_skills_still_parse` checks it and writes the list",
            kind.as_str()
        );
    }
    assert_eq!(named.len(), expected.len(), "the list has commands that no body has");
    let versions = listed.iter().filter(|row| row[1] != "documents");
    for row in versions {
        assert!(row[2].chars().any(|c| c.is_ascii_digit()), "no version: {row:?}");
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in listed.iter().filter(|row| row[1] != "documents") {
        *counts.entry(row[0]).or_default() += 1;
    }
    let readme = fs::read_to_string(format!("{LIBRARY}/README.md")).expect("the table");
    for line in readme.lines().filter(|line| line.starts_with("| `")) {
        let row: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let count = counts.get(row[0].trim_matches('`')).copied().unwrap_or(0);
        let told = if count == 0 { "–".to_owned() } else { count.to_string() };
        assert_eq!(row[5], told, "{}: commands in the table", row[0]);
    }
}
