//! Validation by OpenClaw's rules and the Agent Skills specification.
//!
//! With parity, our verdicts were compared with the reference validator 0.1.1 over the 1,864 real
//! skills (all agree), 160 hand-made files and 4,000 mutated ones. What differs, differs on
//! purpose:
//!
//! - The validator ends the front matter at the first `---` anywhere, so it never sees an unknown
//!   field behind one; sinew reads to the closing line and reports both.
//! - For the same reason it accepts `---name: x`, `----` or `---x` as fences. A fence is a line.
//! - It allows `allowed-tools` to be a map. The specification does not.
//! - It reads a file with a NUL byte in its body. sinew does not.
//! - Its parser predates YAML 1.2: it treats U+2028 as the end of a line, and lets a quoted text
//!   continue at the left margin.

use sinew_settings::ReasonSeverity;
use sinew_skill::validate::{
    AGENTSKILLS_RULES, RuleSet, SpecLevel, ValidationFile, missing_file_report, validate,
};

use crate::support::verdict;

const PARITY: RuleSet = RuleSet::AgentSkills { level: SpecLevel::Strict, parity: true };

fn named(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\nbody\n")
}

fn with(fields: &str) -> String {
    format!("---\nname: demo\ndescription: d\n{fields}\n---\nbody\n")
}

#[track_caller]
fn check(folder: &str, text: &str, expected: &str) {
    assert_eq!(verdict(folder, text, RuleSet::STRICT), expected, "{text}");
}

#[track_caller]
fn check_parity(text: &str, expected: &str) {
    assert_eq!(verdict("demo", text, PARITY), expected, "{text}");
}

#[test]
fn names_follow_the_specification() {
    let long = "a".repeat(65);
    check("demo", &named("demo"), "pass");
    check("a--b", &named("a--b"), "fail NAME_HYPHENS");
    check("-a", &named("-a"), "fail NAME_HYPHENS");
    check("A", &named("A"), "fail NAME_NOT_LOWERCASE");
    check(&long, &named(&long), "fail NAME_TOO_LONG");
    check("other", &named("demo"), "fail NAME_PATH_MISMATCH");
    check("a_b", &named("a_b"), "fail NAME_INVALID");
    check("demo", &named(""), "fail NAME_MISSING");
    check("demo", &named("[demo]"), "fail FLOW_COLLECTION:warn NAME_MISSING");
    check("123", &named("123"), "pass");
    check("null", &named("null"), "pass");
}

#[test]
fn letters_of_every_script_make_names() {
    for name in ["é", "日本語", "한글", "²"] {
        check(name, &named(name), "pass");
    }
    check("e\u{301}", &named("é"), "pass");
    check("ﬁ", &named("fi"), "pass");
    check("हिन्दी", &named("हिन्दी"), "fail NAME_INVALID");
    check("🅰", &named("🅰"), "fail NAME_INVALID");
    check("Ⅷ", &named("Ⅷ"), "fail NAME_NOT_LOWERCASE");
}

#[test]
fn descriptions_have_a_length() {
    let described = |text: &str| format!("---\nname: demo\ndescription: {text}\n---\n");
    check("demo", &described(&"x".repeat(1024)), "pass");
    check("demo", &described(&"é".repeat(1024)), "pass");
    check("demo", &described(&"x".repeat(1025)), "fail DESCRIPTION_TOO_LONG");
    check("demo", &described(""), "fail DESCRIPTION_MISSING");
    check("demo", &described("\" \""), "fail DESCRIPTION_MISSING");
    check("demo", &described("\n  - a"), "fail DESCRIPTION_MISSING");
}

#[test]
fn other_fields_are_judged_by_level() {
    check("demo", &with("version: 1"), "fail FIELD_UNKNOWN");
    let lenient = |text: &str| verdict("demo", text, RuleSet::LENIENT);
    assert_eq!(lenient(&with("version: 1")), "pass FIELD_UNKNOWN:info");
    assert_eq!(lenient(&with("metadata: {a: b}")), "pass FLOW_COLLECTION:warn");
    assert_eq!(lenient(&named("other")), "pass NAME_PATH_MISMATCH:warn");
    assert_eq!(RuleSet::default(), RuleSet::LENIENT);
    assert_eq!("agentskills".parse(), Ok(RuleSet::STRICT));
    assert!("agentskill".parse::<RuleSet>().is_err());
}

#[test]
fn known_fields_have_kinds() {
    check("demo", &with("compatibility:"), "pass");
    check("demo", &with(&format!("compatibility: {}", "x".repeat(500))), "pass");
    check(
        "demo",
        &with(&format!("compatibility: {}", "x".repeat(501))),
        "fail COMPATIBILITY_TOO_LONG",
    );
    check("demo", &with("compatibility:\n  - a"), "fail COMPATIBILITY_INVALID");
    check("demo", &with("allowed-tools: Read Write"), "pass");
    check("demo", &with("allowed-tools:\n  - Read"), "pass ALLOWED_TOOLS_TYPE:info");
    check("demo", &with("allowed-tools:\n  a: b"), "fail ALLOWED_TOOLS_TYPE");
    check("demo", &with("metadata:\n  a: b"), "pass");
    check("demo", &with("metadata:\n  a:\n    b: c"), "pass METADATA_NOT_STRINGS:info");
}

