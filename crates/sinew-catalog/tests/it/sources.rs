//! Sources, tiers and merging.

use insta::assert_snapshot;
use proptest::prelude::*;
use sinew_catalog::EntryState;
use sinew_testkit::TestMachine;

#[test]
fn a_workspace_skill_wins_over_all_other_tiers() {
    let machine = TestMachine::new()
        .config("{skills: {load: {extraDirs: ['$ROOT/extra/skills']}}}")
        .bundled("bundled")
        .skill("extra/skills/a", "a")
        .skill("bundled/a", "a")
        .skill("home/.sinew/skills/a", "a")
        .skill("home/.agents/skills/a", "a")
        .skill("work/.agents/skills/a", "a")
        .skill("work/skills/a", "a");
    let catalog = machine.catalog();
    let winner = catalog.get("a").expect("one of the six");
    assert_eq!(winner.source, "openclaw-workspace");
    let copies: Vec<&str> =
        catalog.shadowed_by(winner).iter().map(|copy| copy.source.as_str()).collect();
    assert_eq!(
        copies,
        [
            "agents-skills-project",
            "agents-skills-personal",
            "openclaw-managed",
            "openclaw-extra",
            "openclaw-bundled"
        ]
    );
}

/// OpenClaw ranks what it ships above folders that were added; sinew carries skills for those who have
/// none, so they give way to any other.
#[test]
fn a_carried_skill_gives_way_to_every_other_but_where_a_host_says_otherwise() {
    let folders = [
        "home/.openclaw/skills",
        "home/.openpocket/skills",
        "home/.claude/skills",
        "work/.claude/skills",
        "home/.codex/skills",
        "work/.codex/skills",
        "home/.cursor/skills",
        "work/.cursor/skills",
        "home/.gemini/skills",
        "work/.gemini/skills",
        "home/.copilot/skills",
        "work/.github/skills",
        "work/.goose/skills",
        "home/.config/opencode/skills",
        "work/.opencode/skills",
        "extra/skills",
    ];
    for folder in folders {
        let machine = || {
            TestMachine::new()
                .config("{skills: {load: {extraDirs: ['$ROOT/extra/skills']}}}")
                .bundled("bundled")
                .skill("bundled/pdf", "pdf")
                .skill(&format!("{folder}/pdf"), "pdf")
        };
        let catalog = machine().catalog();
        let winner = catalog.get("pdf").expect("one of the two");
        assert!(!winner.bundled && winner.state == EntryState::Ready, "{folder}: {winner:?}");
        let copies = catalog.shadowed_by(winner);
        assert!(copies.len() == 1 && copies[0].bundled, "{folder}: {copies:?}");
    }
    let openclaw = TestMachine::new()
        .profile("openclaw")
        .config("{skills: {load: {extraDirs: ['$ROOT/extra/skills']}}}")
        .bundled("bundled")
        .skill("bundled/pdf", "pdf")
        .skill("extra/skills/pdf", "pdf");
    let catalog = openclaw.catalog();
    assert!(catalog.get("pdf").is_some_and(|winner| winner.bundled));
}

#[test]
fn equal_copies_are_shadowed_quietly_and_different_ones_with_a_warning() {
    let machine = TestMachine::new()
        .skill("home/.agents/skills/same", "same")
        .skill("work/skills/same", "same")
        .skill("home/.agents/skills/other", "other")
        .file("work/skills/other/SKILL.md", "---\nname: other\ndescription: Not the same\n---\n");
    let catalog = machine.catalog();
    let severity = |name: &str| {
        let copy =
            catalog.entries.iter().find(|e| e.name == name && e.state == EntryState::Shadowed);
        copy.expect("a copy").reasons[0].severity.to_string()
    };
    assert_eq!(severity("same"), "info");
    assert_eq!(severity("other"), "warn");
}

#[test]
fn names_that_only_look_alike_stay_apart_and_are_warned_about() {
    let machine =
        TestMachine::new().skill("work/skills/a", "PDF Tools").skill("work/skills/b", "pdf-tools");
    assert_snapshot!(machine.catalog_table(), @r"
    ready PDF Tools [openclaw-workspace]
      confusable-name: its name looks like pdf-tools
    ready pdf-tools [openclaw-workspace]
      confusable-name: its name looks like PDF Tools
    ");
}

#[test]
fn other_agents_folders_are_read_unless_switched_off() {
    let machine =
        TestMachine::new().skill("home/.claude/skills/c", "c").skill("work/.cursor/skills/d", "d");
    assert_snapshot!(machine.catalog_table(), @r"
    ready c [claude-code-personal]
    ready d [cursor-project]
    ");
    let machine = TestMachine::new()
        .config("{skills: {load: {agents: false}}}")
        .skill("home/.claude/skills/c", "c");
    assert_snapshot!(machine.catalog_table(), @"");
}

#[test]
fn each_agents_profile_reads_its_own_folders() {
    let machine = |profile: &str| {
        TestMachine::new()
            .profile(profile)
            .skill("home/.claude/skills/c", "c")
            .skill("home/.codex/skills/x", "x")
            .skill("work/.gemini/skills/g", "g")
            .skill("work/.opencode/skills/o", "o")
            .skill("work/.goose/skills/s", "s")
            .skill("work/.cursor/skills/u", "u")
            .skill("home/.agents/skills/p", "p")
            .skill("work/skills/w", "w")
    };
    let names = |profile: &str| -> String {
        let catalog = machine(profile).catalog();
        catalog.entries.iter().map(|entry| entry.name.as_str()).collect()
    };
    assert_eq!(names("sinew"), "cgopsuwx");
    assert_eq!(names("openclaw"), "pw");
    assert_eq!(names("openpocket"), "w");
    assert_eq!(names("claude-code"), "c");
    assert_eq!(names("codex"), "px");
    assert_eq!(names("cursor"), "cpux");
    assert_eq!(names("goose"), "cps");
    // Gemini CLI does not trust the workspace.
    assert_eq!(names("gemini"), "p");
    assert_eq!(names("opencode"), "cop");
}

/// goose has folders of its own among its settings, and the user's folder wins over those of others.
#[test]
fn gooses_own_folders_are_read_in_its_order() {
    let mut machine = TestMachine::new().profile("goose");
    for (folder, name) in [
        ("home/.config/agents/skills", "e"),
        ("home/.claude/skills", "d"),
        ("home/.config/goose/skills", "c"),
        ("home/.agents/skills", "b"),
        ("work/.claude/skills", "a"),
    ] {
        let said =
            |name: &str, text: &str| format!("---\nname: {name}\ndescription: {text}\n---\n");
        machine = machine
            .file(&format!("{folder}/{name}/SKILL.md"), said(name, name))
            .file(&format!("{folder}/dup/SKILL.md"), said("dup", folder));
    }
    let catalog = machine.catalog();
    let names: Vec<&str> = catalog.unshadowed().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "dup", "e"]);
    assert_eq!(catalog.get("dup").expect("one of them").description, "work/.claude/skills");
}

