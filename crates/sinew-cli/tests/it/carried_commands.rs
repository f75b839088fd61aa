//! The commands in the bodies of carried skills, held against the tools themselves: each option must be
//! one that the tool's own help knows. With `SINEW_LONG=1`; a tool that is not here is named with
//! `SKIPPED`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use sinew_guard::shell::{ShellCommand, ShellScript};
use sinew_testkit::{NpmPackages, PythonPackages, TestMachine, report_skip};

const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sinew-engine/skills");

/// Tools that npm has, as the table of the library names their versions.
const NODE_TOOLS: &[&str] = &[
    "clawhub@0.20.0",
    "mcporter@0.9.0",
    "@google/gemini-cli@0.61.0",
    "@steipete/summarize@0.11.1",
    "@steipete/oracle@0.21.2",
    "@openai/codex@0.169.0",
    "@anthropic-ai/claude-code@2.1.197",
    "opencode-ai@1.18.33",
    "@mariozechner/pi-coding-agent@0.73.1",
    "openclaw@2026.9.6",
];

/// Those that PyPI has.
const PYTHON_TOOLS: &[&str] = &["nano-pdf==0.2.1", "xlsx2csv==0.8.6"];

/// How a program tells what it takes.
#[derive(Clone, Copy)]
enum HelpStyle {
    /// `program sub command --help`, as deep as the words are commands.
    Subcommands,
    /// One call with these arguments tells all.
    Whole(&'static [&'static str]),
}

use HelpStyle::{Subcommands, Whole};

/// Programs, and how each tells what it takes.
const PROGRAMS: &[(&str, HelpStyle)] = &[
    ("clawhub", Subcommands),
    ("mcporter", Subcommands),
    ("gemini", Whole(&["--help"])),
    ("summarize", Whole(&["--help"])),
    ("oracle", Subcommands),
    ("codex", Subcommands),
    ("claude", Whole(&["--help"])),
    ("opencode", Subcommands),
    ("pi", Whole(&["--help"])),
    ("openclaw", Subcommands),
    ("gh", Subcommands),
    ("docker", Subcommands),
    ("nano-pdf", Subcommands),
    ("xlsx2csv", Whole(&["--help"])),
    ("qpdf", Whole(&["--help=all"])),
    ("pdftotext", Whole(&["-h"])),
    ("pdfinfo", Whole(&["-h"])),
    ("pdffonts", Whole(&["-h"])),
    ("pdftoppm", Whole(&["-h"])),
    ("pdfimages", Whole(&["-h"])),
    ("ffmpeg", Whole(&["-hide_banner", "-h", "full"])),
    ("ffprobe", Whole(&["-hide_banner", "-h"])),
    ("curl", Whole(&["--help", "all"])),
    ("rg", Whole(&["--help"])),
    ("psql", Whole(&["--help"])),
    ("pg_dump", Whole(&["--help"])),
    ("pg_restore", Whole(&["--help"])),
    ("createdb", Whole(&["--help"])),
    ("identify", Whole(&["-help"])),
    ("montage", Whole(&["-help"])),
    ("ss", Whole(&["--help"])),
    ("sinew", Subcommands),
];

/// Options that a program takes and its help does not list, with the reason.
const UNLISTED: &[(&str, &[&str], &str)] = &[
    ("mcporter", &["--out", "--output"], "emit-ts and generate-cli have no help of their own"),
    ("docker", &["--progress"], "the build of BuildKit, a plugin"),
    ("ffmpeg", &["-frames", "-q", "-c", "-b", "-vn", "-an"], "with a stream behind a colon"),
];

/// Commands of plugins that are installed apart from their program.
const PLUGIN_COMMANDS: &[(&str, &str)] = &[("docker", "compose"), ("openclaw", "voicecall")];

/// Every skill whose commands were parsed at least once, when the library was last checked.
const AT_LEAST: usize = 20;

struct ToolShelf {
    path: OsString,
    home: TestMachine,
    told: BTreeMap<Vec<String>, String>,
}

impl ToolShelf {
    fn new() -> Self {
        let target = env!("CARGO_TARGET_TMPDIR");
        let node = NpmPackages::get(target, "library-tools", NODE_TOOLS);
        let python = PythonPackages::get(target, "library-python", PYTHON_TOOLS);
        let sinew = PathBuf::from(env!("CARGO_BIN_EXE_sinew"));
        let mut folders: Vec<PathBuf> = sinew.parent().map(PathBuf::from).into_iter().collect();
        if let Some(python) = &python {
            let program = PathBuf::from(python.command("nano-pdf").get_program());
            folders.extend(program.parent().map(PathBuf::from));
        }
        let rest = match &node {
            Some(node) => node.path(),
            None => std::env::var_os("PATH").unwrap_or_default(),
        };
        folders.extend(std::env::split_paths(&rest));
        let path = std::env::join_paths(folders).expect("a PATH");
        Self { path, home: TestMachine::new(), told: BTreeMap::new() }
    }

