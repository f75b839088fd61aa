//! The skills extension: lists, entries, folders and digests.

use serde_json::{Value, json};
use sinew_skill::content_hash;
use sinew_testkit::TestMachine;

use super::client::Client;

fn names(client: &mut Client) -> Vec<String> {
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = client.ask("skills/list", params);
        let skills = page["skills"].as_array().expect("a list").clone();
        names.extend(
            skills
                .iter()
                .map(|skill| skill["frontmatter"]["name"].as_str().expect("a name").to_owned()),
        );
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return names,
        }
    }
}

fn machine() -> TestMachine {
    TestMachine::new()
        .file(
            "work/skills/x/SKILL.md",
            "---\nname: x\ndescription: d\nlicense: MIT\nenabled: yes\nyear: 2026\n---\nbody\n",
        )
        .file("work/skills/x/templates/a.md", "a")
        .file("work/skills/x/templates/deep/b.md", "b")
        .file("work/skills/x/scripts/run it.sh", "#!/bin/sh\n")
        .file("work/skills/x/.git/config", "hidden")
        .file("work/skills/x/SKILL.md~", "an editor's copy")
        .file("work/skills/x/node_modules/m/index.js", "module")
        .file("work/skills/x/logo.png", [0x89, b'P', b'N', b'G', 0, 255])
        .skill("work/skills/folder", "other-name")
        .skill("work/skills/my-skill", "My Skill")
        .file("work/skills/repaired/SKILL.md", "---\nname: repaired\ndescription: a: b: c\n---\n")
        .workspace_skill("forge", "metadata: {openclaw: {requires: {bins: [forge]}}}")
}

#[test]
fn a_skill_is_listed_with_every_file_and_its_digest() {
    let machine = machine();
    for stateless in [false, true] {
        let mut client = match stateless {
            true => Client::stateless(&machine, json!({})),
            false => Client::session(&machine, json!({})),
        };
        assert_eq!(names(&mut client), ["x"]);
        let got = client.ask("skills/get", json!({"uri": "skill://x/SKILL.md"}));
        assert_eq!(got.get("resultType").is_some(), stateless, "{got}");
        assert_eq!(got.get("ttlMs").is_some(), stateless, "{got}");
        let skill = &got["skill"];
        assert_eq!(skill["uri"], "skill://x/SKILL.md");
        let front = json!({
            "name": "x", "description": "d", "license": "MIT", "enabled": "yes", "year": 2026,
        });
        assert_eq!(skill["frontmatter"], front, "yes stays text, a number stays one");
        let uris: Vec<&str> = skill["resources"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|file| file["uri"].as_str())
            .collect();
        assert_eq!(
            uris,
            [
                "skill://x/SKILL.md",
                "skill://x/logo.png",
                "skill://x/scripts/run%20it.sh",
                "skill://x/templates/a.md",
                "skill://x/templates/deep/b.md",
            ]
        );
        for file in skill["resources"].as_array().into_iter().flatten() {
            let read = client.ask("resources/read", json!({"uri": file["uri"]}));
            let contents = &read["contents"][0];
            let bytes = match contents["text"].as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => vec![0x89, b'P', b'N', b'G', 0, 255],
            };
            assert_eq!(file["digest"], format!("sha256:{}", content_hash(&bytes)));
            assert_eq!(file["size"], bytes.len());
        }
    }
}

#[test]
fn what_is_not_served_has_no_entry() {
    let machine = machine();
    let mut client = Client::session(&machine, json!({}));
    for uri in [
        "skill://nothing/SKILL.md",
        "skill://forge/SKILL.md",
        "skill://x/templates/a.md",
        "skill://x",
        "skill://other-name/SKILL.md",
        "file:///etc/passwd",
        "",
    ] {
        assert_eq!(client.refused("skills/get", json!({"uri": uri})), -32602, "{uri}");
    }
    assert_eq!(client.refused("skills/get", json!({})), -32602);
}

#[test]
fn a_folder_has_its_direct_children() {
    let machine = machine();
    let mut client = Client::session(&machine, json!({}));
    let children = |client: &mut Client, uri: &str| -> Vec<(String, bool)> {
        let read = client.ask("resources/directory/read", json!({"uri": uri}));
        let each = read["resources"].as_array().expect("a list").clone();
        each.iter()
            .map(|child| {
                let is_folder = child["mimeType"] == "inode/directory";
                (child["uri"].as_str().unwrap_or_default().to_owned(), is_folder)
            })
            .collect()
    };
    let owned = |list: &[(&str, bool)]| -> Vec<(String, bool)> {
        list.iter().map(|(uri, folder)| ((*uri).to_owned(), *folder)).collect()
    };
    assert_eq!(
        children(&mut client, "skill://x/templates"),
        owned(&[("skill://x/templates/deep", true), ("skill://x/templates/a.md", false)])
    );
    assert_eq!(
        children(&mut client, "skill://x"),
        owned(&[
            ("skill://x/scripts", true),
            ("skill://x/templates", true),
            ("skill://x/SKILL.md", false),
            ("skill://x/logo.png", false),
        ])
    );
    for uri in ["skill://x/SKILL.md", "skill://x/nothing", "skill://x/.git", "skill://x/.."] {
        let params = json!({"uri": uri});
        assert_eq!(client.refused("resources/directory/read", params), -32602, "{uri}");
    }
}

