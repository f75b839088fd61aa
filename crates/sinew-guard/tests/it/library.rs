//! The skills that the program carries hold nothing that the scanner would even mention aloud.

use std::path::{Path, PathBuf};

use sinew_guard::scan::{SkillBundle, Verdict};
use sinew_guard::shell::{ShellCommand, ShellScript};

use crate::support::{scanner, summary};

/// The folders of the carried skills.
fn library() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-engine/skills");
    let entries = std::fs::read_dir(folder).expect("the carried skills");
    let paths = entries.map(|entry| entry.expect("a folder that can be read").path());
    paths.filter(|path| path.is_dir()).collect()
}

#[test]
fn every_carried_skill_is_allowed() {
    let folders = library();
    for path in &folders {
        let bundle = SkillBundle::from_dir(path).expect("a skill's folder");
        let report = scanner().scan_bundle(&bundle);
        assert_eq!(report.verdict, Verdict::Allow, "{}: {}", path.display(), summary(&report));
    }
    assert!(folders.len() >= 60, "{} skills", folders.len());
}

/// Commands that the shell carries out itself: what they are given stands in no list of processes.
const BUILTINS: &[&str] =
    &["printf", "echo", "read", "export", "unset", "test", "[", "local", "set"];
/// How variables end that hold a secret.
const SECRET_NAMES: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASS", "PASSPHRASE", "PIN"];

/// Whether a word holds the value of a variable that is called like a secret.
fn holds_a_secret(word: &str) -> bool {
    word.split('$').skip(1).any(|rest| {
        let name = rest.trim_start_matches(['{', '!']);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = name[..end.unwrap_or(name.len())].to_ascii_uppercase();
        SECRET_NAMES.iter().any(|secret| {
            name.strip_suffix(secret)
                .is_some_and(|before| before.is_empty() || before.ends_with('_'))
        })
    })
}

/// The argument with which a command shows a secret to everyone who lists processes.
fn shown_secret(command: &ShellCommand) -> Option<&str> {
    let is_builtin = command.program().is_some_and(|program| BUILTINS.contains(&program));
    let mut words = command.words.iter().map(|word| word.text.as_str());
    words.find(|word| !is_builtin && holds_a_secret(word))
}

/// Blocks of shell, and code in sentences that is a command by its looks.
fn shell_of(body: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, part) in body.split("```").enumerate() {
        match part.strip_prefix("bash\n").or_else(|| part.strip_prefix("sh\n")) {
            Some(block) if at % 2 == 1 => found.push(block.to_owned()),
            _ if at % 2 == 1 => {}
            _ => found.extend(part.split('`').skip(1).step_by(2).map(str::to_owned)),
        }
    }
    found
}

#[test]
fn no_carried_skill_puts_a_secret_into_a_command_line() {
    for (line, is_shown) in [
        ("curl -H \"Authorization: Bearer $API_TOKEN\" https://example.com", true),
        ("camsnap add --name kitchen --pass \"$CAMERA_PASSWORD\"", true),
        ("sudo -u ann curl -u \"ann:${PASS}\" https://example.com", true),
        ("printf 'header = \"X: %s\"' \"$API_TOKEN\" | curl -K - https://example.com", false),
        ("API_TOKEN=\"$OTHER_TOKEN\" curl https://example.com", false),
        ("git log --oneline \"$KEYWORDS\"", false),
    ] {
        let script = ShellScript::parse(line);
        assert_eq!(
            script.commands.iter().any(|one| shown_secret(one).is_some()),
            is_shown,
            "{line}"
        );
    }
    let mut commands = 0;
    for folder in library() {
        let text = std::fs::read_to_string(folder.join("SKILL.md")).expect("a skill");
        for shell in shell_of(&text) {
            for command in &ShellScript::parse(&shell).commands {
                let shown = shown_secret(command);
                assert_eq!(shown, None, "{}: in a command line", folder.display());
                commands += 1;
            }
        }
    }
    assert!(commands >= 500, "{commands} commands");
}
