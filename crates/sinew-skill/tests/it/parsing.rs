//! Bytes, fences, YAML and its repair.

use sinew_skill::{content_hash, split_front_matter};

use crate::support::{codes, file, openclaw};

/// Reads a file with these fields and compares the description and what was said about it.
#[track_caller]
fn check(fields: &str, description: &str, said: &str) {
    check_file(&file(fields), description, said);
}

#[track_caller]
fn check_file(text: &str, description: &str, said: &str) {
    let outcome = openclaw(text.as_bytes());
    let found = outcome.skill.as_ref().map_or("(not loaded)", |skill| skill.description.as_str());
    assert_eq!((found, codes(&outcome.reasons).as_str()), (description, said), "{text}");
}

#[test]
fn an_unquoted_colon_is_repaired() {
    check(
        "name: mail\ndescription: Send mail via the mail tool: list, read",
        "Send mail via the mail tool: list, read",
        "frontmatter-repaired@3",
    );
    check("name: a\ndescription: ends with:", "ends with:", "frontmatter-repaired@3");
    check("name: a\ndescription: d\nusage: <x: y>", "d", "frontmatter-repaired@4");
    check("name: a\ndescription: d\n  e: f", "d e: f", "frontmatter-repaired@3");
}

#[test]
fn the_repaired_field_is_named() {
    let text = file("name: mail\ndescription: Send mail: list");
    let outcome = openclaw(text.as_bytes());
    assert!(outcome.reasons[0].detail.contains("`description`"), "{}", outcome.reasons[0]);
    let skill = outcome.skill.expect("loads");
    assert_eq!((skill.repairs[0].key.as_str(), skill.repairs[0].line), ("description", 3));
}

#[test]
fn reserved_characters_at_the_start_are_repaired() {
    for value in ["*bold*", "&x y", "- x", "[x", "@x y", "`x` y", "%x", "!x y", "> text", "| text"]
    {
        check(&format!("description: {value}"), value, "frontmatter-repaired@2");
    }
    check("description: , comma", ", comma", "frontmatter-repaired@2");
    check("description: {{greeting}} you", "{{greeting}} you", "frontmatter-repaired@2");
    check("description: {a} {b}", "{a} {b}", "frontmatter-repaired@2");
}

#[test]
fn several_lists_on_one_line_are_text() {
    let text = file("name: a\ndescription: d\nargument-hint: [date] [kind]");
    let skill = openclaw(text.as_bytes()).skill.expect("loads");
    let hint = skill.frontmatter.get("argument-hint").and_then(|value| value.as_str());
    assert_eq!(hint, Some("[date] [kind]"));
}

