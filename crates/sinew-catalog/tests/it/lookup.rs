//! Finding a skill by what the user typed.

use sinew_testkit::TestMachine;

fn check(wanted: &str, expected: &str) {
    let machine = TestMachine::new()
        .skill("work/skills/a", "PDF Tools")
        .skill("work/skills/b", "notes")
        .skill("work/skills/c", "Notes")
        .workspace_skill("keyed", "metadata: {openclaw: {skillKey: the-key}}");
    let catalog = machine.catalog();
    let found = match catalog.lookup(wanted) {
        Ok(entry) => entry.name.clone(),
        Err(error) => machine.without_root(&error.to_string()),
    };
    assert_eq!(found, expected);
}

#[test]
fn names_keys_case_and_separators_are_tried_in_turn() {
    check("notes", "notes");
    check("Notes", "Notes");
    check("the-key", "keyed");
    check("THE-KEY", "keyed");
    check("pdf_tools", "PDF Tools");
    check("nothing", "there is no skill `nothing`");
    check("☔", "there is no skill `☔`");
}

#[test]
fn several_answers_are_named_instead_of_guessed() {
    check(
        "NOTES",
        "`NOTES` could be notes ($ROOT/work/skills/b/SKILL.md) or Notes ($ROOT/work/skills/c/SKILL.md)",
    );
}

#[test]
fn a_broken_copy_does_not_hide_the_good_one() {
    let machine = TestMachine::new()
        .skill("home/.sinew/skills/dup", "dup")
        .file("work/skills/dup/SKILL.md", "torn");
    let catalog = machine.catalog();
    assert!(catalog.lookup("dup").expect("the good one").skill.is_some());
    let by_path = machine.path("work/skills/dup/SKILL.md");
    assert!(catalog.lookup(&by_path.to_string_lossy()).expect("the broken one").skill.is_none());
}
