//! What attackers send.

use axum::http::StatusCode;
use serde_json::json;
use sinew_testkit::TestMachine;

use crate::support::{SCRIPT, Server, machine};

#[cfg(unix)]
#[tokio::test]
async fn no_path_leads_out_of_a_skill() {
    let machine = machine()
        .file("work/secret.txt", "marker")
        .link("work/skills/release-notes/link.txt", "work/secret.txt");
    let server = Server::on(machine);
    for path in [
        "..%2F..%2Fsecret.txt",
        "%2Fetc%2Fpasswd",
        "references%2F..%2F..%2F..%2Fsecret.txt",
        "link.txt",
        "..%5C..%5Csecret.txt",
        "SKILL.md%00.txt",
        "%252e%252e%252fsecret.txt",
        ".",
    ] {
        let answer = server.get(&format!("/skills/release-notes/files/{path}")).await;
        assert!(answer.status.is_client_error() || answer.status == 503, "{path}: {answer:?}");
        assert!(!answer.text.contains("marker"), "{path}");
    }
    let named = server.get("/skills/..%2F..%2Fsecret.txt").await;
    assert_eq!(named.status, StatusCode::NOT_FOUND);
}

/// A hostile name in every field is returned as text, in JSON, and breaks nothing.
#[tokio::test]
async fn a_hostile_name_is_only_a_name() {
    let hostile = format!("{SCRIPT}\u{1b}[31m\u{202e}'\"%00../..");
    let skill = format!(
        "---\nname: {name}\ndescription: {name}\nmetadata: {{openclaw: {{emoji: {name}, homepage: {name}}}}}\n---\n{hostile}\n",
        name = serde_json::to_string(&hostile).expect("a string")
    );
    let server = Server::on(machine().file("work/skills/evil/SKILL.md", skill));
    let wide = [json!({"message": hostile}), json!({"message": "x", "intent": hostile})];
    for body in &wide {
        let answer = server.post("/route", body).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("content-type"), "application/json");
    }
    let encoded: String = hostile.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for path in [
        format!("/skills/{encoded}"),
        format!("/skills/{encoded}/files/{encoded}"),
        format!("/skills?q={encoded}"),
        format!("/skills?tag={encoded}"),
        format!("/skills?tier={encoded}"),
        format!("/cortex/regions/{encoded}"),
        format!("/proposals/{encoded}"),
        format!("/proposals/{encoded}/diff"),
        format!("/approvals/{encoded}"),
        format!("/activity?kind={encoded}&actor={encoded}&skill={encoded}"),
        format!("/events?kinds={encoded}"),
    ] {
        let answer = server.get(&path).await;
        assert!(answer.status.as_u16() < 500, "{path}: {answer:?}");
        assert!(answer.header("content-type").contains("json"), "{path}");
        let _ = answer.json();
    }
    for (path, body) in [
        ("/proposals", json!({"skillName": hostile, "body": hostile, "description": hostile})),
        ("/proposals", json!({"skillName": "ok", "body": hostile, "title": hostile})),
        ("/outcomes", json!({"skill": hostile, "region": hostile, "outcome": "success"})),
        ("/cortex/blacklist", json!({"slug": hostile, "reason": hostile})),
        ("/scan", json!({"skill": hostile})),
        ("/skills/validate", json!({"text": hostile, "name": hostile})),
    ] {
        let answer = server.post(path, &body).await;
        assert!(answer.status.as_u16() < 500, "{path}: {answer:?}");
    }
}

/// Values of variables and keys come out nowhere.
#[tokio::test]
async fn no_answer_holds_the_value_of_a_variable() {
    let marker = "marker-value-3141";
    let machine = TestMachine::new()
        .var("SECRET_TOKEN", marker)
        .file(
            "home/.sinew/config.json5",
            format!(
                r#"{{skills: {{entries: {{wants: {{for: "wants", apiKey: "{marker}", env: {{OTHER: "{marker}"}}}}}}}},
                    plugins: {{entries: {{"skill-workshop": {{enabled: true}}}}}}}}"#
            ),
        )
        .workspace_skill(
            "wants",
            "metadata: {openclaw: {primaryEnv: SECRET_TOKEN, requires: {env: [SECRET_TOKEN]}}}",
        );
    let server = Server::on(machine);
    for path in [
        "/skills",
        "/skills/wants",
        "/skills/wants/files/SKILL.md",
        "/prompt",
        "/cortex",
        "/outcomes",
        "/approvals",
        "/proposals",
        "/activity",
        "/version",
        "/config",
        "/openapi.json",
    ] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        assert!(!answer.text.contains(marker), "{path}");
    }
    let asked = json!({"message": "about wants", "include_prompt": true});
    assert!(!server.post("/route", &asked).await.text.contains(marker));
}
