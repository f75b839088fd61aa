//! Names that change: tags, slugs, and skills that are merged into others.

use serde_json::{Value, json};
use sinew_registry::TokenRole;

use super::support::{Reply, Team};

fn slugs(team: &Team, token: &str) -> Vec<String> {
    let list = team.get("/api/v1/skills?sort=name", token).json();
    let rows = list["items"].as_array().expect("rows").clone();
    rows.iter().filter_map(|row| row["slug"].as_str().map(str::to_owned)).collect()
}

fn call(team: &Team, token: &str, path: &str, body: &Value) -> Reply {
    team.post(&format!("/api/v1/skills/{path}"), token, body)
}

#[test]
fn a_tag_moves_to_another_version() {
    let team = Team::new();
    let (alice, bob) =
        (team.token(TokenRole::Publish, "alice"), team.token(TokenRole::Publish, "bob"));
    for version in ["1.0.0", "1.1.0"] {
        team.publish_text(&alice, "demo-skill", version, version).json();
    }
    let set = |token: &str, tag: &str, version: &str| {
        call(&team, token, &format!("demo-skill/tags/{tag}"), &json!({ "version": version }))
    };
    let answer = json!({ "ok": true, "slug": "demo-skill", "tag": "stable", "version": "1.0.0" });
    assert_eq!(set(&alice, "stable", "1.0.0").json(), answer);
    let by_tag = team.get("/api/v1/download?slug=demo-skill&tag=stable", &alice);
    let named = "attachment; filename=\"demo-skill-1.0.0.zip\"";
    assert_eq!(by_tag.header("content-disposition"), Some(named));
    set(&alice, "latest", "1.0.0").json();
    let detail = team.get("/api/v1/skills/demo-skill", &bob).json();
    assert_eq!(detail["latestVersion"]["version"], "1.0.0");
    set(&alice, "stable", "9.9.9").refused(404, "Version not found");
    set(&bob, "stable", "1.1.0").refused(403, "not yours");
    for bad in ["$x", "_x", "%09"] {
        set(&alice, bad, "1.0.0").refused(400, "Valid tag required");
    }
}

#[test]
fn a_renamed_skill_is_found_by_both_names() {
    let team = Team::new();
    let (alice, bob) =
        (team.token(TokenRole::Publish, "alice"), team.token(TokenRole::Publish, "bob"));
    team.publish_text(&alice, "first-name", "1.0.0", "hello").json();
    team.publish_text(&bob, "weather", "1.0.0", "hello").json();
    team.post("/api/v1/stars/first-name", &bob, &json!({})).json();
    let before = team.get("/api/v1/download?slug=first-name", &alice);
    let rename = |token: &str, from: &str, to: &str| {
        call(&team, token, &format!("{from}/rename"), &json!({ "newSlug": to }))
    };
    rename(&bob, "first-name", "other-name").refused(403, "not yours");
    rename(&alice, "first-name", "wether").refused(400, "too close");
    rename(&alice, "first-name", "admin").refused(400, "reserved");
    rename(&alice, "first-name", "first-name").refused(400, "must be different");
    let answer = json!({ "ok": true, "slug": "other-name", "previousSlug": "first-name" });
    assert_eq!(rename(&alice, "first-name", "other-name").json(), answer);
    assert_eq!(slugs(&team, &alice), ["other-name", "weather"]);
    for asked in ["first-name", "other-name", "first-name?ownerHandle=alice"] {
        let detail = team.get(&format!("/api/v1/skills/{asked}"), &bob).json();
        assert_eq!(detail["skill"]["slug"], "other-name", "{asked}");
        assert_eq!(detail["skill"]["stats"]["stars"], 1);
        assert_eq!(detail["skill"]["stats"]["downloads"], 1);
    }
    // Bytes do not change, and the person who gave a star still has it there.
    let after = team.get("/api/v1/download?slug=first-name&version=1.0.0", &bob);
    assert_eq!(after.body, before.body);
    let star = team.post("/api/v1/stars/other-name", &bob, &json!({})).json();
    assert_eq!(star["alreadyStarred"], true);
    team.publish_text(&alice, "first-name", "2.0.0", "x")
        .refused(400, "redirects to @alice/other-name");
    team.publish_text(&alice, "other-name", "2.0.0", "x").json();
    // Once more, and back to where it began.
    rename(&alice, "first-name", "third-name").json();
    let detail = team.get("/api/v1/skills/first-name", &bob).json();
    assert_eq!(detail["skill"]["slug"], "third-name");
    rename(&alice, "third-name", "first-name").json();
    assert_eq!(slugs(&team, &alice), ["first-name", "weather"]);
    assert_eq!(team.get("/api/v1/skills/other-name", &bob).json()["skill"]["slug"], "first-name");
    assert_eq!(team.registry.collect_garbage().expect("a look"), 0);
}

#[test]
fn a_skill_that_is_merged_into_another_redirects_there() {
    let team = Team::new();
    let (alice, bob) =
        (team.token(TokenRole::Publish, "alice"), team.token(TokenRole::Publish, "bob"));
    for slug in ["pdf-join", "document-kit"] {
        team.publish_text(&alice, slug, "1.0.0", slug).json();
    }
    team.publish_text(&bob, "weather", "1.0.0", "hello").json();
    let merge = |token: &str, target: &str| {
        call(&team, token, "pdf-join/merge", &json!({ "targetSlug": target }))
    };
    merge(&bob, "weather").refused(403, "not yours");
    merge(&alice, "weather").refused(403, "not yours");
    merge(&alice, "pdf-join").refused(400, "must be different");
    merge(&alice, "nothing").refused(404, "Skill not found");
    let answer = json!({ "ok": true, "sourceSlug": "pdf-join", "targetSlug": "document-kit" });
    assert_eq!(merge(&alice, "document-kit").json(), answer);
    assert_eq!(slugs(&team, &alice), ["document-kit", "weather"]);
    let detail = team.get("/api/v1/skills/pdf-join", &bob).json();
    assert_eq!(detail["skill"]["slug"], "document-kit");
    // A merge can be undone.
    let undelete = "/api/v1/skills/pdf-join/undelete";
    team.post(undelete, &alice, &json!({})).json();
    assert_eq!(team.get("/api/v1/skills/pdf-join", &bob).json()["skill"]["slug"], "pdf-join");
}
