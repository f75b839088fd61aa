//! Bytes: the same ones each time, known by their digests.

use std::fs;

use serde_json::{Value, json};
use sinew_hub::digest::{FileRecord, FingerprintOrder, fingerprint};
use sinew_hub::tree::SkillTree;
use sinew_registry::TokenRole;
use sinew_skill::content_hash;

use super::support::{Team, skill, unpacked};

#[test]
fn an_archive_is_the_same_each_time_and_holds_what_was_published() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    let text = skill("demo-skill", "hello");
    let files: [(&str, &[u8]); 3] =
        [("SKILL.md", text.as_bytes()), ("a_b.md", b"1"), ("a-b/Z.md", b"2")];
    team.publish(&token, "demo-skill", "1.0.0", &files).json();
    let first = team.get("/api/v1/download?slug=demo-skill&version=1.0.0", &token);
    let again = team.get("/api/v1/download?slug=demo-skill&ownerHandle=alice&tag=latest", &token);
    assert_eq!((first.status, &first.body), (200, &again.body));
    assert_eq!(first.header("content-type"), Some("application/zip"));
    let named = "attachment; filename=\"demo-skill-1.0.0.zip\"";
    assert_eq!(first.header("content-disposition"), Some(named));
    assert_eq!(first.header("cache-control"), Some("private, max-age=60"));
    let digest = content_hash(&first.body);
    assert_eq!(first.header("x-content-sha256"), Some(digest.as_str()));
    let entries = unpacked(&first.body);
    let paths: Vec<&str> = entries.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["a_b.md", "a-b/Z.md", "SKILL.md", "_meta.json"]);
    let meta: Value = serde_json::from_slice(&entries[3].1).expect("JSON");
    assert_eq!(meta["publishedAt"], 1_750_000_000_000u64);

    let known = [("if-none-match", digest.as_str())];
    let same = team.send("GET", "/api/v1/download?slug=demo-skill", &token, &known, b"");
    assert_eq!((same.status, same.body.len()), (304, 0));
    let part = [("range", "bytes=2-5")];
    let some = team.send("GET", "/api/v1/download?slug=demo-skill", &token, &part, b"");
    assert_eq!((some.status, &some.body[..]), (206, &first.body[2..=5]));
    let range = format!("bytes 2-5/{}", first.body.len());
    assert_eq!(some.header("content-range"), Some(range.as_str()));
    let outside = [("range", "bytes=99999999-")];
    let none = team.send("GET", "/api/v1/download?slug=demo-skill", &token, &outside, b"");
    assert_eq!(none.status, 416);
    let detail = team.get("/api/v1/skills/demo-skill", &token).json();
    assert_eq!(detail["skill"]["stats"]["downloads"], 5);
}

/// The published files and the installed tree are both known again, in both orders.
#[test]
fn a_folder_is_known_by_its_fingerprint() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    let names = [
        "_x.md",
        "10.md",
        "9.md",
        "a b.md",
        "a_b.md",
        "a-b.md",
        "a.md",
        "a/b.md",
        "ab.md",
        "B.md",
        "\u{e9}.md",
        "SKILL.md",
        "Z.md",
    ];
    for version in ["1.0.0", "1.1.0"] {
        let text = skill("demo-skill", version);
        let files: Vec<(&str, Vec<u8>)> = names
            .iter()
            .map(|name| match *name {
                "SKILL.md" => (*name, text.clone().into_bytes()),
                name => (name, format!("{name}\n").into_bytes()),
            })
            .collect();
        let borrowed: Vec<(&str, &[u8])> =
            files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        team.publish(&token, "demo-skill", version, &borrowed).json();
    }
    let resolve = |hash: &str| {
        team.get(&format!("/api/v1/resolve?slug=demo-skill&hash={hash}"), &token).json()
    };
    for version in ["1.0.0", "1.1.0"] {
        let path = format!("/api/v1/download?slug=demo-skill&version={version}");
        let tree = SkillTree::from_archive(&team.get(&path, &token).body, 0).expect("a tree");
        let installed = tree.records();
        let published: Vec<FileRecord> =
            installed.iter().filter(|file| file.path != "_meta.json").cloned().collect();
        for files in [&installed, &published] {
            for order in [FingerprintOrder::Collation, FingerprintOrder::Bytes] {
                let found = resolve(&fingerprint(files, order));
                assert_eq!(found["match"]["version"], version);
                assert_eq!(found["latestVersion"]["version"], "1.1.0");
            }
        }
    }
    assert_eq!(resolve(&"0".repeat(64))["match"], json!(null));
    let ask = |query: &str| team.get(&format!("/api/v1/resolve?{query}"), &token);
    ask("slug=demo-skill&hash=xyz").refused(400, "Invalid hash");
    ask("slug=demo-skill").refused(400, "Missing slug or hash");
    ask(&format!("slug=unheard-of&hash={}", "0".repeat(64))).refused(404, "Skill not found");
}

