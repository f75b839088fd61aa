//! The commands in the bodies of carried skills, held against the tools themselves: each sub-command and
//! each option must be one that the tool's own help knows. With `SINEW_LONG=1`; a tool that is not here is
//! named with `SKIPPED`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use sinew_guard::shell::{ShellCommand, ShellScript};
use sinew_testkit::{NpmPackages, PythonPackages, TestMachine, report_skip};

use crate::library_commands::{CheckKind, bodies, own_words, write_checked};

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
const PYTHON_TOOLS: &[&str] =
    &["nano-pdf==0.2.1", "xlsx2csv==0.8.6", "openpyxl==3.1.5", "sherpa-onnx-bin==1.13.6"];

/// Whisper is read without the libraries that its model needs, which are two gigabytes.
const WHISPER: &[&str] = &["--no-deps", "openai-whisper==20250625"];

/// Lets Whisper tell its options with nothing behind them.
const WHISPER_HELP: &str = "import sys, unittest.mock as mock
for name in ('torch', 'torch.nn', 'torch.nn.functional', 'torch.distributions', 'numpy', 'numba', 'tqdm',
             'tiktoken', 'more_itertools', 'triton', 'triton.language'):
    sys.modules[name] = mock.MagicMock()
import whisper, whisper.transcribe
if sys.argv[1:] == ['--version']:
    print(whisper.__version__)
else:
    sys.modules['torch'].cuda.is_available.return_value = False
    sys.modules['whisper.transcribe'].cli()";

/// How a program tells what it takes.
#[derive(Clone, Copy)]
enum HelpStyle {
    /// `program sub command --help`, as deep as the words are commands.
    Subcommands,
    /// `program command -h`.
    Verbs,
    /// One call with these arguments tells all.
    Whole(&'static [&'static str]),
}

use HelpStyle::{Subcommands, Verbs, Whole};

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
    ("git", Verbs),
    ("nano-pdf", Subcommands),
    ("spotify_player", Subcommands),
    ("whisper", Whole(&["--help"])),
    ("pdftotext", Whole(&["-h"])),
    ("pdfinfo", Whole(&["-h"])),
    ("pdftoppm", Whole(&["-h"])),
    ("ffmpeg", Whole(&["-hide_banner", "-h", "full"])),
    ("curl", Whole(&["--help", "all"])),
    ("jq", Whole(&["--help"])),
    ("psql", Whole(&["--help"])),
    ("pg_dump", Whole(&["--help"])),
    ("pg_restore", Whole(&["--help"])),
    ("createdb", Whole(&["--help"])),
    ("sherpa-onnx-offline-tts", Whole(&["--help"])),
    ("ss", Whole(&["--help"])),
    ("lsof", Whole(&["-h"])),
    ("lsblk", Whole(&["--help"])),
    ("getent", Whole(&["--help"])),
    ("last", Whole(&["--help"])),
    ("systemctl", Whole(&["--help"])),
    ("id", Whole(&["--help"])),
    ("apt", Subcommands),
    ("sshd", Whole(&["-?"])),
    ("ufw", Whole(&["--help"])),
    ("nft", Whole(&["--help"])),
    ("sinew", Subcommands),
];

/// Options that a program takes and its help does not list, with the reason.
const UNLISTED: &[(&str, &[&str], &str)] = &[
    ("mcporter", &["--out", "--output"], "emit-ts and generate-cli have no help of their own"),
    ("docker", &["--progress"], "the build of BuildKit, a plugin"),
    ("ffmpeg", &["-frames", "-q", "-c", "-b", "-vn", "-an"], "with a stream behind a colon"),
    ("jq", &["-R"], "its help lists the common ones"),
    ("git", &["-C", "--oneline"], "one with a placeholder, one in the manual of log"),
    ("lsof", &["-iTCP", "-sTCP"], "with their value behind them"),
    ("apt", &["--upgradable"], "in its manual"),
];

/// Commands that take a word of the user's where others have a sub-command.
const FREE: &[&str] = &["sinew scan"];

/// The programs of the library where they were found.
pub(crate) struct ToolShelf {
    pub(crate) path: OsString,
    home: TestMachine,
    told: BTreeMap<Vec<String>, String>,
}

