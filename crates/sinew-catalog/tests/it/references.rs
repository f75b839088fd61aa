//! Section 15.3: skills that a message names explicitly.

use proptest::prelude::*;
use sinew_catalog::commands::{CommandSkill, SlashCommands};
use sinew_catalog::references::{ExpandedMessage, expand_references};

fn skill(name: &str) -> CommandSkill<'_> {
    CommandSkill { name, own: true, model_visible: true, ..CommandSkill::default() }
}

fn world() -> SlashCommands {
    let mut skills: Vec<CommandSkill<'_>> =
        ["notes", "todo", "Data Tools", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"]
            .into_iter()
            .map(skill)
            .collect();
    skills.push(CommandSkill { model_visible: false, file: "/x/SKILL.md", ..skill("hidden") });
    skills.push(CommandSkill { filtered: true, ..skill("secret") });
    skills.push(CommandSkill { template: Some("Deploy"), ..skill("ops:deploy") });
    SlashCommands::assign(&skills, [])
}

fn expanded(message: &str) -> ExpandedMessage {
    expand_references(message, &world())
}

fn check(message: &str, skills: &[&str]) {
    let expanded = expanded(message);
    assert_eq!(expanded.error, None, "{message}");
    assert_eq!(expanded.skills, skills, "{message}");
    assert_eq!(expanded.body == message, skills.is_empty(), "{message}");
    assert!(expanded.body.ends_with(message), "{message}");
}

fn check_error(message: &str, error: &str) {
    let expanded = expanded(message);
    assert_eq!(expanded.error.as_deref(), Some(error), "{message}");
    assert_eq!(expanded.body, message);
    assert!(expanded.skills.is_empty());
}

#[test]
fn a_dollar_names_a_skill_unless_it_is_escaped_or_a_variable() {
    check(r"please $notes and \$todo and $PATH", &["notes"]);
    check(r"\\$notes", &["notes"]);
    check(r"\\\$notes", &[]);
    check("$notes: buy milk, $todo:: later", &["notes", "todo"]);
    check("$todo $notes $todo", &["todo", "notes"]);
    check("$unknown costs $5", &[]);
    check("$Notes $data-tools", &["notes", "data_tools"]);
    check("$", &[]);
}

#[test]
fn slash_messages_count_as_a_reference_to_their_own_skill_only() {
    check("/skill notes with $todo", &["notes"]);
    check("/notes do it", &["notes"]);
    check("/unknown $notes", &[]);
    check("/skill ops:deploy now", &[]);
}

#[test]
fn the_model_is_told_what_it_cannot_see() {
    let body = expanded("use $hidden and $notes").body;
    assert!(body.contains("\n- hidden (at /x/SKILL.md)\n- notes\n"), "{body}");
    assert_eq!(expanded("$Data-Tools").skill_names, ["Data Tools"]);
}

#[test]
fn limits_leave_the_message_untouched() {
    check("$s1 $s2 $s3 $s4 $s5 $s6 $s7 $s8", &["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]);
    check_error(
        "$s1 $s2 $s3 $s4 $s5 $s6 $s7 $s8 $s9",
        "the message names more than 8 skills; name fewer of them",
    );
    check_error("$secret", "the skill secret is not available for this agent");
    check_error("/secret now", "the skill secret is not available for this agent");
}

#[test]
fn long_paths_are_refused() {
    let path = |length: usize| format!("/{}", "p".repeat(length));
    let (long, middle) = (path(600), path(480));
    let hidden = |name, file| CommandSkill { model_visible: false, file, ..skill(name) };
    let skills = [hidden("long", &long), hidden("one", &middle), hidden("two", &middle)];
    let commands = SlashCommands::assign(&skills, []);
    let error = |message| expand_references(message, &commands).error.expect("too long");
    assert_eq!(error("$long"), "the reference to long exceeds 512 characters");
    assert_eq!(
        error("$one $two"),
        "the references take more than 1000 characters; name fewer skills"
    );
    assert_eq!(expand_references("$one", &commands).error, None);
}

proptest! {
    #[test]
    fn no_message_panics(message in r"[\$/\\a-zA-Z:_ é🙂\n-]{0,40}|\PC{0,40}") {
        let expanded = expanded(&message);
        prop_assert!(expanded.body.ends_with(&message));
        prop_assert!(expanded.error.is_none() || expanded.body == message);
    }
}
