//! The recipe for `skills` 1.5.18: found by its search, installed from the discovery index.

use serde_json::Value;

use super::Team;

const PUBLIC: &str = "{registry: {mode: 'public-read'}}";

#[test]
fn the_skills_client_finds_and_installs() {
    let Some(team) = Team::start(PUBLIC, &[]) else { return };
    let alice = team.person("alice", "publish");
    let one = team.skill("one", "one-file", "Say hello.");
    let two = team.skill("two", "two-files", "Read scripts/run.sh.");
    team.machine.write("two/scripts/run.sh", "echo hello\n");
    for (folder, slug) in [(&one, "one-file"), (&two, "two-files")] {
        alice
            .clawhub(&["publish", folder, "--slug", slug, "--version", "1.0.0"])
            .ok(&format!("Published {slug}@1.0.0"));
    }

    let carol = team.stranger("carol");
    carol.skills(&["find", "two"]).ok("two-files");
    let added =
        carol.skills(&["add", &team.origin, "--skill", "*", "-a", "claude-code", "-y", "--copy"]);
    added.ok("");
    // One entry is a single file, the other an archive; both are on disk.
    for (slug, file, from) in [
        ("one-file", "SKILL.md", "one/SKILL.md"),
        ("two-files", "SKILL.md", "two/SKILL.md"),
        ("two-files", "scripts/run.sh", "two/scripts/run.sh"),
    ] {
        let found = carol.read(&format!("work/.claude/skills/{slug}/{file}"));
        assert_eq!(found, std::fs::read(team.machine.path(from)).expect("a file"), "{added:?}");
    }
    let lock: Value = serde_json::from_slice(&carol.read("work/skills-lock.json")).expect("a lock");
    for slug in ["one-file", "two-files"] {
        assert_eq!(lock["skills"][slug]["sourceType"], "well-known", "{lock}");
    }
}
