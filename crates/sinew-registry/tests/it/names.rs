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

/// What no client could unpack, or no list could show, is the sender's mistake and not the server's.
#[test]
fn odd_names_and_versions_are_refused_with_the_right_status() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    for slug in ["con", "CON", "nul", "prn", "aux", "com1", "lpt9"] {
        team.publish_text(&token, slug, "1.0.0", "hello").refused(400, "Slug");
    }
    let long = format!("1.0.0-{}", "a".repeat(5_000));
    team.publish_text(&token, "tides", &long, "hello").refused(400, "at most 128 characters");
    for version in ["", "1", "1.0", "../1.0.0", "1.0.0/x", "latest"] {
        let status = team.publish_text(&token, "tides", version, "hello").status;
        assert_eq!(status, 400, "{version}");
    }
    for path in ["con", "a/nul.txt", "SKILL.md/", "/SKILL.md", "../x", "a\\b", &"a/".repeat(400)] {
        assert_eq!(team.ticket(&token, path, b"text").status, 400, "{path}");
    }
    let text = super::support::skill("tides", "hello");
    let both = [("SKILL.md", text.as_bytes()), ("SKILL.md/x", b"text".as_slice())];
    assert_eq!(team.publish(&token, "tides", "1.0.0", &both).status, 400);
    assert_eq!(team.publish_text(&token, "tides", "1.0.0", "hello").status, 200);
    // Asked for, they are not there; and nothing of it is an error of the server.
    for path in [
        format!("/api/v1/skills/tides/versions/{long}"),
        "/api/v1/skills/con".to_owned(),
        format!("/api/v1/skills/{}", "a".repeat(5_000)),
        "/api/v1/skills/tides/file?path=SKILL.md/x".to_owned(),
        "/api/v1/skills/tides/file?path=nul".to_owned(),
        format!("/api/v1/skills/tides/file?path={}", "a".repeat(5_000)),
        format!("/api/v1/download?slug=tides&version={long}"),
    ] {
        let status = team.get(&path, &token).status;
        assert!(matches!(status, 400 | 404 | 414), "{status} {}", &path[..60.min(path.len())]);
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