    /// What a program says; nothing for one that is not here.
    fn told(&mut self, words: &[&str]) -> String {
        let key: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(told) = self.told.get(&key) {
            return told.clone();
        }
        let output = Command::new(words[0])
            .args(&words[1..])
            .env("PATH", &self.path)
            .env("HOME", self.home.path("home"))
            .env("NO_COLOR", "1")
            .env("COLUMNS", "200")
            .stdin(Stdio::null())
            .output();
        let told = output.map_or_else(
            |_| String::new(),
            |output| {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                text(&output.stdout) + &text(&output.stderr)
            },
        );
        self.told.insert(key, told.clone());
        told
    }

    /// The help for a command: of the program, and of each command that its words go down to.
    fn help(&mut self, program: &str, style: HelpStyle, operands: &[&str]) -> String {
        let whole = match style {
            Whole(arguments) => return self.told(&[&[program], arguments].concat()),
            Subcommands => self.told(&[program, "--help"]),
        };
        let (mut all, mut last) = (whole.clone(), whole);
        let mut words = vec![program];
        for word in operands.iter().take(3) {
            let is_plain = word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            if !is_plain || !mentions(&last, word) {
                break;
            }
            words.push(word);
            last = self.told(&[&words[..], &["--help"]].concat());
            all.push_str(&last);
        }
        all
    }
}

/// Whether a help text has a word by itself.
fn mentions(help: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    help.match_indices(word).any(|(at, _)| {
        let before = help[..at].chars().next_back();
        let after = help[at + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// Whether a help text knows an option; of several letters behind one hyphen, each.
fn knows(help: &str, option: &str) -> bool {
    if mentions(help, option) {
        return true;
    }
    match option.strip_prefix("--") {
        Some(name) => mentions(help, &format!("--[no-]{name}")),
        None => option.chars().skip(1).all(|letter| mentions(help, &format!("-{letter}"))),
    }
}

/// The commands of a body's blocks of shell, with placeholders as plain words.
fn commands(body: &str) -> Vec<ShellCommand> {
    let mut found = Vec::new();
    let placeholder = regex::Regex::new("<([a-z][a-z0-9-]*)>").expect("an expression");
    for block in body.split("```bash\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let plain = placeholder.replace_all(block, "$1");
        found.extend(ShellScript::parse(&plain).commands);
    }
    found
}

/// The options of a command that its tool does not know.
fn unknown_options(shelf: &mut ToolShelf, command: &ShellCommand, style: HelpStyle) -> Vec<String> {
    let program = command.program().unwrap_or_default();
    let words: Vec<&str> = command.arguments().iter().map(|word| word.text.as_str()).collect();
    // What stands behind `--` is another program's.
    let own = words.iter().position(|word| *word == "--").map_or(&words[..], |end| &words[..end]);
    let operands: Vec<&str> =
        own.iter().copied().take_while(|word| !word.starts_with('-')).collect();
    let help = shelf.help(program, style, &operands);
    let unlisted = UNLISTED.iter().find(|(name, ..)| *name == program).map_or(&[][..], |row| row.1);
    let options = own.iter().filter(|word| word.len() > 1 && word.starts_with('-'));
    let names = options.map(|word| word.split(['=', ':']).next().unwrap_or(word));
    names
        .filter(|name| !name[1..].starts_with(|c: char| c.is_ascii_digit()))
        .filter(|name| !unlisted.contains(name) && !knows(&help, name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_commands_of_carried_skills_still_parse() {
    if std::env::var_os("SINEW_LONG").is_none_or(|value| value != "1") {
        report_skip(
            "the commands of carried skills are held against their tools with SINEW_LONG=1",
        );
        return;
    }
    let mut shelf = ToolShelf::new();
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    let mut parsed: BTreeMap<String, usize> = BTreeMap::new();
    let mut folders: Vec<PathBuf> = fs::read_dir(LIBRARY)
        .expect("the library")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    for folder in folders.iter().filter(|path| path.is_dir()) {
        let skill = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(folder.join("SKILL.md")).expect("a skill");
        for command in commands(&text) {
            let Some(program) = command.program() else { continue };
            let Some((_, style)) = PROGRAMS.iter().find(|(name, _)| *name == program) else {
                continue;
            };
            if PLUGIN_COMMANDS
                .iter()
                .any(|(name, verb)| *name == program && command.verb() == Some(verb))
            {
                continue;
            }
            if shelf.help(program, *style, &[]).is_empty() {
                missing.push(program.to_owned());
                continue;
            }
            *parsed.entry(skill.clone()).or_default() += 1;
            for option in unknown_options(&mut shelf, &command, *style) {
                let words: Vec<&str> =
                    command.words.iter().map(|word| word.text.as_str()).collect();
                wrong.push(format!("{skill}: {option} in {}", words.join(" ")));
            }
        }
    }
    missing.sort();
    missing.dedup();
    for program in &missing {
        report_skip(&format!("{program} is not installed"));
    }
    for (skill, count) in &parsed {
        let _ = writeln!(std::io::stdout(), "{skill}: {count} commands parsed");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!missing.is_empty() || parsed.len() >= AT_LEAST, "{} skills: {parsed:?}", parsed.len());
}
