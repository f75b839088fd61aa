//! Each command's answer for people.

use insta::assert_snapshot;
use sinew_testkit::TestMachine;

use crate::support::{busy_machine, json, sinew};

#[test]
fn list_shows_every_skill_and_its_fate() {
    assert_snapshot!(sinew(&busy_machine(), &["list"]));
    assert_snapshot!(sinew(&busy_machine(), &["list", "--all", "-v"]));
    assert_snapshot!(sinew(&busy_machine(), &["list", "--eligible", "-q"]));
}

#[test]
fn list_json_holds_what_scripts_rely_on() {
    let listing = json(&busy_machine(), &["list", "--all"]);
    for key in ["workspaceDir", "managedSkillsDir", "skills", "issues"] {
        assert!(listing.get(key).is_some(), "{key}");
    }
    let fates: Vec<String> = listing["skills"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|skill| {
            for key in [
                "name",
                "description",
                "emoji",
                "eligible",
                "disabled",
                "blockedByAllowlist",
                "blockedByAgentFilter",
                "modelVisible",
                "userInvocable",
                "commandVisible",
                "source",
                "bundled",
                "primaryEnv",
                "homepage",
                "missing",
                "state",
                "filePath",
                "reasons",
            ] {
                assert!(skill.get(key).is_some(), "{key} in {skill}");
            }
            format!("{} {} {}", skill["name"], skill["state"], skill["eligible"])
        })
        .collect();
    assert_snapshot!(fates.join("\n"));
}

#[test]
fn info_why_and_check_explain() {
    let machine = busy_machine();
    assert_snapshot!(sinew(&machine, &["info", "notes"]));
    assert_snapshot!(sinew(&machine, &["why", "forge"]));
    assert_snapshot!(sinew(&machine, &["why", "torn"]));
    assert_snapshot!(sinew(&machine, &["why", "notes"]));
    assert_snapshot!(sinew(&machine, &["check"]));
}

#[test]
fn prompt_prints_the_block_alone() {
    let machine = TestMachine::new().skill("work/skills/notes", "notes");
    assert_snapshot!(sinew(&machine, &["prompt"]));
    assert_snapshot!(sinew(&machine, &["prompt", "--mode", "minimal"]));
    assert_snapshot!(sinew(&machine, &["prompt", "--tools", "write,bash"]));
    let answer = json(&machine, &["prompt"]);
    assert_eq!(answer["report"]["included"], 1);
    assert_eq!(answer["snapshot"]["skills"][0]["name"], "notes");
}

#[test]
fn a_prompt_that_leaves_skills_out_says_so_to_the_person_too() {
    let mut machine = TestMachine::new();
    for number in 0..5 {
        machine = machine.skill(&format!("work/skills/s{number}"), &format!("s{number}"));
    }
    machine =
        machine.file("home/.sinew/config.json5", "{skills: {limits: {maxSkillsInPrompt: 3}}}");
    let shown = sinew(&machine, &["prompt"]);
    assert!(shown.contains("err| warning:"), "{shown}");
    assert_eq!(shown.matches("<skill>").count(), 3);
}

/// What a skill consists of, and what its author wrote beyond the fields that are known.
#[test]
fn info_lists_the_files_and_the_front_matter() {
    let machine = sinew_testkit::TestMachine::new()
        .file(
            "work/skills/soup/SKILL.md",
            "---\nname: soup\ndescription: Soups\nversion: 1.4.0\nauthor: Ada\ntags: [food, warm]\n---\n# Soup\n",
        )
        .file("work/skills/soup/scripts/cook.sh", "#!/bin/sh\n");
    let shown = sinew(&machine, &["info", "soup", "--files"]);
    assert!(shown.contains("files        2, ") && shown.contains("scripts/cook.sh"), "{shown}");
    assert!(!sinew(&machine, &["info", "soup"]).contains("cook.sh"));
    let info = json(&machine, &["info", "soup"]);
    let front = &info["frontmatter"];
    assert_eq!((&front["version"], &front["author"]), (&"1.4.0".into(), &"Ada".into()), "{info}");
    assert_eq!(front["tags"], serde_json::json!(["food", "warm"]));
}

