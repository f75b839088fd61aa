//! Names: reserved, mistaken, ambiguous, given up.

use serde_json::json;
use sinew_registry::TokenRole;

use super::support::Team;

#[test]
fn some_slugs_cannot_be_published() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    for slug in ["a--b", "-a", "ab", "admin", "api", "search", "clawhub", "sinew", "../x", "a b"] {
        assert_eq!(team.publish_text(&token, slug, "1.0.0", "hello").status, 400, "{slug}");
    }
    assert_eq!(team.publish_text(&token, "Demo-Skill", "1.0.0", "hello").status, 200);
    for written in ["demo-skill", "DEMO-SKILL", "Demo-Skill"] {
        let detail = team.get(&format!("/api/v1/skills/{written}"), &token).json();
        assert_eq!(detail["skill"]["slug"], "demo-skill");
    }
    for odd in ["..", "a%2f..%2fb", "%00", "a%5cb", "%20"] {
        let status = team.get(&format!("/api/v1/skills/{odd}"), &token).status;
        assert!(matches!(status, 400 | 404), "{odd} {status}");
    }
}

#[test]
fn a_name_must_not_be_mistaken_for_another_owners() {
    let team = Team::new();
    let (alice, bob) =
        (team.token(TokenRole::Publish, "alice"), team.token(TokenRole::Publish, "bob"));
    let admin = team.token(TokenRole::Admin, "root");
    assert_eq!(team.publish_text(&alice, "todoist-cli", "1.0.0", "hello").status, 200);
    for near in ["todoist-cl1", "todoistcli", "todiost-cli", "todoist-cl", "tod0ist-cli"] {
        team.publish_text(&bob, near, "1.0.0", "hello")
            .refused(400, "too close to \"todoist-cli\"");
    }
    assert_eq!(team.publish_text(&alice, "todoist-clis", "1.0.0", "hello").status, 200);
    assert_eq!(team.publish_text(&bob, "calendar", "1.0.0", "hello").status, 200);
    assert_eq!(team.publish_text(&admin, "todoist-cli2", "1.0.0", "hello").status, 200);
}

#[test]
fn a_slug_with_two_owners_needs_the_owner() {
    let team = Team::new();
    let (alice, bob) =
        (team.token(TokenRole::Publish, "alice"), team.token(TokenRole::Publish, "bob"));
    team.publish_text(&alice, "demo-skill", "1.0.0", "hello").json();
    team.publish_text(&bob, "demo-skill", "2.0.0", "hello").json();
    let both = team.get("/api/v1/skills/demo-skill", &alice);
    assert_eq!((both.status, both.header("content-type")), (409, Some("application/json")));
    let said: serde_json::Value = serde_json::from_slice(&both.body).expect("JSON");
    assert_eq!(said["code"], "AMBIGUOUS_SKILL_SLUG");
    assert_eq!(said["matches"][0]["ref"], "@alice/demo-skill");
    assert_eq!(said["matches"][1]["ref"], "@bob/demo-skill");
    let text = "Ambiguous skill slug \"demo-skill\".";
    team.get("/api/v1/download?slug=demo-skill", &alice).refused(409, text);
    for (owner, version) in [("alice", "1.0.0"), ("@Bob", "2.0.0")] {
        let path = format!("/api/v1/skills/demo-skill?ownerHandle={owner}");
        assert_eq!(team.get(&path, &alice).json()["latestVersion"]["version"], version);
    }
    // A caller who deletes means their own skill.
    assert_eq!(team.send("DELETE", "/api/v1/skills/demo-skill", &bob, &[], b"").status, 200);
    let detail = team.get("/api/v1/skills/demo-skill", &bob).json();
    assert_eq!(detail["owner"]["handle"], "alice");
}

#[test]
fn a_deleted_name_is_reserved_for_thirty_days() {
    let team = Team::new();
    let (alice, bob) =
        (team.token(TokenRole::Publish, "alice"), team.token(TokenRole::Publish, "bob"));
    team.publish_text(&alice, "demo-skill", "1.0.0", "hello").json();
    let reason = json!({ "reason": "r" }).to_string();
    let kind = [("content-type", "application/json")];
    let deleted =
        team.send("DELETE", "/api/v1/skills/demo-skill", &alice, &kind, reason.as_bytes());
    let until = deleted.json()["slugReservedUntil"].as_u64().expect("a time");
    assert_eq!(until, 1_750_000_000_000 + 30 * 24 * 60 * 60 * 1000);
    for path in ["", "/versions", "/versions/1.0.0", "/file?path=SKILL.md", "/verify", "/install"] {
        team.get(&format!("/api/v1/skills/demo-skill{path}"), &alice)
            .refused(404, "Skill not found");
    }
    assert_eq!(team.get("/api/v1/search?q=demo", &alice).json()["results"], json!([]));
    team.publish_text(&bob, "demo-skill", "1.0.0", "mine").refused(400, "reserved");
    team.publish_text(&alice, "demo-skill", "1.1.0", "new").refused(400, "undelete it first");
    team.post("/api/v1/skills/demo-skill/undelete", &bob, &json!({})).refused(403, "not yours");
    team.clock.pass(31 * 24 * 60 * 60);
    assert_eq!(team.publish_text(&bob, "demo-skill", "1.0.0", "mine").status, 200);
    // And its owner still has what was published.
    team.post("/api/v1/skills/demo-skill/undelete", &alice, &json!({})).json();
    let mine = team.get("/api/v1/skills/demo-skill?ownerHandle=alice", &alice).json();
    assert_eq!(mine["latestVersion"]["version"], "1.0.0");
}
