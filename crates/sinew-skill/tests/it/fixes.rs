//! Fixes: they correct what is beyond doubt and leave the rest unchanged, byte for byte.

use proptest::prelude::*;
use sinew_skill::validate::{RuleSet, SpecLevel, ValidationFile, apply_fixes, validate};

const ALL: [RuleSet; 5] = [
    RuleSet::OpenClaw,
    RuleSet::OpenPocket,
    RuleSet::OpenPocketStrict,
    RuleSet::STRICT,
    RuleSet::AgentSkills { level: SpecLevel::Lenient, parity: true },
];

fn target<'a>(folder: &'a str, bytes: &'a [u8]) -> ValidationFile<'a> {
    ValidationFile { directory: folder, file_name: "SKILL.md", bytes }
}

#[track_caller]
fn check(folder: &str, before: &str, rules: RuleSet, after: &str) {
    let found = validate(&target(folder, before.as_bytes()), rules);
    let fixed = apply_fixes(before.as_bytes(), &found.issues);
    let fixed = fixed.map(|bytes| String::from_utf8(bytes).expect("text stays text"));
    assert_eq!(fixed.as_deref().unwrap_or(before), after, "{:?}", found.issues);
    settled(folder, before.as_bytes(), rules);
}

/// A fixed file has none of the issues that had a fix, and nothing left to fix.
#[track_caller]
fn settled(folder: &str, before: &[u8], rules: RuleSet) {
    let found = validate(&target(folder, before), rules);
    let Some(fixed) = apply_fixes(before, &found.issues) else {
        assert!(!found.is_fixable(), "a fix that changes nothing: {:?}", found.issues);
        return;
    };
    let again = validate(&target(folder, &fixed), rules);
    assert!(
        !again.is_fixable(),
        "{rules}: {:?}\n{:?}\nthen {:?}",
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(&fixed),
        again.issues
    );
    assert_eq!(apply_fixes(&fixed, &again.issues), None);
}

#[test]
fn repaired_fields_get_their_quotes() {
    check(
        "mail",
        "---\nname: mail\n# why\ndescription: Send mail: list\n\nlicense: MIT\n---\nbody: x\n",
        RuleSet::STRICT,
        "---\nname: mail\n# why\ndescription: \"Send mail: list\"\n\nlicense: MIT\n---\nbody: x\n",
    );
    check(
        "mail",
        "---\ndescription: one: a\n# kept\n  two\n# also kept\n---\n",
        RuleSet::OpenClaw,
        "---\ndescription: \"one: a two\"\n# kept\n# also kept\n---\n",
    );
}

#[test]
fn bom_and_line_ends_stay() {
    check(
        "a",
        "\u{feff}---\r\nname: a\r\ndescription: x: y\r\n---\r\nmixed\nends\r",
        RuleSet::OpenClaw,
        "\u{feff}---\r\nname: a\r\ndescription: \"x: y\"\r\n---\r\nmixed\nends\r",
    );
    check(
        "a",
        "\u{feff}---\nname: a\ndescription: d\n---\n",
        RuleSet::STRICT,
        "---\nname: a\ndescription: d\n---\n",
    );
}

#[test]
fn a_missing_name_is_the_folders() {
    let named = "---\nname: demo\ndescription: d\n---\n";
    check("demo", "---\ndescription: d\n---\n", RuleSet::STRICT, named);
    check("demo", "---\nname:\ndescription: d\n---\n", RuleSet::STRICT, named);
    check("demo", "---\nname: \"\"\ndescription: d\n---\n", RuleSet::OpenClaw, named);
    check(
        "123",
        "---\ndescription: d\n---\n",
        RuleSet::OpenPocket,
        "---\nname: \"123\"\ndescription: d\n---\n",
    );
    let indented = "---\n  description: d\n---\n";
    check("demo", indented, RuleSet::STRICT, indented);
    let unusable = "---\ndescription: d\n---\n";
    check("No Slug", unusable, RuleSet::OpenPocket, unusable);
}

#[test]
fn a_name_in_another_spelling_becomes_the_folders() {
    let spelled = "---\nname: Open Mail\ndescription: d\n---\n";
    let fixed = "---\nname: open-mail\ndescription: d\n---\n";
    check("open-mail", spelled, RuleSet::OpenPocketStrict, fixed);
    check("open-mail", spelled, RuleSet::STRICT, fixed);
    check("other", spelled, RuleSet::STRICT, spelled);
    let commented = "---\nname: Open Mail # ours\ndescription: d\n---\n";
    check("open-mail", commented, RuleSet::STRICT, commented);
    check(
        "a-b",
        "---\nname: a: b\ndescription: d\n---\n",
        RuleSet::STRICT,
        "---\nname: a-b\ndescription: d\n---\n",
    );
}

#[test]
fn the_front_matter_moves_to_the_top() {
    let good = "---\nname: a\ndescription: d\n---\nbody\n";
    check("a", &format!("\n\n{good}"), RuleSet::OpenClaw, good);
    check(
        "a",
        &format!("<!-- from here -->\n\n{good}"),
        RuleSet::STRICT,
        "---\nname: a\ndescription: d\n---\n<!-- from here -->\nbody\n",
    );
    check("a", "```yaml\n---\nname: a\ndescription: d\n---\n```\nbody\n", RuleSet::OpenClaw, good);
    check(
        "a",
        "\n<!-- x -->\n---\nname: a\ndescription: d\n---",
        RuleSet::OpenClaw,
        "---\nname: a\ndescription: d\n---\n<!-- x -->",
    );
    let unclear = "```markdown\n---\nname: a\ndescription: d\n---\nbody\n```\n";
    check("a", unclear, RuleSet::OpenClaw, unclear);
}

#[test]
fn unreadable_metadata_is_left_to_its_author() {
    let text = "---\nname: a\ndescription: d\nmetadata: {a: \n---\n";
    check("a", text, RuleSet::OpenClaw, text);
    check("a", text, RuleSet::STRICT, text);
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}: [ -~é☔]{0,16}",
        "(name|description|metadata|license): ?[ -~é\u{2028}]{0,20}",
        "name: (open mail|Open-Mail|OPEN: mail|'open mail'|\"\"|~|open-mail # x)",
        "  [ -~]{0,16}",
        "[ -~]{0,12}",
        Just("---".to_owned()),
        Just("```yaml".to_owned()),
        Just("<!-- c -->".to_owned()),
        Just(String::new()),
        "# [a-z ]{0,8}",
    ]
}

proptest! {
    #[test]
    fn fixing_settles(
        lines in proptest::collection::vec(line(), 0..10),
        before in "(\u{feff})?(\n|<!-- c -->\n|```yaml\n){0,2}",
        end in "\n|\r\n|\r",
        last in proptest::bool::ANY,
    ) {
        let mut text = format!("{before}---\n{}\n---\nbody\n", lines.join("\n"));
        if last {
            text.pop();
        }
        let text = text.replace('\n', &end);
        for rules in ALL {
            settled("open-mail", text.as_bytes(), rules);
        }
    }
}