#[test]
fn what_cannot_be_served_says_why() {
    let mut machine = machine().skill("work/skills/many", "many");
    for at in 0..512 {
        machine = machine.file(&format!("work/skills/many/files/{at}.txt"), "x");
    }
    let machine =
        machine.file("work/skills/single.md", "---\nname: single\ndescription: one file\n---\n");
    let mut client = Client::session(&machine, json!({}));
    assert_eq!(names(&mut client), ["x"]);
    for (skill, word) in [
        ("many", "too_many_files"),
        ("other-name", "name_rule"),
        ("My Skill", "name_rule"),
        ("repaired", "needs_repair"),
    ] {
        let why = client.call("explain", json!({"skill": skill})).to_string();
        assert!(why.contains(&format!("not_servable: {word}")), "{skill}: {why}");
    }
}

#[test]
fn a_changed_file_has_another_digest_at_once() {
    let machine = machine();
    let mut client = Client::stateless(&machine, json!({}));
    let digest = |client: &mut Client| -> Value {
        let got = client.ask("skills/get", json!({"uri": "skill://x/SKILL.md"}));
        let files = got["skill"]["resources"].as_array().expect("files").clone();
        let found = files.iter().find(|file| file["uri"] == "skill://x/templates/a.md");
        found.expect("the file")["digest"].clone()
    };
    let before = digest(&mut client);
    // Same length, and within the same moment: only the bytes tell.
    machine.write("work/skills/x/templates/a.md", "z");
    let after = digest(&mut client);
    assert_ne!(before, after);
    assert_eq!(after, format!("sha256:{}", content_hash(b"z")));
}

#[test]
fn pages_are_cut_from_one_version() {
    let mut machine = TestMachine::new();
    for at in 0..45 {
        machine = machine.workspace_skill(&format!("s{at:02}"), "");
    }
    let mut client = Client::session(&machine, json!({}));
    assert_eq!(names(&mut client).len(), 45);
    let cursor = client.ask("skills/list", json!({}))["nextCursor"].clone();
    machine.write("work/skills/new/SKILL.md", "---\nname: new\ndescription: d\n---\n");
    assert_eq!(client.refused("skills/list", json!({"cursor": cursor})), -32602);
    assert_eq!(client.refused("skills/list", json!({"cursor": "rubbish"})), -32602);
    assert_eq!(names(&mut client).len(), 46);
}

#[test]
fn addresses_can_begin_with_the_tier() {
    let machine = machine().file("home/.sinew/config.json5", "{mcp: {skill_prefix: 'tier'}}");
    let mut client = Client::session(&machine, json!({}));
    let got = client.ask("skills/get", json!({"uri": "skill://workspace/x/SKILL.md"}));
    assert_eq!(got["skill"]["uri"], "skill://workspace/x/SKILL.md");
    assert_eq!(client.refused("skills/get", json!({"uri": "skill://x/SKILL.md"})), -32602);
    assert_eq!(client.refused("skills/get", json!({"uri": "skill://managed/x/SKILL.md"})), -32602);
}

#[test]
fn an_unknown_resource_is_told_in_each_eras_own_code() {
    let machine = machine();
    let unknown = json!({"uri": "skill://x/nothing.md"});
    let mut session = Client::session(&machine, json!({}));
    let told = session.request("resources/read", unknown.clone());
    assert_eq!((&told["error"]["code"], &told["error"]["data"]), (&json!(-32002), &unknown));
    let mut stateless = Client::stateless(&machine, json!({}));
    let told = stateless.request("resources/read", unknown.clone());
    assert_eq!((&told["error"]["code"], &told["error"]["data"]), (&json!(-32602), &unknown));
}

#[test]
fn what_sinew_knows_lies_at_addresses_of_its_own() {
    let machine = machine();
    let mut client = Client::session(&machine, json!({}));
    let read = |client: &mut Client, uri: &str| {
        let read = client.ask("resources/read", json!({"uri": uri}));
        read["contents"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert!(read(&mut client, "sinew://prompt/available_skills").contains("<name>x</name>"));
    let catalog: Value =
        serde_json::from_str(&read(&mut client, "sinew://catalog")).expect("a document");
    assert_eq!(catalog["counts"]["needs-setup"], 1);
    let why: Value =
        serde_json::from_str(&read(&mut client, "sinew://explain/forge")).expect("a document");
    assert_eq!(why["usable"], false);
    let learned: Value =
        serde_json::from_str(&read(&mut client, "sinew://cortex")).expect("a document");
    assert!(learned["lessons"].is_array(), "{learned}");
    let listed = client.ask("resources/list", json!({}))["resources"].clone();
    let uris: Vec<&str> =
        listed.as_array().into_iter().flatten().filter_map(|r| r["uri"].as_str()).collect();
    assert_eq!(
        uris,
        [
            "sinew://prompt/available_skills",
            "sinew://catalog",
            "sinew://cortex",
            "skill://x/SKILL.md"
        ]
    );
}
