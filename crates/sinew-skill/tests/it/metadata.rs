//! The vendor block of the front matter: what OpenClaw reads in it.

use sinew_skill::{MetadataHealth, SkillMetadata};

use crate::support::{codes, file, openclaw};

fn metadata(fields: &str) -> (Option<SkillMetadata>, MetadataHealth, String) {
    let text = file(&format!("name: a\ndescription: d\n{fields}"));
    let outcome = openclaw(text.as_bytes());
    let found_codes = codes(&outcome.reasons);
    let skill = outcome.skill.expect("bad metadata never keeps a skill from loading");
    (skill.metadata, skill.metadata_health, found_codes)
}

#[test]
fn all_four_forms_say_the_same() {
    let forms = [
        "metadata:\n  openclaw:\n    os: [linux]\n    requires:\n      bins:\n        - git",
        "metadata: {openclaw: {os: [linux], requires: {bins: [git]}}}",
        "metadata:\n  {\n    \"openclaw\": { \"os\": [\"linux\"],\n      \"requires\": { \"bins\": [\"git\"], }, },\n  }",
        "metadata: '{\"openclaw\":{\"os\":[\"linux\"],\"requires\":{\"bins\":[\"git\"]}}}'",
        "metadata: \"{openclaw: {os: 'linux', requires: {bins: ['git',],},},}\"",
    ];
    let (expected, ..) = metadata(forms[0]);
    let block = expected.clone().expect("a block");
    assert_eq!((block.os, block.requires.bins), (vec!["linux".to_owned()], vec!["git".to_owned()]));
    for form in forms {
        assert_eq!(
            metadata(form),
            (expected.clone(), MetadataHealth::Sound, String::new()),
            "{form}"
        );
    }
}

#[test]
fn surrogate_escapes_become_one_character() {
    let (block, ..) = metadata(r#"metadata: {"openclaw":{"emoji":"\ud83e\udde0"}}"#);
    assert_eq!(block.and_then(|block| block.emoji).as_deref(), Some("🧠"));
}

#[test]
fn unreadable_metadata_closes_the_gate() {
    for broken in [
        r#"metadata: {"openclaw":{"requires":{"bins":["gh"]}"#,
        "metadata:\n\topenclaw:\n\t\trequires: x",
        "metadata: text",
        "metadata: [openclaw]",
        "metadata: '{openclaw: '",
        "metadata: {\"openclaw\":{\"emoji\":\"\\ud83e\"}}",
    ] {
        let (block, health, found_codes) = metadata(broken);
        assert_eq!((block, health), (None, MetadataHealth::Unreadable), "{broken}");
        assert_eq!(found_codes, "metadata-invalid@4", "{broken}");
    }
}

#[test]
fn a_requirement_of_the_wrong_kind_closes_the_gate() {
    for wrong in ["requires: git", "requires: {bins: 3}", "requires: {env: [[a]]}", "os: {a: b}"] {
        let (_, health, found_codes) = metadata(&format!("metadata: {{openclaw: {{{wrong}}}}}"));
        assert_eq!(health, MetadataHealth::Unreadable, "{wrong}");
        assert_eq!(found_codes, "bad-metadata-field@4 metadata-invalid@4", "{wrong}");
    }
    let (_, health, found_codes) = metadata("metadata: {openclaw: [bins]}");
    assert_eq!(health, MetadataHealth::Unreadable);
    assert_eq!(found_codes, "bad-metadata-field@4 metadata-invalid@4");
}

#[test]
fn other_wrong_kinds_are_dropped_and_reported() {
    let (block, health, found_codes) =
        metadata("metadata: {openclaw: {always: \"true\", emoji: 3}}");
    let block = block.expect("a block");
    assert_eq!((block.always, block.emoji, health), (false, None, MetadataHealth::Sound));
    assert_eq!(found_codes, "bad-metadata-field@4 bad-metadata-field@4");
}

#[test]
fn the_first_vendor_with_a_map_wins() {
    let emoji = |fields: &str| metadata(fields).0.and_then(|block| block.emoji);
    let both = "metadata: {clawdbot: {emoji: c}, openclaw: {emoji: o}, moltbot: {emoji: m}}";
    assert_eq!(emoji(both).as_deref(), Some("o"));
    assert_eq!(emoji("metadata: {openclaw: text, clawdbot: {emoji: c}}").as_deref(), Some("c"));
    assert_eq!(emoji("metadata: {other: {emoji: x}}"), None);
}

#[test]
fn lists_may_be_one_string() {
    let (block, ..) = metadata("metadata: {openclaw: {requires: {bins: \"git, gh ,\", env: A}}}");
    let requires = block.expect("a block").requires;
    assert_eq!((requires.bins, requires.env), (vec!["git".into(), "gh".into()], vec!["A".into()]));
}

#[test]
fn install_specs_are_data() {
    let (block, _, found_codes) = metadata(
        "metadata:\n  openclaw:\n    install:\n      - {kind: Brew, formula: gh, bins: [gh]}\n      \
         - {type: apt, package: gh, extract: true, stripComponents: 1}\n      - {formula: x}",
    );
    let install = block.expect("a block").install;
    assert_eq!(found_codes, "bad-metadata-field@4");
    assert_eq!(install.len(), 2);
    assert_eq!((install[0].id.as_str(), install[0].kind.as_str()), ("brew-0", "brew"));
    assert_eq!((install[1].id.as_str(), install[1].kind.as_str()), ("apt-1", "apt"));
    assert_eq!(install[1].fields["stripComponents"], "1");
    let (one, ..) = metadata("metadata: {openclaw: {install: {kind: uv, package: x}}}");
    assert_eq!(one.expect("a block").install[0].id, "uv-0");
}

#[test]
fn triggers_come_from_every_place_authors_write_them() {
    let text = "---\ndescription: d\ntriggers: [a]\nkeywords: b, c\ntags: {any: [d], none: [e]}\n\
                metadata: {triggers: f, openclaw: {triggers: {any: [g], all: [h]}}}\n---\n\
                # T\n\n## Trigger\n\n- when i\n\n## Steps\n";
    let triggers = openclaw(text.as_bytes()).skill.expect("loads").triggers;
    assert_eq!(triggers.any, ["g", "a", "b", "c", "d", "f", "when i"]);
    assert_eq!((triggers.all, triggers.none), (vec!["h".to_owned()], vec!["e".to_owned()]));
}

#[test]
fn the_vendor_homepage_wins() {
    let text =
        file("description: d\nhomepage: https://a\nmetadata: {openclaw: {homepage: https://b}}");
    let skill = openclaw(text.as_bytes()).skill.expect("loads");
    assert_eq!(skill.homepage.as_deref(), Some("https://b"));
}
