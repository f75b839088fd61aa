//! OpenPocket's reading and its rules.

use sinew_skill::validate::{RuleSet, ValidationFile, validate, validate_draft};
use sinew_skill::{MetadataHealth, ReadOptions, read};

use crate::support::{codes, verdict};

#[test]
fn missing_fields_come_from_the_body() {
    let long = "x".repeat(200);
    let text = format!("# Open Mail\n\n{long}\n");
    let outcome = read(text.as_bytes(), &ReadOptions::openpocket("open-mail"));
    let skill = outcome.skill.expect("plain Markdown is a skill here");
    assert_eq!((skill.name.as_str(), skill.description.len()), ("Open Mail", 180));
    assert_eq!(codes(&outcome.reasons), "frontmatter-missing@1");

    let skill = read(b"---\nname:\n---\n", &ReadOptions::openpocket("id")).skill.expect("loads");
    assert_eq!((skill.name.as_str(), skill.description.as_str()), ("id", "(no description)"));
}

#[test]
fn a_blank_name_falls_back_and_is_reported() {
    let outcome = read(b"---\nname: ' '\n---\n# Title\ntext\n", &ReadOptions::openpocket("id"));
    assert_eq!(codes(&outcome.reasons), "name-missing@2");
    assert_eq!(outcome.skill.expect("loads").name, "Title");
}

#[test]
fn keys_are_read_in_any_case() {
    let text = "---\nName: a\nDESCRIPTION: d\nUser-Invocable: no\nTriggers: [x]\n\
                OpenClaw: {Requires: {Bins: git gh}}\n---\n";
    let skill = read(text.as_bytes(), &ReadOptions::openpocket("id")).skill.expect("loads");
    assert_eq!((skill.name.as_str(), skill.description.as_str()), ("a", "d"));
    assert!(!skill.invocation.user_invocable);
    assert_eq!(skill.triggers.any, ["x"]);
    assert_eq!(skill.metadata.expect("a block").requires.bins, ["git", "gh"]);
}

#[test]
fn literal_dotted_keys_are_read() {
    let text = "---\nname: a\ndescription: d\nopenclaw.requires.bins: git, gh\n\
                openclaw.requires.env: [KEY]\nopenclaw.os: [linux]\nopenclaw.triggers.none: [never]\n---\n";
    let skill = read(text.as_bytes(), &ReadOptions::openpocket("id")).skill.expect("loads");
    let metadata = skill.metadata.expect("a block");
    assert_eq!(metadata.requires.bins, ["git", "gh"]);
    assert_eq!(
        (metadata.requires.env, metadata.os),
        (vec!["KEY".to_owned()], vec!["linux".to_owned()])
    );
    assert_eq!(metadata.triggers.none, ["never"]);
    // OpenClaw knows no such keys.
    let skill = read(text.as_bytes(), &ReadOptions::openclaw("id")).skill.expect("loads");
    assert!(skill.metadata.is_none());
}

#[test]
fn a_broken_top_level_block_closes_the_gate() {
    for block in ["openclaw: {requires: {bins: [git]", "openclaw: [x", "openclaw: text"] {
        let text = format!("---\nname: a\ndescription: d\n{block}\n---\n");
        let skill = read(text.as_bytes(), &ReadOptions::openpocket("id")).skill.expect("loads");
        assert_eq!(skill.metadata_health, MetadataHealth::Unreadable, "{block}");
    }
}

#[test]
fn a_generated_draft_is_described_by_its_title() {
    let options = ReadOptions { generated: true, ..ReadOptions::openpocket("id") };
    let skill = read(b"# Book a table\n\n- session: x\n", &options).skill.expect("loads");
    assert_eq!(skill.description, "Book a table");
}

#[test]
fn permissive_rules_accept_what_loads_and_say_what_is_missing() {
    let check = |text: &str, expected: &str| {
        assert_eq!(verdict("any Folder", text, RuleSet::OpenPocket), expected, "{text}");
    };
    check("---\nname: a\ndescription: d\n---\n", "pass");
    check("# Title\n", "pass FRONTMATTER_MISSING:warn");
    check("---\nname: a\n", "fail FRONTMATTER_MISSING");
    check("---\n---\n", "pass NAME_MISSING:warn DESCRIPTION_MISSING:warn");
    check("---\nName: a\nDescription: d\n---\n", "pass");
}

#[test]
fn strict_rules_also_judge_the_path() {
    let check = |folder: &str, name: &str, expected: &str| {
        let text = format!("---\nname: {name}\ndescription: d\n---\n");
        assert_eq!(verdict(folder, &text, RuleSet::OpenPocketStrict), expected, "{folder} {name}");
    };
    check("ok", "ok", "pass");
    check("bad", "other", "fail NAME_PATH_MISMATCH");
    check("open-mail", "Open Mail", "fail NAME_INVALID");
    check("Open", "open", "fail SKILL_DIR_INVALID NAME_PATH_MISMATCH");

    let bytes = b"---\nname: a\ndescription: d\n---\n";
    let target = ValidationFile { directory: "a", file_name: "a.md", bytes };
    assert!(validate(&target, RuleSet::OpenPocketStrict).has_issue("SKILL_FILENAME_INVALID"));
    assert!(validate(&target, RuleSet::OpenPocket).passed());
    assert!(validate_draft(None).has_issue("DRAFT_SKILL_MISSING"));
}
