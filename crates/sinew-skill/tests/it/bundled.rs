//! The skills that ship with sinew are examples: they must have no issues, and a known origin.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sinew_settings::ReasonSeverity;
use sinew_skill::validate::{RuleSet, ValidationFile, validate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-engine/skills")
}

/// Every carried skill: its name and the bytes of its SKILL.md.
fn library() -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder()).expect("the carried skills");
    entries
        .filter_map(|entry| {
            let path = entry.expect("a folder that can be read").path();
            let name = path.file_name()?.to_string_lossy().into_owned();
            path.is_dir().then(|| (name, fs::read(path.join("SKILL.md")).expect("a skill")))
        })
        .collect()
}

#[test]
fn bundled_skills_pass_without_warnings() {
    let library = library();
    assert!(library.len() >= 60, "{} skills", library.len());
    for (name, bytes) in &library {
        let target = ValidationFile { directory: name, file_name: "SKILL.md", bytes };
        let sets =
            [RuleSet::STRICT, RuleSet::OpenClaw, RuleSet::OpenPocket, RuleSet::OpenPocketStrict];
        for rules in sets {
            let found = validate(&target, rules);
            let loud: Vec<_> = found
                .issues
                .iter()
                .filter(|issue| issue.severity >= ReasonSeverity::Warn)
                .collect();
            assert!(loud.is_empty(), "{name} by {rules}: {loud:?}");
        }
    }
}

#[test]
fn bundled_skills_are_short_and_say_when_they_are_for() {
    for (name, bytes) in library() {
        let text = String::from_utf8(bytes).expect("our own text is UTF-8");
        let (front, body) = text[4..].split_once("\n---\n").expect("front matter");
        let lines = body.trim().lines().count();
        assert!((40..=200).contains(&lines), "{name}: a body of {lines} lines");
        assert!(front.contains(" Use "), "{name} does not say when to use it");
        assert!(front.contains(" Not for "), "{name} does not say what it is not for");
        assert!(front.contains("    emoji: "), "{name} has no emoji");
        let ours = ["git-history", "session-logs", "sinew", "skill-creator", "tmux"];
        assert!(
            front.contains("    homepage: https://") || ours.contains(&name.as_str()),
            "{name}"
        );
    }
}

/// A body says what goes wrong and why, and what waits for the user.
#[test]
fn bundled_skills_name_failures_and_what_needs_a_yes() {
    const FAILURES: &[&str] = &[
        "\n## When it fails\n",
        "\n## When something looks wrong\n",
        "\n## What the status says\n",
    ];
    const CONSENT: &[&str] = &["yes", "ask", "asks", "asked", "asking", "agreed", "consent"];
    for (name, bytes) in library() {
        let text = String::from_utf8(bytes).expect("our own text is UTF-8");
        let (_, body) = text[4..].split_once("\n---\n").expect("front matter");
        let section = FAILURES.iter().find_map(|heading| body.split_once(heading));
        let (_, section) = section.unwrap_or_else(|| panic!("{name} does not say what can fail"));
        let section = section.split("\n## ").next().unwrap_or_default();
        let rows = section.lines().filter(|line| line.starts_with(['|', '-', '1', '2', '3']));
        assert!(rows.count() >= 3, "{name} names hardly anything that can fail");
        let mut words = body.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        assert!(
            words.any(|word| CONSENT.contains(&word.as_str())),
            "{name} does not say what needs the user's consent"
        );
    }
}

/// The table says which tool each skill speaks of, in which version, and how many commands were tried how.
#[test]
fn the_table_of_bundled_skills_is_complete() {
    let readme = fs::read_to_string(folder().join("README.md")).expect("the table");
    let rows: Vec<Vec<&str>> = readme
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let named: Vec<String> = rows.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(named, library().into_keys().collect::<Vec<_>>());
    for row in &rows {
        let [name, tool, version, date, how, commands] = row[..] else { panic!("{row:?}") };
        assert!(!tool.is_empty() && !version.is_empty(), "{name}");
        assert!(date.len() == 7 && date.starts_with("20"), "{name}: {date}");
        let known = ["run", "sent", "parsed", "documents"];
        assert!(known.contains(&how), "{name}: {how} is none of {known:?}");
        let tried = commands.parse::<usize>().is_ok_and(|count| count > 0);
        assert_eq!(tried, how != "documents", "{name}: {commands} commands {how}");
    }
    let tried = rows.iter().filter(|row| row[4] != "documents").count();
    assert!(tried >= 20, "the tools of {tried} skills were tried");
}