impl ToolShelf {
    pub(crate) fn new() -> Self {
        let target = env!("CARGO_TARGET_TMPDIR");
        let node = NpmPackages::get(target, "library-tools", NODE_TOOLS);
        let python = PythonPackages::get(target, "library-python", PYTHON_TOOLS);
        let whisper = PythonPackages::get(target, "library-whisper", WHISPER);
        let sinew = PathBuf::from(env!("CARGO_BIN_EXE_sinew"));
        let mut home = TestMachine::new();
        if let Some(whisper) = &whisper {
            let python = whisper.command("python").get_program().to_string_lossy().into_owned();
            home = home.file("whisper_options.py", WHISPER_HELP);
            let script = home.path("whisper_options.py");
            home = home.script("whisper", &format!("exec {python} {} \"$@\"", script.display()));
        }
        let mut folders: Vec<PathBuf> = sinew.parent().map(PathBuf::from).into_iter().collect();
        folders.push(home.path("bin"));
        if let Some(python) = &python {
            let program = PathBuf::from(python.command("nano-pdf").get_program());
            folders.extend(program.parent().map(PathBuf::from));
        }
        let rest = match &node {
            Some(node) => node.path(),
            None => std::env::var_os("PATH").unwrap_or_default(),
        };
        folders.extend(std::env::split_paths(&rest));
        // Where Debian has what only an administrator runs.
        folders.extend(["/usr/sbin", "/sbin"].map(PathBuf::from));
        let path = std::env::join_paths(folders).expect("a PATH");
        Self { path, home, told: BTreeMap::new() }
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

    /// The version of a program, as it says itself.
    pub(crate) fn version(&mut self, program: &str) -> String {
        let number = regex::Regex::new(r"\d+(\.\d+)+(p\d+|[a-z])?|\d{8}").expect("an expression");
        for ask in ["--version", "-version", "-V", "-v", "version"] {
            let told = self.told(&[program, ask]);
            let lines = told.lines().filter(|line| !line.contains("illegal"));
            if let Some(found) = lines.take(4).find_map(|line| number.find(line)) {
                return found.as_str().to_owned();
            }
        }
        "-".to_owned()
    }

    pub(crate) fn has(&mut self, program: &str) -> bool {
        std::env::split_paths(&self.path).any(|folder| folder.join(program).is_file())
    }
}

/// What a program says about a command, and which of its words are no commands of it.
struct CommandHelp {
    text: String,
    unknown: Option<String>,
}

impl CommandHelp {
    fn of(shelf: &mut ToolShelf, program: &str, style: HelpStyle, operands: &[&str]) -> Self {
        let plain = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        match style {
            Whole(arguments) => {
                let text = shelf.told(&[&[program], arguments].concat());
                Self { text, unknown: None }
            }
            Verbs => {
                let all = shelf.told(&[program, "help", "-a"]);
                let verb = operands.first().copied().unwrap_or_default();
                let text = shelf.told(&[program, verb, "-h"]) + &shelf.told(&[program, "--help"]);
                Self { text, unknown: (!lists(&all, program, verb)).then(|| verb.to_owned()) }
            }
            Subcommands => {
                let mut text = shelf.told(&[program, "--help"]);
                let mut last = text.clone();
                let mut words = vec![program];
                for word in operands.iter().filter(plain).take(3) {
                    if !lists(&last, program, word) {
                        let is_choice =
                            has_commands(&last) && !FREE.contains(&words.join(" ").as_str());
                        return Self { text, unknown: is_choice.then(|| (*word).to_owned()) };
                    }
                    words.push(word);
                    last = shelf.told(&[&words[..], &["--help"]].concat());
                    text.push_str(&last);
                }
                Self { text, unknown: None }
            }
        }
    }
}

/// Whether a help text is one of commands to choose from.
fn has_commands(help: &str) -> bool {
    help.lines().any(|line| {
        let line = line.trim_end().to_lowercase();
        let usage = line.trim_start().starts_with("usage");
        line.ends_with("commands:")
            || line.ends_with("commands")
            || usage && line.contains("<command>")
    })
}

/// Whether a help text lists a command: at the beginning of a line, behind the program, among others, or
/// as another name of one.
fn lists(help: &str, program: &str, command: &str) -> bool {
    help.lines().any(|line| {
        if line.split_once("alias").is_some_and(|(_, names)| mentions(names, command)) {
            return true;
        }
        let line = line.trim_start_matches([' ', '│', '|', '\t']);
        let mut words = line.split_whitespace().filter(|word| *word != program);
        let names = |word: &str| {
            word.split(['|', ',']).any(|one| one.trim_end_matches([':', '*']) == command)
        };
        words.next().is_some_and(names)
    })
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

/// Whether a help text knows an option; of several letters behind one hyphen, each, and of an option with
/// its value behind it, the option.
fn knows(help: &str, option: &str) -> bool {
    if mentions(help, option) {
        return true;
    }
    match option.strip_prefix("--") {
        Some(name) => mentions(help, &format!("--[no-]{name}")),
        None => {
            let letter = |letter: char| {
                mentions(help, &format!("-{letter}"))
                    || help.contains(&format!("-{letter}<"))
                    || help.split("[-").skip(1).any(|group| {
                        let letters = group.split(|c: char| !c.is_ascii_alphanumeric()).next();
                        letters.is_some_and(|letters| letters.contains(letter))
                    })
            };
            option.chars().skip(1).all(letter)
        }
    }
}

/// What a tool does not know of a command: the sub-command, or options.
fn unknown_words(
    shelf: &mut ToolShelf,
    program: &str,
    command: &ShellCommand,
    style: HelpStyle,
) -> Vec<String> {
    let words: Vec<&str> = own_words(command).iter().map(|word| word.text.as_str()).collect();
    let words = words.get(1..).unwrap_or_default();
    // What stands behind `--` is another program's.
    let own = words.iter().position(|word| *word == "--").map_or(words, |end| &words[..end]);
    let skipped = match style {
        // The folder and the pager of git stand before its command.
        Verbs if own.first() == Some(&"-C") => 2,
        Verbs => own.iter().take_while(|word| word.starts_with('-')).count(),
        _ => 0,
    };
    let operands: Vec<&str> =
        own[skipped..].iter().copied().take_while(|word| !word.starts_with('-')).collect();
    let help = CommandHelp::of(shelf, program, style, &operands);
    let unlisted = UNLISTED.iter().find(|(name, ..)| *name == program).map_or(&[][..], |row| row.1);
    let options = own.iter().filter(|word| word.len() > 1 && word.starts_with('-'));
    let names = options.map(|word| word.split(['=', ':']).next().unwrap_or(word));
    let unknown = names
        .filter(|name| !name[1..].starts_with(|c: char| c.is_ascii_digit()))
        .filter(|name| !unlisted.contains(name) && !knows(&help.text, name))
        .map(str::to_owned);
    help.unknown.clone().into_iter().chain(unknown).collect()
}

pub(crate) fn is_long() -> bool {
    std::env::var_os("SINEW_LONG").is_some_and(|value| value == "1")
}

#[test]
fn the_commands_of_carried_skills_still_parse() {
    if !is_long() {
        report_skip(
            "the commands of carried skills are held against their tools with SINEW_LONG=1",
        );
        return;
    }
    let mut shelf = ToolShelf::new();
    let (mut wrong, mut missing) = (Vec::new(), BTreeSet::new());
    let mut parsed: BTreeMap<String, usize> = BTreeMap::new();
    let mut lacking = BTreeSet::new();
    let wanted: Vec<_> = bodies()
        .into_iter()
        .filter(|body| matches!(body.kind, CheckKind::Parsed | CheckKind::Sent))
        .collect();
    for body in &wanted {
        let commands = body.commands();
        for command in commands.iter().filter(|command| command.kind == CheckKind::Parsed) {
            let program = command.program.as_str();
            let Some((_, style)) = PROGRAMS.iter().find(|(name, _)| *name == program) else {
                wrong.push(format!("{}: how does {program} tell what it takes?", body.name));
                continue;
            };
            if !shelf.has(program) {
                missing.insert(program.to_owned());
                lacking.insert(body.name.clone());
                continue;
            }
            *parsed.entry(body.name.clone()).or_default() += 1;
            for word in unknown_words(&mut shelf, program, &command.command, *style) {
                wrong.push(format!("{}: {word} in {}", body.name, command.line()));
            }
        }
    }
    for program in &missing {
        report_skip(&format!("{program} is not installed"));
    }
    for (skill, count) in &parsed {
        let _ = writeln!(std::io::stdout(), "{skill}: {count} commands parsed");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Whatever is missing, every other skill was asked for.
    let expected: Vec<&String> = wanted
        .iter()
        .filter(|body| body.kind == CheckKind::Parsed && !lacking.contains(&body.name))
        .map(|body| &body.name)
        .collect();
    for skill in &expected {
        assert!(parsed.contains_key(*skill), "no command of {skill} was parsed");
    }
    assert!(expected.len() + lacking.len() >= 20, "{expected:?}, without {lacking:?}");
    if std::env::var_os("SINEW_UPDATE").is_some() && missing.is_empty() {
        write_checked(&mut |program| shelf.version(program));
    }
}

/// What the check would say of commands that a tool once had, or never.
#[test]
fn a_command_that_a_tool_does_not_have_is_a_fault() {
    let help = "Usage: mail [OPTIONS] <COMMAND>\n\nCommands:\n  message  Manage messages [aliases: msg]\n  \
                help     Print this\n\nOptions:\n      --json  JSON\n  -m, --mailbox <NAME>  The mailbox\n";
    for (command, is_listed) in [
        ("message", true),
        ("msg", true),
        ("template", false),
        ("messages", false),
        ("json", false),
    ] {
        assert_eq!(lists(help, "mail", command), is_listed, "{command}");
    }
    assert!(has_commands(help) && !has_commands("Usage: mail [OPTIONS] <ID>\n"));
    for (option, is_known) in
        [("--json", true), ("-m", true), ("--mailbox", true), ("-f", false), ("--folder", false)]
    {
        assert_eq!(knows(help, option), is_known, "{option}");
    }
    let mut shelf = ToolShelf {
        path: std::env::var_os("PATH").unwrap_or_default(),
        home: TestMachine::new(),
        told: BTreeMap::from([
            (vec!["mail".to_owned(), "--help".to_owned()], help.to_owned()),
            (
                vec!["mail".to_owned(), "message".to_owned(), "--help".to_owned()],
                "Commands:\n  send  Send\n".to_owned(),
            ),
        ]),
    };
    for (line, faults) in [
        ("mail message send --json", &[][..]),
        ("mail template reply --json", &["template"]),
        ("mail message write", &["write"]),
        ("mail message -f Archive", &["-f"]),
    ] {
        let script = ShellScript::parse(line);
        let found = unknown_words(&mut shelf, "mail", &script.commands[0], Subcommands);
        assert_eq!(found, faults, "{line}");
    }
}