#[test]
fn syntax_is_judged_strictly() {
    check("demo", "text\n", "fail FRONTMATTER_MISSING");
    check("demo", "\n---\nname: demo\ndescription: d\n---\n", "fail FRONTMATTER_MISSING");
    check("demo", "---\nname: demo\n", "fail FRONTMATTER_UNTERMINATED");
    check("demo", "---\n- a\n---\n", "fail FRONTMATTER_INVALID");
    check("demo", &with("name: demo"), "fail DUPLICATE_KEY");
    check("demo", &with("license: a: b"), "fail FRONTMATTER_INVALID");
    check("demo", &with("metadata: {a: "), "fail FRONTMATTER_INVALID");
    check("demo", "\u{feff}---\nname: demo\ndescription: d\n---\n", "pass REF_DIVERGENCE:warn");
}

#[test]
fn parity_refuses_what_the_reference_validator_refuses() {
    check_parity(&with("license: MIT"), "pass");
    check_parity(&with("metadata: {}"), "fail FLOW_COLLECTION");
    check_parity(&with("license: !!str MIT"), "fail FRONTMATTER_INVALID");
    check_parity(&with("license: M\tIT"), "fail FRONTMATTER_INVALID");
    check_parity(&with("license: \"M\tIT\""), "pass");
    check_parity("\u{feff}---\nname: demo\ndescription: d\n---\n", "fail FRONTMATTER_MISSING");
    let uneven = "metadata:\n  a:\n      c: d\n  b:\n    d: e";
    check_parity(&with(uneven), "fail FRONTMATTER_INVALID METADATA_NOT_STRINGS:info");
    check("demo", &with(uneven), "pass METADATA_NOT_STRINGS:info");
}

#[test]
fn a_cut_by_the_reference_validator_is_shown() {
    let text = "---\nname: demo\ndescription: a --- b\nlicense: MIT\n---\n";
    check("demo", text, "pass REF_DIVERGENCE:warn");
    let target =
        ValidationFile { directory: "demo", file_name: "SKILL.md", bytes: text.as_bytes() };
    let issue = &validate(&target, RuleSet::STRICT).issues[0];
    assert_eq!(issue.line, Some(3));
    assert!(issue.message.contains("`description` as `a`"), "{}", issue.message);
    assert!(issue.message.contains("does not see license"), "{}", issue.message);

    let cut_early = "---\nname: demo # --- x\ndescription: d\n---\n";
    check("demo", cut_early, "pass REF_DIVERGENCE:warn");
    check_parity(cut_early, "fail REF_DIVERGENCE");
    check_parity(text, "pass REF_DIVERGENCE:warn");
}

#[test]
fn long_bodies_belong_into_references() {
    check("demo", &format!("{}{}", named("demo"), "x\n".repeat(501)), "pass BODY_LONG:warn");
    check("demo", &format!("{}{}", named("demo"), "x".repeat(20_001)), "pass BODY_LONG:warn");
    check("demo", &format!("{}{}", named("demo"), "x\n".repeat(400)), "pass");
}

#[test]
fn file_names_count() {
    let bytes = named("demo").into_bytes();
    let said = |file_name: &str, rules| {
        let target = ValidationFile { directory: "demo", file_name, bytes: &bytes };
        validate(&target, rules).issues.iter().map(|issue| issue.code).collect::<Vec<_>>()
    };
    assert!(said("skill.md", RuleSet::STRICT).is_empty());
    assert_eq!(said("Skill.md", RuleSet::STRICT), ["SKILL_FILE_MISSING"]);
    assert_eq!(said("skill.md", RuleSet::OpenClaw), ["filename-case"]);
    assert!(missing_file_report("demo").has_issue("SKILL_FILE_MISSING"));
}

#[test]
fn openclaw_rules_are_the_readers_reasons() {
    let check = |text: &str, expected: &str| {
        assert_eq!(verdict("demo", text, RuleSet::OpenClaw), expected, "{text}");
    };
    check("---\ndescription: d\nversion: 1\n---\n", "pass");
    check("---\ndescription: a: b\n---\n", "pass frontmatter-repaired:warn");
    check("text\n", "fail frontmatter-missing:warn description-missing");
    check(&with("metadata: {a: "), "pass metadata-invalid:warn");
    let large = format!("{}{}", named("demo"), "x".repeat(256_000));
    check(&large, "fail file-too-large");
    check(&large[..256_000], "pass");
}

#[test]
fn every_issue_is_a_rule_of_the_table() {
    let severity = |code: &str| AGENTSKILLS_RULES.iter().find(|rule| rule.code == code);
    assert_eq!(AGENTSKILLS_RULES.len(), 21);
    let unknown = severity("FIELD_UNKNOWN").expect("a rule");
    assert_eq!((unknown.strict, unknown.lenient), (ReasonSeverity::Error, ReasonSeverity::Info));
    assert_eq!(unknown.severity_at(SpecLevel::Lenient), ReasonSeverity::Info);
}
