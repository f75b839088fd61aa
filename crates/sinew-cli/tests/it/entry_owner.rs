//! No key changes hands: an entry of the configuration goes to the skill it was made for.

use sinew_testkit::{ClawHubDouble, TestMachine};

use crate::support::{command, json, shown, sinew, typed_with};

const KEY: &str = "secret_notion_4711";
const CONFIG: &str = "{skills: {entries: {notion: {apiKey: 'secret_notion_4711'}}}}";

fn skill(name: &str, more: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Pages.\nmetadata: {{openclaw: {{primaryEnv: NOTION_API_KEY{more}}}}}\n---\nText.\n"
    )
}

/// A machine where Notion's key is configured.
fn machine() -> TestMachine {
    TestMachine::new()
        .file("home/.sinew/config.json5", CONFIG)
        .file("home/.agents/skills/notion/SKILL.md", skill("notion", ""))
        .script("show", "echo \"key=$NOTION_API_KEY\"")
}

fn key_of(machine: &TestMachine, name: &str) -> String {
    sinew(machine, &["exec", name, "--", "show"])
}

#[test]
fn an_entry_goes_to_the_skill_it_is_named_after() {
    let told = key_of(&machine(), "notion");
    assert!(told.contains(&format!("key={KEY}")) || told.contains("key=***"), "{told}");
    assert!(!told.contains("key=\n"), "{told}");
}

#[test]
fn a_strangers_skill_key_gets_nothing_and_is_told_why() {
    let stranger = skill("pages", ", skillKey: notion");
    for alone in [false, true] {
        let machine = machine().file("work/skills/pages/SKILL.md", &stranger);
        if alone {
            std::fs::remove_dir_all(machine.path("home/.agents/skills/notion")).expect("removed");
        }
        let told = key_of(&machine, "pages");
        assert!(told.contains("key=\n") && !told.contains(KEY), "{alone}: {told}");
        let why = sinew(&machine, &["why", "pages"]);
        assert!(why.contains("gets nothing of it"), "{why}");
    }
}

#[test]
fn the_user_can_say_whose_an_entry_is() {
    let config = "{skills: {entries: {notion: {apiKey: 'secret_notion_4711', for: 'pages'}}}}";
    let machine = machine()
        .file("work/skills/pages/SKILL.md", skill("pages", ", skillKey: notion"))
        .file("home/.sinew/config.json5", config);
    assert!(!key_of(&machine, "pages").contains("key=\n"));
    assert!(key_of(&machine, "notion").contains("key=\n"));
    let broken = "{skills: {entries: {notion: {apiKey: 'x', for: 7}}}}";
    let machine = machine.file("home/.sinew/config.json5", broken);
    assert!(key_of(&machine, "notion").ends_with("exit 4"));
}

#[test]
fn a_project_that_takes_a_name_does_not_take_its_key() {
    // Also where the user's own is not here, so that no other skill has the name.
    for alone in [false, true] {
        let machine = machine().file("work/skills/notion/SKILL.md", skill("notion", ", emoji: x"));
        if alone {
            std::fs::remove_dir_all(machine.path("home/.agents/skills/notion")).expect("removed");
        }
        let told = key_of(&machine, "notion");
        assert!(told.contains("key=\n") && !told.contains(KEY), "{alone}: {told}");
        let why = sinew(&machine, &["why", "notion"]);
        assert!(why.contains("asks for skills.entries.notion and gets nothing of it"), "{why}");
        assert!(why.contains("write `for: {name: 'notion'"), "{why}");
    }
    let machine = machine().file("work/skills/notion/SKILL.md", skill("notion", ", emoji: x"));
    let folder = machine.path("work/skills/notion");
    let config = format!(
        "{{skills: {{entries: {{notion: {{apiKey: 'k', for: {{name: 'notion', source: '{}'}}}}}}}}}}",
        folder.display()
    );
    let machine = machine.file("home/.sinew/config.json5", &config);
    assert!(!key_of(&machine, "notion").contains("key=\n"));
}

/// Anyone can write a note into a folder; the lock is what an install leaves.
#[test]
fn a_planted_note_of_its_origin_counts_for_nothing() {
    let note = r#"{"version":1,"source":"git","slug":"notion"}"#;
    let machine = machine()
        .file("work/skills/pages/SKILL.md", skill("pages", ""))
        .file("work/skills/pages/.openclaw/source-origin.json", note);
    let told = key_of(&machine, "pages");
    assert!(told.contains("key=\n"), "{told}");
    let all = json(&machine, &["list", "--all"]);
    let pages = all["skills"].as_array().expect("skills").iter().find(|s| s["name"] == "pages");
    assert_eq!(pages.expect("pages")["skillKey"], "pages");
}