#[test]
fn text_after_a_closing_quote_keeps_the_whole_value() {
    check(r#"description: "Quick" and easy"#, r#""Quick" and easy"#, "frontmatter-repaired@2");
    check("description: 'it' works", "'it' works", "frontmatter-repaired@2");
    check("description: \"open end", "\"open end", "frontmatter-repaired@2");
}

#[test]
fn a_plain_line_joins_the_description_only() {
    check("description: one\ntwo\nlicense: MIT", "one two", "frontmatter-repaired@2");
    check("description: |\none\ntwo", "one two", "frontmatter-repaired@2");
    check("description: \"one\ntwo\"", "one two", "frontmatter-repaired@2");
    check("license: MIT\nand more\ndescription: d", "(not loaded)", "frontmatter-invalid@3");
}

#[test]
fn a_broken_nested_block_is_not_flattened_into_text() {
    let hooks = "description: d\nhooks:\n  run: \"x\" y\n  - z";
    check(hooks, "(not loaded)", "frontmatter-invalid@4");
}

#[test]
fn trouble_between_fields_is_not_hidden_by_a_repair() {
    check("description: d\n...\nlicense: MIT", "(not loaded)", "frontmatter-invalid@4");
}

#[test]
fn what_cannot_be_repaired_keeps_its_error() {
    check("description: a\ndescription: b", "(not loaded)", "duplicate-key@3");
    check("description: a: b\ndescription: c", "(not loaded)", "frontmatter-invalid@2");
    check("- a\n- b", "(not loaded)", "root-not-map@2");
    check("description: bell \u{7}", "(not loaded)", "frontmatter-invalid@2");
    check("description: d\nx: &a b\ny:\n  - *a", "(not loaded)", "frontmatter-invalid@3");
    check_file("---\ndescription: d\n", "(not loaded)", "frontmatter-unterminated@1");
}

#[test]
fn limits_hold() {
    let deep = format!("description: d\nx: {}{}", "[".repeat(20), "]".repeat(20));
    check(&deep, "(not loaded)", "frontmatter-invalid@3");
    let large = format!("description: d\nx: {}", "y".repeat(64 * 1024));
    check(&large, "(not loaded)", "frontmatter-invalid@2");
}

#[test]
fn fences_are_whole_lines() {
    check("description: a --- b", "a --- b", "");
    check("description: |\n  x\n  ---\n  y", "x\n---\ny", "");
    check_file("--- \t\ndescription: d\n---  \nbody\n", "d", "");
    check_file("----\nlicense: d\n----\n", "(not loaded)", MISSING);
    check_file("---\n---\n", "(not loaded)", "description-missing");
}

const MISSING: &str = "frontmatter-missing@1 description-missing";

#[test]
fn accidents_before_the_fence_are_tolerated_and_prose_is_not() {
    check_file("\n\n---\ndescription: d\n---\n", "d", "frontmatter-repaired@3");
    check_file("<!-- a\nb -->\n---\ndescription: d\n---\n", "d", "frontmatter-repaired@3");
    check_file("```yaml\n---\ndescription: d\n---\n```\n", "d", "frontmatter-repaired@2");
    check_file("Hello\n---\ndescription: d\n---\n", "(not loaded)", MISSING);
    check_file("<!-- a --> Hello\n---\ndescription: d\n---\n", "(not loaded)", MISSING);
    check_file("", "(not loaded)", "frontmatter-missing@1 description-missing");
}

#[test]
fn the_remedy_for_missing_fences_names_the_line() {
    let remedy = |text: &str| openclaw(text.as_bytes()).reasons[0].remedy.clone().expect("one");
    assert!(remedy("Hi\n\n---\nname: a\n---\n").contains("line 3"));
    assert!(remedy("intro\nname: a\ndescription: d\n").contains("line 2"));
}

#[test]
fn core_schema_and_source_text() {
    let text = file("name: 1.0\ndescription: True\nuser-invocable: no");
    let skill = openclaw(text.as_bytes()).skill.expect("loads");
    assert_eq!((skill.name.as_str(), skill.description.as_str()), ("1.0", "True"));
    assert_eq!(skill.frontmatter.flattened()[0].1, "1");
    assert!(!skill.invocation.user_invocable);
}

#[test]
fn names_come_from_the_folder_where_there_is_none() {
    let name = |fields: &str| openclaw(file(fields).as_bytes()).skill.map(|skill| skill.name);
    assert_eq!(name("description: d").as_deref(), Some("folder"));
    assert_eq!(name("name:\ndescription: d").as_deref(), Some("folder"));
    check("name: \" \"\ndescription: d", "(not loaded)", "name-missing@2");
    check("name: [a]\ndescription: d", "(not loaded)", "name-missing@2");
    check("name: a\ndescription: [x, y]", "x; y", "description-joined@3");
    check("name: a\ndescription:", "(not loaded)", "description-missing@3");
}

#[test]
fn bom_and_crlf_change_the_hash_and_nothing_else() {
    let plain = file("name: a\ndescription: b: c\nmetadata: {openclaw: {always: true}}");
    let twin = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    let (one, two) = (openclaw(plain.as_bytes()), openclaw(twin.as_bytes()));
    let json = |outcome: &sinew_skill::ParsedSkillFile<'_>| {
        serde_json::to_string(&outcome.skill).expect("a skill is JSON")
    };
    assert_eq!(json(&one), json(&two));
    assert_eq!((&one.body, &one.reasons), (&two.body, &two.reasons));
    assert_ne!(content_hash(plain.as_bytes()), content_hash(twin.as_bytes()));
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let said = |bytes: &[u8]| codes(&openclaw(bytes).reasons);
    assert_eq!(said(b"---\ndescription: a\0b\n---\n"), "nul-byte@2");
    assert_eq!(said(b"---\ndescription: a\n---\n\xff\n"), "not-utf8@4");
    assert_eq!(said(b"---\r\ndescription: a\xff"), "not-utf8@2");
    assert_eq!(said(b"---\rdescription: a\xff"), "not-utf8@2");
}