#[test]
fn files_are_text_or_bytes_whatever_they_call_themselves() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    let text = skill("demo-skill", "hello");
    let page = b"<script>alert(1)</script>";
    let files: [(&str, &[u8]); 3] =
        [("SKILL.md", text.as_bytes()), ("page.html", page), ("raw.bin", &[0, 159, 146])];
    team.publish(&token, "demo-skill", "1.0.0", &files).json();
    let file =
        |path: &str| team.get(&format!("/api/v1/skills/demo-skill/file?path={path}"), &token);
    let html = file("page.html");
    assert_eq!(
        (&html.body[..], html.header("content-type")),
        (&page[..], Some("text/plain; charset=utf-8"))
    );
    assert_eq!(html.header("etag"), Some(content_hash(page).as_str()));
    assert_eq!(html.header("x-content-size"), Some("25"));
    assert_eq!(file("raw.bin").header("content-type"), Some("application/octet-stream"));
    file("raw.bin&preview=1").refused(415, "Only text");
    file("nothing.md").refused(404, "File not found");
    file("../../pepper").refused(404, "File not found");
}

/// Bytes that were altered in storage are not served, and are restored by the next publication of the
/// original ones.
#[test]
fn altered_bytes_are_not_served() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    let text = skill("demo-skill", "hello");
    let files: [(&str, &[u8]); 1] = [("SKILL.md", text.as_bytes())];
    team.publish(&token, "demo-skill", "1.0.0", &files).json();
    let sha256 = content_hash(text.as_bytes());
    let blob = format!("home/.sinew/registry/blobs/sha256/{}/{}", &sha256[..2], &sha256[2..]);
    fs::write(team.machine.path(&blob), "something else").expect("a blob");
    let path = "/api/v1/skills/demo-skill/file?path=SKILL.md";
    team.get(path, &token).refused(503, "no longer has its digest");
    team.publish(&token, "demo-skill", "1.0.1", &files).json();
    assert_eq!(team.get(path, &token).body, text.as_bytes());
}

#[test]
fn an_install_is_told_where_the_archive_is() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    team.publish_text(&token, "demo-skill", "1.0.0", "hello").json();
    let told = team.get("/api/v1/skills/demo-skill/install", &token).json();
    let url = told["archive"]["downloadUrl"].as_str().expect("an address");
    let below = url.strip_prefix(&team.url("")).expect("an address of this server");
    assert_eq!(team.get(below, &token).status, 200);
    let telemetry = json!({ "event": "install", "slug": "demo-skill", "version": "1.0.0" });
    assert_eq!(team.post("/api/cli/telemetry/install", &token, &telemetry).json()["ok"], true);
    let detail = team.get("/api/v1/skills/demo-skill", &token).json();
    assert_eq!(detail["skill"]["stats"]["installsAllTime"], 1);
}