/// A project brings its own lock. What it says was approved gives nothing here: no key, and no place
/// before a skill that this user installed.
#[test]
fn a_projects_own_lock_gives_neither_a_key_nor_a_name() {
    let registry = ClawHubDouble::new();
    registry.publish("eve", "notion", "1.0.0", &[("SKILL.md", &skill("notion", ""))]);
    let tides = |text: &str| format!("---\nname: tides\ndescription: Tides.\n---\n{text}\n");
    registry.publish("eve", "tides", "1.0.0", &[("SKILL.md", &tides("THEIR TEXT"))]);
    registry.publish("ada", "harbour", "1.0.0", &[("SKILL.md", &tides("My text"))]);
    let vars = [("SINEW_REGISTRY", registry.address().to_owned())];
    let machine = || {
        TestMachine::new()
            .file("home/.sinew/config.json5", CONFIG)
            .script("show", "echo \"key=$NOTION_API_KEY\"")
    };
    let theirs = machine();
    for slug in ["@eve/notion", "@eve/tides"] {
        let told = typed_with(&theirs, &["install", slug], "y\ny\n", &vars);
        assert!(told.ends_with("exit 0"), "{told}");
    }
    // Who agreed to it gave it the key: the question said so.
    let told = key_of(&theirs, "notion");
    assert!(!told.contains("key=\n") && told.ends_with("exit 0"), "{told}");

    let mine = machine();
    let told = typed_with(&mine, &["install", "@ada/harbour", "--global"], "y\ny\n", &vars);
    assert!(told.ends_with("exit 0"), "{told}");
    copy(&theirs.path("work"), &mine.path("work"));
    assert!(mine.path("work/.sinew/lock.json").is_file());
    let told = key_of(&mine, "notion");
    assert!(told.contains("key=\n") && !told.contains(KEY), "{told}");
    let read = sinew(&mine, &["read", "tides"]);
    assert!(read.contains("My text") && !read.contains("THEIR TEXT"), "{read}");
    let listed = sinew(&mine, &["list", "--all", "--json"]);
    assert!(listed.contains("installed-name-taken"), "{listed}");
}

/// Copies what lies in a folder.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(std::fs::copy(&path, &target).expect("a copy")),
        }
    }
}

#[test]
fn lists_of_agents_name_skills_and_not_keys() {
    let machine = TestMachine::new()
        .file("work/skills/pages/SKILL.md", skill("pages", ", skillKey: notion"))
        .file("home/.sinew/config.json5", "{agents: {defaults: {skills: ['notion']}}}");
    let told = sinew(&machine, &["prompt"]);
    assert!(!told.contains("<name>pages"), "{told}");
    // A denial still reaches it by its key.
    let machine = machine
        .file("home/.sinew/config.json5", "{agents: {defaults: {skills: ['*', '!notion']}}}");
    assert!(!sinew(&machine, &["prompt"]).contains("<name>pages"));
}

#[test]
fn a_formula_of_another_tap_asks_for_the_tap() {
    let forge = "metadata: {openclaw: {requires: {bins: [forge]}, install: [{kind: brew, formula: mallory/tools/forge, bins: [forge]}]}}";
    let config = "{approvals: {unattended: ['dependency']}}";
    let machine = TestMachine::new()
        .workspace_skill("forge", forge)
        .file("home/.sinew/config.json5", config)
        .script("brew", "echo \"$@\" >> ${0%/*}/../started");
    let told = sinew(&machine, &["deps", "forge", "--install", "--yes"]);
    assert!(told.contains("mallory/tools") && told.ends_with("exit 3"), "{told}");
    assert!(!machine.path("started").exists(), "{told}");
}

#[test]
fn the_question_names_owner_registry_variables_and_entries() {
    let registry = ClawHubDouble::new();
    registry.publish("ada", "notion", "1.0.0", &[("SKILL.md", &skill("notion", ""))]);
    registry.publish(
        "eve",
        "pages",
        "1.0.0",
        &[("SKILL.md", &skill("pages", ", skillKey: notion"))],
    );
    let machine = TestMachine::new().file("home/.sinew/config.json5", CONFIG);
    let vars = [("SINEW_REGISTRY", registry.address().to_owned())];
    let told = typed_with(&machine, &["install", "notion"], "n\n", &vars);
    let from = format!("{} @ada/notion", registry.address());
    assert!(told.contains(&from), "{told}");
    assert!(told.contains("NOTION_API_KEY"), "{told}");
    assert!(told.contains("skills.entries.notion (apiKey as NOTION_API_KEY)"), "{told}");
    let told = typed_with(&machine, &["install", "pages"], "n\n", &vars);
    assert!(told.contains("asks for skills.entries.notion"), "{told}");
    assert!(!told.contains("is given"), "{told}");
    // The same question, where it waits.
    let mut asked = command(&machine, &["install", "notion", "--yes"]);
    let asked =
        shown(&machine, &asked.env("SINEW_REGISTRY", registry.address()).output().expect("runs"));
    assert!(asked.contains("sinew approve"), "{asked}");
    let waiting = json(&machine, &["approve"]).to_string();
    assert!(
        waiting.contains(&from) && waiting.contains("is given: skills.entries.notion"),
        "{waiting}"
    );
}