#[test]
fn booleans_take_many_spellings() {
    let invocable = |word: &str| {
        let text = file(&format!("description: d\nuser-invocable: {word}"));
        let outcome = openclaw(text.as_bytes());
        (outcome.skill.expect("loads").invocation.user_invocable, codes(&outcome.reasons))
    };
    for word in ["false", "Off", "no", "0", "FALSE", "\"no\""] {
        assert_eq!(invocable(word), (false, String::new()), "{word}");
    }
    for word in ["true", "ON", "yes", "1"] {
        assert_eq!(invocable(word), (true, String::new()), "{word}");
    }
    assert_eq!(invocable("maybe"), (true, "bad-boolean@3".to_owned()));
}

#[test]
fn dispatch_takes_both_spellings_and_says_what_it_cannot_do() {
    let dispatch = |fields: &str| {
        let text = file(&format!("description: d\n{fields}"));
        let outcome = openclaw(text.as_bytes());
        let codes: Vec<&str> = outcome.reasons.iter().map(|reason| reason.code.as_str()).collect();
        let found = outcome.skill.expect("loads").dispatch;
        (found.map(|d| (d.tool, d.arg_mode)), codes.join(" "))
    };
    let raw = || Some(("t".to_owned(), "raw".to_owned()));
    let both = "command-dispatch: tool\ncommand-tool: t";
    assert_eq!(dispatch(both), (raw(), String::new()));
    assert_eq!(dispatch(&format!("{both}\ncommand-arg-mode: RAW")), (raw(), String::new()));
    let odd = "command_dispatch: tool\ncommand-tool: t\ncommand_arg_mode: json";
    assert_eq!(dispatch(odd), (raw(), "dispatch-bad-arg-mode".to_owned()));
    let missing = "dispatch-missing-tool".to_owned();
    assert_eq!(dispatch("command-dispatch: tool"), (None, missing.clone()));
    assert_eq!(dispatch("command-dispatch: tool\ncommand-tool: '  '"), (None, missing));
    let unknown = "dispatch-unknown-kind".to_owned();
    assert_eq!(dispatch("command-dispatch: shell\ncommand-tool: t"), (None, unknown));
    assert_eq!(dispatch("command-tool: t"), (None, String::new()));
}

#[test]
fn fields_without_effect_are_noted() {
    check(
        "description: d\nplatforms: [linux]\nrequires: {bins: [git]}",
        "d",
        "unused-field@3 unused-field@4",
    );
}

#[test]
fn other_line_separators_end_no_line() {
    check("name: a\u{2028}b\ndescription: c\u{85}d: e", "c\u{85}d: e", "frontmatter-repaired@3");
}

#[test]
fn display_names_come_from_the_first_heading() {
    let shown = |body: &str| {
        let text = format!("---\nname: data-tools\ndescription: d\n---\n{body}");
        openclaw(text.as_bytes()).skill.expect("loads").display_name
    };
    assert_eq!(shown("# Working with C#\n"), "Working with C#");
    assert_eq!(shown("```\n# not this\n```\n## nor this\n# This #\n"), "This");
    assert_eq!(shown("text\n"), "Data Tools");
}

#[test]
fn hostile_input_costs_time_in_proportion() {
    let started = std::time::Instant::now();
    let block = 64 * 1024 - 64;
    let fields = |text: String| file(&format!("description: d\n{text}"));
    let hostile = [
        fields("[".repeat(block)),
        fields(format!("x: {}", "{".repeat(block))),
        fields(format!("metadata: {}", "{a:".repeat(block / 3))),
        fields(format!("metadata: {{a:'{}", "\\'".repeat(block / 2 - 8))),
        fields((0..4_000).map(|n| format!("k{n}: a: b\n")).collect()),
        fields(format!("x: [{}]", "&a b,".repeat(block / 5))),
        fields("? ".repeat(block / 2)),
        "---\n".repeat(64_000),
        format!("---\n{}", "--- x\n".repeat(42_000)),
        "<!-- a\n".repeat(36_000),
        "\n".repeat(255_000),
    ];
    for text in &hostile {
        let _ = openclaw(text.as_bytes());
        let _ = split_front_matter(text);
    }
    // A debug build needs about 0.3 s for all of them; anything quadratic needs minutes.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