#[test]
fn the_directory_profile_reads_one_folder() {
    let machine =
        TestMachine::new().profile("directory").skill("work/a", "a").skill("work/deep/b", "b");
    assert_snapshot!(machine.catalog_table(), @r"
    ready a [directory]
    ready b [directory]
    ");
}

#[test]
fn personal_skills_are_left_out_when_the_state_folder_was_moved() {
    let moved = || {
        TestMachine::new()
            .var("OPENCLAW_STATE_DIR", "/elsewhere")
            .skill("home/.agents/skills/p", "p")
    };
    assert_snapshot!(moved().catalog_table(), @"");
    let forced = moved().config("{skills: {load: {personal: true}}}");
    assert_snapshot!(forced.catalog_table(), @"ready p [agents-skills-personal]");
}

#[test]
fn plugin_skills_are_the_lowest_tier_and_the_first_plugin_wins() {
    let plugin = |machine: TestMachine, id: &str, skills: &str| {
        let manifest = format!("{{id: '{id}', skills: [{skills}]}}");
        machine.file(&format!("plugins/{id}/openclaw.plugin.json"), manifest)
    };
    let paths = "{load: {paths: ['$ROOT/plugins/one', '$ROOT/plugins/two', '$ROOT/plugins/bad', '$ROOT/plugins/off']}, entries: {off: {enabled: false}}}";
    let mut machine = TestMachine::new().config(&format!("{{plugins: {paths}}}"));
    machine = plugin(machine, "one", "'skills'").skill("plugins/one/skills/a", "a");
    machine = plugin(machine, "two", "'skills'")
        .skill("plugins/two/skills/a", "a")
        .skill("plugins/two/skills/b", "b");
    machine = plugin(machine, "bad", "'../one/skills'");
    machine = plugin(machine, "off", "'skills'").skill("plugins/off/skills/z", "z");
    assert_snapshot!(machine.catalog_table(), @r"
    ready a [openclaw-extra]
    shadowed a [openclaw-extra]
      shadowed: a from openclaw-extra is used instead: $ROOT/plugins/one/skills/a/SKILL.md
    ready b [openclaw-extra]
    ! path-escape: the plugin bad names ../one/skills, outside its folder
    ! plugin-skipped: the plugin off is switched off
    ");
}

#[test]
fn a_plugins_plain_commands_join_the_namespace() {
    let machine = TestMachine::new()
        .config("{plugins: {load: {paths: ['$ROOT/p']}}}")
        .file("p/openclaw.plugin.json", "{id: 'p'}")
        .file("p/commands/deploy.md", "---\ndescription: Ships it\n---\nShip $ARGUMENTS now.\n")
        .file("p/commands/git/tidy.md", "Tidy the history.\n");
    let catalog = machine.catalog();
    let shown: Vec<String> = catalog
        .commands
        .specs()
        .iter()
        .map(|spec| {
            format!(
                "/{} {} -> {}",
                spec.name,
                spec.description,
                spec.template.as_deref().unwrap_or("").trim()
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "/deploy Ships it -> Ship $ARGUMENTS now.",
            "/git_tidy Tidy the history. -> Tidy the history.",
        ]
    );
}

proptest! {
    /// Wherever skills are, the winner of a name is the highest tier that has it.
    #[test]
    fn the_winner_does_not_depend_on_what_else_is_there(
        places in proptest::collection::vec((0..4_usize, 0..3_usize), 1..8),
    ) {
        const TIERS: [(&str, &str); 4] = [
            ("home/.sinew/skills", "openclaw-managed"),
            ("home/.agents/skills", "agents-skills-personal"),
            ("work/.agents/skills", "agents-skills-project"),
            ("work/skills", "openclaw-workspace"),
        ];
        const NAMES: [&str; 3] = ["a", "b", "c"];
        let mut machine = TestMachine::new();
        for &(tier, name) in &places {
            machine = machine.skill(&format!("{}/{}", TIERS[tier].0, NAMES[name]), NAMES[name]);
        }
        let catalog = machine.catalog();
        for (at, name) in NAMES.iter().enumerate() {
            let highest = places.iter().filter(|place| place.1 == at).map(|place| place.0).max();
            let source = catalog.get(name).map(|entry| entry.source.as_str());
            prop_assert_eq!(source, highest.map(|tier| TIERS[tier].1));
        }
    }
}
