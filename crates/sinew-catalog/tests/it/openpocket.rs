//! OpenPocket's profile.

use insta::assert_snapshot;
use sinew_testkit::TestMachine;

fn pocket() -> TestMachine {
    TestMachine::new().profile("openpocket")
}

#[test]
fn a_single_file_is_a_skill_and_takes_its_fields_from_its_text() {
    let machine = pocket()
        .file("work/skills/open-mail.md", format!("# Open Mail\n\n{}\n", "x".repeat(200)))
        .file("work/skills/README.md", "# Not a skill\n");
    let catalog = machine.catalog();
    assert_eq!(catalog.entries.len(), 1);
    let entry = &catalog.entries[0];
    assert_eq!((entry.id.as_str(), entry.name.as_str()), ("open-mail", "Open Mail"));
    assert_eq!(entry.description, "x".repeat(180));
}

#[test]
fn the_first_source_wins_by_id_unless_the_user_comes_first() {
    let three = || {
        pocket()
            .bundled("b")
            .skill("b/a", "from bundled")
            .skill("home/.openpocket/skills/a", "from local")
            .skill("work/skills/a", "from workspace")
    };
    let winner = |machine: &TestMachine| {
        let catalog = machine.catalog();
        let entry = catalog.unshadowed().next().expect("one of three");
        (catalog.unshadowed().count(), entry.source.clone())
    };
    assert_eq!(winner(&three()), (1, "bundled".to_owned()));
    let user_first = three().config("{skills: {profile: {openpocket: {userFirst: true}}}}");
    assert_eq!(winner(&user_first), (1, "workspace".to_owned()));
}

#[test]
fn strict_mode_takes_only_what_passes_and_says_why_of_the_rest() {
    let machine = pocket()
        .config("{agent: {skillsSpecMode: ' STRICT '}}")
        .file("work/skills/a.md", "# A\n")
        .skill("work/skills/ok", "ok")
        .skill("work/skills/bad", "other");
    assert_snapshot!(machine.catalog_table(), @r"
    broken bad [workspace]
      strict-invalid: NAME_PATH_MISMATCH
    ready ok [workspace]
    ");
}

#[test]
fn support_files_are_no_skills() {
    let machine =
        pocket().skill("work/skills/foo", "foo").file("work/skills/foo/references/x.md", "# X\n");
    assert_snapshot!(machine.catalog_table(), @"ready foo [workspace]");
}

#[test]
fn gates_are_read_from_a_top_level_block_too_and_lists_split_on_blanks() {
    let machine = pocket().file(
        "work/skills/a/SKILL.md",
        "---\nName: a\nDescription: d\nopenclaw: {requires: {bins: 'one two'}}\n---\n",
    );
    assert_snapshot!(machine.catalog_table(), @r"
    needs-setup a [workspace]
      missing-bin: one is not installed
      missing-bin: two is not installed
    ");
}

#[test]
fn a_generated_draft_waits_for_review() {
    let draft =
        || pocket().file("work/skills/auto/20260101-open-mail.md", "# Open the mail\n\n- tap\n");
    assert_snapshot!(draft().catalog_table(), @r"
    blocked Open the mail [workspace]
      frontmatter-missing: the file does not start with `---`
      draft-unreviewed: a program wrote it, and it is not reviewed
    ");
    let catalog = draft().catalog();
    assert_eq!(catalog.entries[0].description, "Open the mail");
    let reviewed = draft().config("{skills: {entries: {'Open the mail': {enabled: true}}}}");
    assert_snapshot!(reviewed.catalog_table(), @r"
    ready Open the mail [workspace]
      frontmatter-missing: the file does not start with `---`
    ");
}