#[test]
fn read_prints_a_skill_and_its_files() {
    let machine = TestMachine::new()
        .skill("work/skills/notes", "notes")
        .file("work/skills/notes/references/a.md", "# A\n");
    assert_snapshot!(sinew(&machine, &["read", "notes"]));
    assert_snapshot!(sinew(&machine, &["read", "notes", "references/a.md"]));
    assert_snapshot!(sinew(&machine, &["read", "notes", "references/b.md"]));
    let location = machine.path("work/skills/notes/SKILL.md");
    assert!(sinew(&machine, &["read", &location.to_string_lossy()]).contains("About notes"));
}

#[test]
fn commands_lists_slash_commands() {
    assert_snapshot!(sinew(&busy_machine(), &["commands"]));
    assert_eq!(json(&busy_machine(), &["commands"])["commands"][0]["name"], "notes");
}

#[test]
fn validate_judges_and_fixes() {
    let machine = TestMachine::new().file(
        "work/skills/mail/SKILL.md",
        "---\nname: mail\ndescription: Send mail: list, read\n---\n",
    );
    assert_snapshot!(sinew(&machine, &["validate", "skills/mail", "--rules", "agentskills"]));
    assert_snapshot!(sinew(&machine, &["validate", "skills", "--rules", "agentskills", "--fix"]));
    assert_snapshot!(sinew(&machine, &["validate", "--rules", "openclaw"]));
    assert!(machine.path("work/skills/mail/SKILL.md.bak").is_file());
    assert_snapshot!(sinew(&machine, &["validate", "nowhere"]));
}

#[test]
fn doctor_shows_the_folders_and_agents_of_this_machine() {
    let machine = busy_machine().skill("home/.claude/skills/c", "c");
    assert_snapshot!(sinew(&machine, &["doctor"]));
}

#[test]
fn config_shows_values_and_never_secrets() {
    let machine = TestMachine::new().file(
        "home/.sinew/config.json5",
        "{skills: {load: {watch: false}, entries: {a: {apiKey: 'hunter2', env: {K: 'hunter3'}}}}}",
    );
    let shown = sinew(&machine, &["config", "show"]);
    assert!(!shown.contains("hunter"), "{shown}");
    assert_snapshot!(shown);
    assert_snapshot!(sinew(&machine, &["config", "path"]));
    assert!(!json(&machine, &["config", "show"]).to_string().contains("hunter"));
}

#[test]
fn config_import_keeps_what_was_there_and_a_backup() {
    let machine = TestMachine::new()
        .file(
            "home/.openclaw/openclaw.json",
            "{skills: {load: {extraDirs: ['~/more']}}, gateway: {port: 1}}",
        )
        .file("home/.sinew/config.json5", "{mine: 1}");
    assert_snapshot!(sinew(&machine, &["config", "import", "openclaw", "--dry-run"]));
    assert_snapshot!(sinew(&machine, &["config", "import", "openclaw"]));
    assert!(machine.path("home/.sinew/config.json5.bak").is_file());
    assert_eq!(json(&machine, &["config", "show"])["values"][1]["value"][0], "~/more");
}

#[test]
fn an_empty_machine_has_the_skills_that_the_program_carries() {
    let machine = TestMachine::new();
    // Copied away from the repository, so that no `skills` folder lies above it.
    let exe = machine.path("bin/sinew");
    std::fs::copy(env!("CARGO_BIN_EXE_sinew"), &exe).expect("a copy");
    let mut copied = std::process::Command::new(exe);
    copied
        .args(["list", "--bundled", "-q"])
        .env_clear()
        .env("HOME", machine.path("home"))
        .current_dir(machine.path("work"));
    let shown = crate::support::shown(&machine, &copied.output().expect("sinew runs"));
    for name in ["1password", "git-history", "github", "postgres", "sinew", "tmux", "xurl"] {
        assert!(shown.contains(name), "{name} in {shown}");
    }
}
