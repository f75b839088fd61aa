//! Two programs, one folder: what `sinew` installs, npm's `clawhub` lists, updates and removes, and the
//! other way round; both against the same registry.

use serde_json::Value;

use super::{Person, Ran, Team};
use crate::support::{UNATTENDED, command, typed_with};

const DEMO: &str = "demo-skill";

fn published(team: &Team, person: &Person<'_>, version: &str) {
    let folder = team.skill("demo", DEMO, &format!("Say hello for {version}."));
    person
        .clawhub(&["publish", &folder, "--slug", DEMO, "--version", version, "--changelog", "x"])
        .ok(&format!("Published {DEMO}@{version}"));
}

/// `sinew` in the same home and folder as the person's `clawhub`, whose token it finds there.
fn sinew(person: &Person<'_>, args: &[&str]) -> Ran {
    let mut sinew = command(&person.team.machine, args);
    sinew
        .env("HOME", person.path("home"))
        .env("SINEW_REGISTRY", person.team.registry())
        .env("CLAWHUB_CONFIG_PATH", person.path("home/config.json"))
        .current_dir(person.path("work"));
    Ran::of(&mut sinew)
}

fn row(person: &Person<'_>) -> Value {
    let listed = sinew(person, &["installed", "--json"]);
    let listed: Value = serde_json::from_str(&listed.shown).expect("one JSON document");
    listed["workspace"][0].clone()
}

#[test]
fn sinew_and_clawhub_manage_one_folder() {
    let Some(team) = Team::start("{}", &[]) else { return };
    let alice = team.person("alice", "publish");
    team.machine.write("people/alice/home/.sinew/config.json5", UNATTENDED);
    published(&team, &alice, "1.0.0");
    sinew(&alice, &["search", "demo", "hello"]).ok("@alice/demo-skill");
    sinew(&alice, &["info", "@alice/demo-skill", "--file", "SKILL.md"]).ok("Say hello for 1.0.0.");
    sinew(&alice, &["install", DEMO, "--yes"]).ok("installed");
    alice.clawhub(&["list"]).ok("1.0.0");
    // The upstream client knows the tree by its own hash of it.
    alice.clawhub(&["update", DEMO]).ok("up to date");

    // It brings the skill up to date, and sinew tells the difference instead of failing.
    published(&team, &alice, "1.1.0");
    alice.clawhub(&["update", DEMO]).ok("1.1.0");
    let drifted = row(&alice);
    assert_eq!(drifted["status"], "modified", "{drifted}");
    assert!(drifted["note"].as_str().is_some_and(|note| note.contains("1.1.0")), "{drifted}");
    sinew(&alice, &["verify"]).fails("SKILL.md");
    sinew(&alice, &["update", DEMO, "--yes"]).ok("demo-skill@1.1.0 updated");
    assert_eq!(row(&alice)["status"], "ok");

    // sinew brings it up to date, and the upstream client takes it for its own.
    published(&team, &alice, "1.2.0");
    sinew(&alice, &["update", "--all", "--yes"]).ok("1.2.0");
    alice.clawhub(&["list"]).ok("1.2.0");
    alice.clawhub(&["update", "--all"]).ok("up to date");
    sinew(&alice, &["verify", "--online"]).ok("ok demo-skill");
    sinew(&alice, &["pin", DEMO, "--reason", "stays"]).ok("pinned");
    alice.clawhub(&["update", DEMO]).fails("pinned");
    sinew(&alice, &["pin", "--remove", DEMO]).fails("only a person");
    let workspace = alice.path("work").display().to_string();
    let told = typed_with(
        &team.machine,
        &["pin", "--remove", DEMO, "--workspace", &workspace],
        "",
        &[("HOME", alice.path("home").display().to_string())],
    );
    assert!(told.contains("free"), "{told}");

    // It removes the skill.
    alice.clawhub(&["uninstall", DEMO, "--yes"]).ok(DEMO);
    assert!(!alice.path("work/skills/demo-skill").exists());
    assert_eq!(row(&alice)["status"], "missing");
    sinew(&alice, &["restore", "--frozen"]).ok("restored");
    alice.clawhub(&["list"]).ok("1.2.0");
    sinew(&alice, &["uninstall", DEMO, "--yes"]).ok("removed");
    let theirs: Value =
        serde_json::from_slice(&alice.read("work/.clawhub/lock.json")).expect("a lock");
    assert_eq!(theirs["skills"], serde_json::json!({}));
}
