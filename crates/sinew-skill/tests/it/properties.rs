//! Properties that hold for any input: reading never panics, and repairs are valid.

use proptest::prelude::*;
use sinew_settings::ReasonSeverity;
use sinew_skill::validate::{RuleSet, ValidationFile, validate};
use sinew_skill::{ReadOptions, parse_front_matter, read, split_front_matter};

use crate::support::openclaw;

/// Reads and validates in every way.
fn exercise(bytes: &[u8]) {
    for options in [ReadOptions::openclaw("folder"), ReadOptions::openpocket("folder")] {
        let outcome = read(bytes, &options);
        let failed = outcome.reasons.iter().any(|reason| reason.severity == ReasonSeverity::Error);
        assert_eq!(outcome.skill.is_none(), failed, "dropped with a reason, or kept: {outcome:?}");
    }
    for rules in [RuleSet::OpenClaw, RuleSet::OpenPocketStrict, RuleSet::STRICT] {
        let target = ValidationFile { directory: "folder", file_name: "SKILL.md", bytes };
        let _ = validate(&target, rules);
    }
}

/// A front matter with some of its characters replaced.
fn mutated() -> impl Strategy<Value = String> {
    let seed = "---\nname: demo\ndescription: Send mail: list\nargument-hint: [a] [b]\n\
                metadata: {\"openclaw\":{\"requires\":{\"bins\":[\"gh\"]},\"emoji\":\"\\ud83e\\udde0\"}}\n\
                tags:\n  - a\n  - b\n---\n# Demo\n";
    let patch =
        (0..seed.len(), prop_oneof!["[-:{}\\[\\]#&*!|>'\"%@`, \n\t\\\\]{1,3}", "\\PC{0,2}"]);
    proptest::collection::vec(patch, 1..6).prop_map(move |patches| {
        let mut text = seed.to_owned();
        for (at, patch) in patches {
            let at = at.min(text.len().saturating_sub(1));
            if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
                text.replace_range(at..=at, &patch);
            }
        }
        text
    })
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z-]{1,8}: [ -~é☔\u{2028}]{0,24}",
        "description: [ -~é]{0,24}(\n  [ -~]{0,12}){0,2}",
        "metadata: [{\\[][ -~é]{0,24}",
        "metadata: \\{\"[a-z]{1,4}\":(1|\"\\\\\\\\ud83e\\\\\\\\udde0\"|\"\\\\\\\\u0085\"|\\[1.50,null\\])\\}",
    ]
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        exercise(&bytes);
    }

    #[test]
    fn arbitrary_text_between_fences_never_panics(text in "\\PC{0,200}", body in "\\PC{0,40}") {
        exercise(format!("---\n{text}\n---\n{body}").as_bytes());
    }

    #[test]
    fn mutated_front_matter_never_panics(text in mutated()) {
        exercise(text.as_bytes());
    }

    #[test]
    fn repaired_text_reads_strictly_to_the_same_values(
        fields in proptest::collection::vec(field(), 1..5)
    ) {
        let text = fields.join("\n");
        let Ok(front) = parse_front_matter(&text, 1) else { return Ok(()) };
        if front.unreadable_metadata.is_some() {
            return Ok(());
        }
        let mut lines: Vec<&str> = text.split('\n').collect();
        for repaired in front.repaired.iter().rev() {
            let at = repaired.line - 1;
            lines.splice(at..at + repaired.lines, [repaired.replacement.as_str()]);
        }
        let again = parse_front_matter(&lines.join("\n"), 1).expect("a repair is valid YAML");
        prop_assert!(again.repaired.is_empty());
        prop_assert_eq!(again.fields, front.fields);
    }

    #[test]
    fn any_text_survives_quoting_and_flattening(text in any::<String>()) {
        // A reserved character makes the reader quote the rest of the line.
        let line: String = text.chars().filter(|c| !c.is_control()).collect();
        let value = format!("@{}", line.trim_end());
        let file = format!("---\ndescription: d\nnote: {value}\n---\n");
        let outcome = openclaw(file.as_bytes());
        if let Some(skill) = outcome.skill {
            let flattened = skill.frontmatter.flattened();
            prop_assert_eq!(flattened[1].1.as_str(), value.trim());
        } else {
            // Only characters outside YAML's set keep it from being read.
            prop_assert!(value.contains(['\u{fffe}', '\u{ffff}', '\u{feff}']), "{:?}", outcome.reasons);
        }
    }

    #[test]
    fn the_parts_of_a_file_are_the_file(text in "(---\n)?[a-z:\n -]{0,60}(---\n)?[a-z\n]{0,20}") {
        if let Ok(fenced) = split_front_matter(&text) {
            prop_assert!(text.ends_with(fenced.body));
            prop_assert!(text.contains(fenced.front.unwrap_or_default()));
            let before = &text[..text.len() - fenced.body.len()];
            prop_assert_eq!(before.matches('\n').count() + 1, fenced.body_line);
        }
    }
}
