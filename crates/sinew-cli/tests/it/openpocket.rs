//! OpenPocket's own commands.

use insta::assert_snapshot;
use sinew_testkit::TestMachine;

use crate::support::sinew;

fn pocket() -> TestMachine {
    TestMachine::new()
        .skill("bundled/one", "one")
        .skill("bundled/two", "two")
        .file("bundled/two/scripts/a.sh", "#!/bin/sh\n")
}

#[test]
fn load_copies_once_and_leaves_edited_copies_alone() {
    let machine = pocket();
    assert_snapshot!(sinew(&machine, &["skills", "load"]));
    assert_snapshot!(sinew(&machine, &["skills", "load", "--all"]));
    assert!(machine.path("work/skills/two/scripts/a.sh").is_file());
    machine.write("work/skills/one/SKILL.md", "---\nname: one\ndescription: Mine now\n---\n");
    assert_snapshot!(sinew(&machine, &["skills", "load", "--all"]));
    let kept = std::fs::read_to_string(machine.path("work/skills/one/SKILL.md")).expect("one");
    assert!(kept.contains("Mine now"));
}

#[test]
fn list_shows_the_workspace_unless_asked_for_all() {
    let machine = pocket().file("work/skills/open-mail.md", "# Open Mail\n\nOpens the mail.\n");
    assert_snapshot!(sinew(&machine, &["skills", "list"]));
    assert_snapshot!(sinew(&machine, &["skills", "list", "--all"]));
    assert_snapshot!(sinew(&pocket(), &["skills", "list"]));
}

#[test]
fn validate_strict_judges_skills_and_not_their_support_files() {
    let machine = TestMachine::new()
        .skill("work/skills/foo", "foo")
        .file("work/skills/foo/references/x.md", "# X\n")
        .skill("work/skills/Bad", "other");
    assert_snapshot!(sinew(&machine, &["skills", "validate"]));
    assert_snapshot!(sinew(&machine, &["skills", "validate", "--strict"]));
}

#[test]
fn validate_strict_refuses_a_bare_file() {
    let machine = TestMachine::new().file("work/skills/foo.md", "# Foo\n\nDoes foo.\n");
    let shown = sinew(&machine, &["skills", "validate", "--strict"]);
    assert!(shown.contains("Validation summary: valid=0 invalid=1 total=1"), "{shown}");
    assert!(shown.ends_with("exit 1"), "{shown}");
}

#[test]
fn migrate_turns_files_into_folders() {
    let machine = TestMachine::new()
        .file("work/skills/open-mail.md", "# Open Mail\n\nOpens: \"the\" mail.\n");
    assert_snapshot!(sinew(&machine, &["skills", "migrate"]));
    let text =
        std::fs::read_to_string(machine.path("work/skills/open-mail/SKILL.md")).expect("a skill");
    assert!(
        text.starts_with("---\nname: open-mail\ndescription: \"Opens: \\\"the\\\" mail.\"\n---\n"),
        "{text}"
    );
    assert_snapshot!(sinew(&machine, &["skills", "migrate"]));
    assert!(sinew(&machine, &["skills", "list"]).contains("open-mail/SKILL.md"));
}
