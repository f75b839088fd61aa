//! Everything at once: pages of latest versions, file by file what single downloads hold.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use sinew_registry::TokenRole;
use sinew_settings::config::RegistryMode;

use super::support::{Reply, Team, skill, unpacked};

/// A team with seven skills of two owners, one of them taken back, one in two versions.
fn filled(team: &Team) -> String {
    let (alice, bob) =
        (team.token(TokenRole::Publish, "alice"), team.token(TokenRole::Publish, "bob"));
    for number in 0..5 {
        team.publish_text(&alice, &format!("tool-number-{number}"), "1.0.0", "hello").json();
        team.clock.pass(1);
    }
    let text = skill("notes-app", "second");
    let files: [(&str, &[u8]); 2] = [("SKILL.md", text.as_bytes()), ("lib/a.txt", b"a")];
    team.publish_text(&bob, "notes-app", "1.0.0", "first").json();
    team.publish(&bob, "notes-app", "1.1.0", &files).json();
    team.publish_text(&bob, "gone-again", "1.0.0", "hello").json();
    team.send("DELETE", "/api/v1/skills/gone-again", &bob, &[], b"").json();
    alice
}

fn manifest(files: &BTreeMap<String, Vec<u8>>) -> Value {
    serde_json::from_slice(&files["_manifest.json"]).expect("JSON")
}

fn paths(reply: &Reply) -> Vec<String> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let files = unpacked(&reply.body).into_iter().collect();
    let skills = manifest(&files)["skills"].as_array().expect("a list").clone();
    let path = |skill: &Value| skill["path"].as_str().map(str::to_owned);
    skills.iter().filter_map(path).collect()
}

#[test]
fn each_skill_has_the_files_of_its_download() {
    let team = Team::new();
    let token = filled(&team);
    let all = team.get("/api/v1/skills/export", &token);
    assert_eq!(all.header("content-type"), Some("application/zip"));
    assert_eq!((all.header("x-has-more"), all.header("x-next-cursor")), (Some("false"), None));
    assert_eq!(all.header("x-total-returned"), Some("6"));
    let mut files: BTreeMap<String, Vec<u8>> = unpacked(&all.body).into_iter().collect();
    let manifest = manifest(&files);
    files.remove("_manifest.json");
    for skill in manifest["skills"].as_array().expect("a list") {
        let (owner, slug) = (&skill["publisher"], skill["slug"].as_str().expect("text"));
        let owner = owner.as_str().expect("text");
        let query = format!("/api/v1/download?slug={slug}&ownerHandle={owner}");
        let one = team.get(&query, &token);
        assert_eq!(skill["archiveSha256"], sinew_skill::content_hash(&one.body));
        for (path, bytes) in unpacked(&one.body) {
            assert_eq!(files.remove(&format!("{owner}/{slug}/{path}")), Some(bytes), "{path}");
        }
        let meta = files.remove(&format!("{owner}/{slug}/_export_skill_meta.json"));
        let meta: Value = serde_json::from_slice(&meta.expect("a file")).expect("JSON");
        assert_eq!(&meta, skill);
    }
    assert_eq!(files.keys().collect::<Vec<_>>(), Vec::<&String>::new(), "and nothing else");
    assert_eq!(manifest["skills"][0]["version"], "1.1.0", "of notes-app the latest");
}

#[test]
fn pages_follow_each_other() {
    let team = Team::new();
    let token = filled(&team);
    let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let reply = team.get(&format!("/api/v1/skills/export?limit=4&cursor={cursor}"), &token);
        seen.extend(paths(&reply));
        pages += 1;
        match reply.header("x-next-cursor") {
            Some(next) => {
                assert_eq!(reply.header("x-has-more"), Some("true"));
                cursor = next.replace('/', "%2F");
            }
            None => break,
        }
    }
    let mut all: Vec<String> = (0..5).map(|n| format!("alice/tool-number-{n}")).collect();
    all.insert(0, "bob/notes-app".to_owned());
    assert_eq!((seen, pages), (all, 2));
    let count =
        |query: &str| paths(&team.get(&format!("/api/v1/skills/export?{query}"), &token)).len();
    // A limit is clamped to between 1 and 250.
    assert_eq!((count("limit=0"), count("limit=1"), count("limit=9999")), (1, 1, 6));
    let start = 1_750_000_000_000_u64;
    assert_eq!(count(&format!("startDate={}&endDate={}", start + 1_000, start + 2_000)), 2);
    assert_eq!(count(&format!("startDate={}", start + 3_000)), 3);
    for (query, says) in [
        ("startDate=yesterday", "Invalid startDate"),
        ("endDate=-1", "Invalid endDate"),
        ("startDate=2&endDate=1", "startDate is after endDate"),
    ] {
        team.get(&format!("/api/v1/skills/export?{query}"), &token).refused(400, says);
    }
}

#[test]
fn an_export_needs_a_token_and_has_few_turns() {
    let team = Team::with(|settings| {
        settings.mode = RegistryMode::PublicRead;
        settings.limits_scale = Some(1);
    });
    let token = team.token(TokenRole::Read, "alice");
    let ask = |token: &str| team.get("/api/v1/skills/export", token);
    for _ in 0..10 {
        ask("").refused(401, "API token is missing");
    }
    ask("").refused(429, "Rate limit exceeded");
    assert_eq!(team.get("/api/v1/skills", "").status, 200, "reading is counted apart");
    for _ in 0..60 {
        assert_eq!(ask(&token).header("x-ratelimit-limit"), Some("60"));
    }
    ask(&token).refused(429, "Rate limit exceeded");
    assert_eq!(team.get("/api/v1/download?slug=none", &token).status, 404, "and fetching too");
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_is_exported() {
    let team = Team::new();
    let token = filled(&team);
    let single = team.get("/api/v1/download?slug=tool-number-2", &token);
    let digest = single.header("x-content-sha256").expect("a digest");
    let blobs = team.machine.path("home/.sinew/registry/blobs/sha256");
    fs::write(blobs.join(&digest[..2]).join(&digest[2..]), b"other").expect("a file");
    let reply = team.get("/api/v1/skills/export", &token);
    assert_eq!(reply.header("x-export-errors"), Some("1"));
    assert_eq!(paths(&reply).len(), 5);
    let files: BTreeMap<String, Vec<u8>> = unpacked(&reply.body).into_iter().collect();
    let errors = String::from_utf8_lossy(&files["_errors.json"]).into_owned();
    assert!(errors.contains("tool-number-2") && errors.contains("digest"), "{errors}");
}
