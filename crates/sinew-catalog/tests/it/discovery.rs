//! Walking a root, reading its files, and staying inside it.

use std::fmt::Write as _;

use insta::assert_snapshot;
use sinew_catalog::EntryState;
use sinew_testkit::TestMachine;

fn extra(machine: TestMachine) -> TestMachine {
    machine.config("{skills: {load: {extraDirs: ['$ROOT/r']}}}")
}

#[test]
fn a_root_that_only_holds_skills_is_one_step_further_down() {
    let machine = extra(TestMachine::new()).skill("r/skills/a", "a");
    assert_snapshot!(machine.catalog_table(), @"ready a [openclaw-extra]");
    let machine = extra(TestMachine::new()).skill("r/skills/a", "a").skill("r/b", "b");
    assert_snapshot!(machine.catalog_table(), @r"
    ready a [openclaw-extra]
    ready b [openclaw-extra]
    ");
}

#[test]
fn a_root_with_its_own_file_is_one_skill_and_its_nested_ones_if_that_is_broken() {
    let machine = extra(TestMachine::new()).skill("r", "whole").skill("r/skills/a", "a");
    assert_snapshot!(machine.catalog_table(), @"ready whole [openclaw-extra]");
    let machine =
        extra(TestMachine::new()).file("r/SKILL.md", "no front matter").skill("r/skills/a", "a");
    assert_snapshot!(machine.catalog_table(), @r"
    ready a [openclaw-extra]
    broken r [openclaw-extra]
      frontmatter-missing: the file does not start with `---`
      description-missing: there is no `description`
    ");
}

#[test]
fn nothing_below_a_skill_is_a_skill() {
    let machine = TestMachine::new().skill("work/skills/a", "a").skill("work/skills/a/b", "b");
    assert_snapshot!(machine.catalog_table(), @"ready a [openclaw-workspace]");
}

#[test]
fn hidden_folders_and_node_modules_are_passed_over() {
    let machine =
        TestMachine::new().skill("work/skills/.x/a", "a").skill("work/skills/node_modules/b", "b");
    assert_snapshot!(machine.catalog_table(), @"");
}

#[test]
fn depth_is_limited_and_what_lies_just_below_is_reported() {
    let machine = TestMachine::new()
        .skill("work/skills/1/2/3/4/5/six", "six")
        .skill("work/skills/1/2/3/4/5/6/seven", "seven");
    assert_snapshot!(machine.catalog_table(), @r"
    ready six [openclaw-workspace]
    ! depth-capped: the skill is more than 6 folders deep
    ");
    let machine = extra(TestMachine::new()).skill("r/1/two", "two").skill("r/1/2/three", "three");
    assert_snapshot!(machine.catalog_table(), @r"
    ready two [openclaw-extra]
    ! depth-capped: the skill is more than 2 folders deep
    ");
}

#[test]
fn openclaw_caps_apply_in_order_and_are_reported_with_the_key_to_raise() {
    let mut machine = TestMachine::new().profile("openclaw");
    for number in 0..301 {
        machine = machine.skill(&format!("work/skills/s{number:03}"), &format!("s{number:03}"));
    }
    let catalog = machine.catalog();
    assert_eq!(catalog.entries.len(), 200);
    assert_eq!(catalog.entries[199].name, "s199");
    let capped: Vec<String> = catalog
        .issues
        .iter()
        .filter(|issue| issue.code.as_str().ends_with("capped"))
        .map(|issue| {
            machine.without_root(&format!("{issue} / {}", issue.remedy.as_deref().unwrap_or("")))
        })
        .collect();
    assert_snapshot!(capped.join("\n"), @r"
    candidates-capped: 1 left out beyond 300, the first is $ROOT/work/skills/s300 / raise skills.limits.maxCandidatesPerRoot, now 300
    source-capped: 100 left out beyond 200, the first is $ROOT/work/skills/s200 / raise skills.limits.maxSkillsLoadedPerSource, now 200
    ");
}

#[test]
fn three_broken_skills_among_a_thousand_are_three_records() {
    let mut machine = TestMachine::new();
    for number in 0..1_000 {
        machine = machine.skill(&format!("work/skills/s{number}"), &format!("s{number}"));
    }
    machine = machine
        .file("work/skills/bad1/SKILL.md", "---\nname: bad1\n")
        .file("work/skills/bad2/SKILL.md", b"---\nname: a\xff\n---\n")
        .file("work/skills/bad3/SKILL.md", "---\nname: a\nname: b\ndescription: d\n---\n");
    let catalog = machine.catalog();
    let ready = catalog.entries.iter().filter(|entry| entry.state == EntryState::Ready).count();
    assert_eq!(ready, 1_000);
    let mut broken = String::new();
    for entry in catalog.entries.iter().filter(|entry| entry.state == EntryState::Broken) {
        let file = machine.without_root(&entry.file_path.to_string_lossy());
        let _ = writeln!(broken, "{file} {}", entry.reasons[0].code);
    }
    assert_snapshot!(broken, @r"
    $ROOT/work/skills/bad1/SKILL.md frontmatter-unterminated
    $ROOT/work/skills/bad2/SKILL.md not-utf8
    $ROOT/work/skills/bad3/SKILL.md duplicate-key
    ");
}

#[test]
fn a_file_over_the_limit_is_refused_and_one_at_the_limit_loads() {
    let sized = |bytes: usize| {
        let head = "---\nname: big\ndescription: d\n---\n";
        format!("{head}{}", "x".repeat(bytes - head.len()))
    };
    let machine = TestMachine::new().file("work/skills/big/SKILL.md", sized(256_000));
    assert_snapshot!(machine.catalog_table(), @"ready big [openclaw-workspace]");
    let machine = TestMachine::new().file("work/skills/big/SKILL.md", sized(256_001));
    assert_snapshot!(machine.catalog_table(), @r"
    broken big [openclaw-workspace]
      file-too-large: the file has at least 256001 bytes, more than 256000
    ");
}

#[test]
fn a_file_in_another_case_is_reported_and_openpocket_reads_it() {
    let text = "---\nname: a\ndescription: d\n---\n";
    let machine = TestMachine::new().file("work/skills/a/skill.md", text);
    assert_snapshot!(machine.catalog_table(), @"! filename-case: skill.md is not named SKILL.md");
    let machine = TestMachine::new().profile("openpocket").file("work/skills/a/skill.md", text);
    assert_snapshot!(machine.catalog_table(), @"ready a [workspace]");
}

#[test]
fn a_nested_folder_that_is_itself_a_skill_is_found() {
    let machine = extra(TestMachine::new()).skill("r/skills", "inner");
    assert_snapshot!(machine.catalog_table(), @"ready inner [openclaw-extra]");
}

#[test]
fn drafts_below_auto_wait_for_review_in_every_profile() {
    let machine =
        TestMachine::new().skill("work/skills/auto/2026-x", "x").skill("work/skills/b", "b");
    assert_snapshot!(machine.catalog_table(), @r"
    ready b [openclaw-workspace]
    blocked x [openclaw-workspace]
      draft-unreviewed: a program wrote it, and it is not reviewed
    ");
    let skill_named_auto = TestMachine::new().skill("work/skills/auto", "auto");
    assert_snapshot!(skill_named_auto.catalog_table(), @"ready auto [openclaw-workspace]");
}

#[test]
fn a_heap_of_files_does_not_push_out_the_skills_among_them() {
    let mut machine = TestMachine::new()
        .config("{skills: {limits: {maxCandidatesPerRoot: 10}}}")
        .skill("work/skills/zzz", "zzz");
    for number in 0..1_100 {
        machine = machine.file(&format!("work/skills/{number}.txt"), "");
    }
    assert_snapshot!(machine.catalog_table(), @r"
    ready zzz [openclaw-workspace]
    ! scan-truncated: 101 entries of $ROOT/work/skills were not examined
    ");
}

#[test]
fn a_limit_as_large_as_numbers_get_is_a_limit() {
    let machine = TestMachine::new()
        .config("{skills: {limits: {maxSkillFileBytes: 9000000000000000, maxCandidatesPerRoot: 9000000000000000}}}")
        .skill("work/skills/a", "a");
    assert_snapshot!(machine.catalog_table(), @"ready a [openclaw-workspace]");
}

#[test]
fn a_thousand_look_alikes_are_not_named_a_million_times() {
    let mut machine = TestMachine::new();
    for number in 0..60 {
        machine =
            machine.skill(&format!("work/skills/s{number}"), &format!("x{}", "!".repeat(number)));
    }
    let catalog = machine.catalog();
    let longest =
        catalog.entries.iter().flat_map(|entry| &entry.reasons).map(|r| r.detail.len()).max();
    assert!(longest.expect("they look alike") < 300);
}

#[cfg(unix)]
mod unix {
    use super::*;

    #[test]
    fn a_library_of_links_needs_no_handle_for_each_skill() {
        let mut machine = TestMachine::new();
        for number in 0..300 {
            let name = format!("s{number}");
            machine = machine.skill(&format!("store/{name}"), &name);
            machine = machine.link(&format!("home/.sinew/skills/{name}"), &format!("store/{name}"));
        }
        let catalog = machine.catalog();
        assert_eq!(catalog.entries.len(), 300);
        #[cfg(target_os = "linux")]
        assert!(std::fs::read_dir("/proc/self/fd").expect("descriptors").count() < 200);
    }

    #[test]
    fn links_that_lead_nowhere_or_twice_are_records() {
        let machine = TestMachine::new()
            .skill("store/a", "a")
            .link("home/.sinew/skills/one", "store/a")
            .link("home/.sinew/skills/two", "store/a")
            .link("home/.sinew/skills/gone", "nowhere");
        assert_snapshot!(machine.catalog_table(), @r"
        ready a [openclaw-managed]
        ! unreadable: the link is broken: No such file or directory (os error 2)
        ! shadowed: another link points to the same folder
        ");
    }

    #[test]
    fn an_alias_inside_a_root_does_not_compete_with_what_it_names() {
        let machine = TestMachine::new()
            .skill("work/skills/x", "x")
            .link("work/skills/zalias", "work/skills/x");
        let catalog = machine.catalog();
        assert_eq!(catalog.entries.len(), 1);
        assert!(catalog.entries[0].file_path.ends_with("skills/x/SKILL.md"));
        let hidden = TestMachine::new()
            .skill("work/skills/.store/y", "y")
            .link("work/skills/y", "work/skills/.store/y");
        assert_snapshot!(hidden.catalog_table(), @"ready y [openclaw-workspace]");
    }

    #[test]
    fn a_plugins_skill_file_is_never_a_link() {
        let machine = TestMachine::new()
            .config("{plugins: {load: {paths: ['$ROOT/p']}}}")
            .file("p/openclaw.plugin.json", "{id: 'p', skills: ['skills', 'missing']}")
            .file("p/skills/y/real.md", "---\nname: y\ndescription: d\n---\n")
            .link("p/skills/y/SKILL.md", "p/skills/y/real.md")
            .skill("p/skills/z", "z");
        assert_snapshot!(machine.catalog_table(), @r"
        broken y [openclaw-extra]
          symlink-escape: SKILL.md is a link to $ROOT/p/skills/y/real.md
        ready z [openclaw-extra]
        ! plugin-skipped: missing: No such file or directory (os error 2)
        ");
    }

    #[test]
    fn in_the_home_folder_one_folder_is_one_root() {
        let machine =
            TestMachine::new().skill("store/a", "a").link("home/.agents/skills/a", "store/a");
        let catalog = machine.request(|request| {
            let places = sinew_catalog::CallerFolders {
                workspace: machine.path("home"),
                ..request.places.clone()
            };
            sinew_catalog::CatalogBuilder::default()
                .build(&sinew_catalog::CatalogRequest { places, ..request.clone() })
        });
        let sources: Vec<&str> =
            catalog.entries.iter().map(|entry| entry.source.as_str()).collect();
        assert_eq!(sources, ["agents-skills-personal"]);
    }

    #[test]
    fn links_out_of_a_workspace_need_to_be_listed_and_managed_ones_do_not() {
        let linked = || TestMachine::new().skill("out/x", "x").link("work/skills/x", "out/x");
        assert_snapshot!(linked().catalog_table(), @"! symlink-escape: the link points to $ROOT/out/x");
        let listed = linked().config("{skills: {load: {allowSymlinkTargets: ['$ROOT/out']}}}");
        assert_snapshot!(listed.catalog_table(), @"ready x [openclaw-workspace]");
        let managed = TestMachine::new().skill("out/x", "x").link("home/.sinew/skills/x", "out/x");
        assert_snapshot!(managed.catalog_table(), @"ready x [openclaw-managed]");
        let bundled = TestMachine::new()
            .skill("out/x", "x")
            .bundled("b")
            .skill("b/y", "y")
            .link("b/x", "out/x");
        assert_snapshot!(bundled.catalog_table(), @r"
        ready y [openclaw-bundled]
        ! bundled-root-escape: the link points to $ROOT/out/x
        ");
    }

    #[test]
    fn a_skill_file_that_is_a_link_must_stay_in_its_folder() {
        let outside = TestMachine::new()
            .file("secret.md", "---\nname: s\ndescription: d\n---\n")
            .link("home/.sinew/skills/x/SKILL.md", "secret.md");
        assert_snapshot!(outside.catalog_table(), @r"
        broken x [openclaw-managed]
          symlink-escape: SKILL.md is a link to $ROOT/secret.md
        ");
        let inside = TestMachine::new()
            .file("work/skills/x/real.md", "---\nname: x\ndescription: d\n---\n")
            .link("work/skills/x/SKILL.md", "work/skills/x/real.md");
        assert_snapshot!(inside.catalog_table(), @"ready x [openclaw-workspace]");
    }

    #[test]
    fn a_hard_link_is_refused_but_in_bundled_skills() {
        let linked = |folder: &str| {
            let machine = TestMachine::new()
                .bundled("b")
                .skill("out", "x")
                .file(&format!("{folder}/x/note"), "");
            std::fs::hard_link(
                machine.path("out/SKILL.md"),
                machine.path(&format!("{folder}/x/SKILL.md")),
            )
            .expect("a hard link");
            machine
        };
        assert_snapshot!(linked("work/skills").catalog_table(), @r"
        broken x [openclaw-workspace]
          hard-link: the file has 2 hard links; it can be changed from outside
        ");
        assert_snapshot!(linked("b").catalog_table(), @"ready x [openclaw-bundled]");
    }

    #[test]
    fn a_pipe_named_skill_md_is_refused_without_waiting() {
        let machine = TestMachine::new().file("work/skills/p/note", "");
        let made = std::process::Command::new("mkfifo")
            .arg(machine.path("work/skills/p/SKILL.md"))
            .status();
        assert!(made.expect("mkfifo").success());
        assert_snapshot!(machine.catalog_table(), @r"
        broken p [openclaw-workspace]
          not-regular-file: SKILL.md is a pipe
        ");
    }

    #[test]
    fn a_knot_of_links_ends() {
        let machine = TestMachine::new()
            .skill("work/skills/a", "a")
            .link("work/skills/loop", "work/skills")
            .link("work/skills/deep/loop", "work/skills/deep");
        assert_snapshot!(machine.catalog_table(), @"ready a [openclaw-workspace]");
    }

    #[test]
    fn an_unreadable_file_or_folder_is_a_record_and_the_rest_loads() {
        // Root reads everything, so the refusal cannot be seen there.
        if std::process::Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout == b"0\n")
        {
            return;
        }
        let machine = TestMachine::new().skill("work/skills/a", "a").skill("work/skills/b", "b");
        machine.chmod("work/skills/b/SKILL.md", 0o000);
        let shown = machine.catalog_table();
        assert!(shown.contains("ready a") && shown.contains("broken b"), "{shown}");
    }
}
