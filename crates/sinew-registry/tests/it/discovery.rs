//! Discovery indexes, for clients that know only an address.

use serde_json::{Value, json};
use sinew_hub::tree::SkillTree;
use sinew_registry::TokenRole;
use sinew_skill::content_hash;

use super::support::{Team, skill};

#[test]
fn every_entry_leads_to_bytes_of_its_digest() {
    let team = Team::public();
    let (alice, bob) =
        (team.token(TokenRole::Publish, "alice"), team.token(TokenRole::Publish, "bob.b"));
    team.publish_text(&alice, "one-file", "1.0.0", "hello").json();
    let text = skill("two-files", "hello");
    // The skill's own file is there under its exact name, however it was published.
    let files: [(&str, &[u8]); 2] = [("skill.md", text.as_bytes()), ("scripts/run.sh", b"echo\n")];
    team.publish(&alice, "two-files", "1.0.0", &files).json();
    team.publish_text(&bob, "one-file", "3.0.0", "another").json();
    for place in ["!/.well-known/agent-skills/index.json", "/.well-known/agent-skills/index.json"] {
        let index = team.get(place, "").json();
        assert_eq!(index["$schema"], "https://schemas.agentskills.io/discovery/0.2.0/schema.json");
        let entries = index["skills"].as_array().expect("entries");
        let names: Vec<(&Value, &Value)> =
            entries.iter().map(|e| (&e["name"], &e["type"])).collect();
        assert_eq!(
            names,
            [
                (&json!("one-file"), &json!("skill-md")),
                (&json!("two-files"), &json!("archive")),
                // The entry of a name's second owner is named after owner and slug, and comes last.
                (&json!("bob-b-one-file"), &json!("skill-md")),
            ]
        );
        for entry in entries {
            let url = entry["url"].as_str().expect("an address");
            let below = url.strip_prefix(&team.url("")).expect("an address of this server");
            let bytes = team.get(below, "").body;
            assert_eq!(entry["digest"], format!("sha256:{}", content_hash(&bytes)));
            if entry["type"] == "archive" {
                let tree = SkillTree::from_archive(&bytes, 0).expect("a tree");
                let paths: Vec<&str> = tree.files().iter().map(|file| &*file.path).collect();
                assert_eq!(paths, ["SKILL.md", "scripts/run.sh"]);
            }
        }
    }
    let one = team.get("!/bob.b/skills/one-file/.well-known/agent-skills/index.json", "").json();
    assert_eq!(one["skills"][0]["version"], "3.0.0");
    assert_eq!(
        team.get("!/eve/skills/one-file/.well-known/agent-skills/index.json", "").status,
        404
    );
}

#[test]
fn the_older_form_is_answered_too() {
    let team = Team::public();
    let alice = team.token(TokenRole::Publish, "alice");
    let text = skill("two-files", "hello");
    let files: [(&str, &[u8]); 2] = [("SKILL.md", text.as_bytes()), ("scripts/run.sh", b"echo\n")];
    team.publish(&alice, "two-files", "1.0.0", &files).json();
    let index = team.get("!/.well-known/skills/index.json", "").json();
    assert_eq!(index["$schema"], Value::Null);
    let entry = &index["skills"][0];
    assert_eq!(entry["name"], "two-files");
    for file in entry["files"].as_array().expect("files") {
        let path = format!("!/.well-known/skills/two-files/{}", file.as_str().expect("a path"));
        assert_eq!(team.get(&path, "").status, 200, "{path}");
    }
    assert_eq!(team.get("!/.well-known/skills/two-files/../../x", "").status, 404);
}

#[test]
fn clients_of_skills_sh_can_search() {
    let team = Team::public();
    let alice = team.token(TokenRole::Publish, "alice");
    team.publish_text(&alice, "one-file", "1.0.0", "hello").json();
    let found = team.get("/api/search?q=one&limit=10", "").json();
    assert_eq!(
        found["skills"],
        json!([{
            "id": "alice/skills/one-file", "skillId": "one-file", "name": "one-file",
            "installs": 0, "source": "alice/skills",
        }])
    );
}
