//! Acquisitions over HTTP: the states are those of every surface, and a program never approves.

use axum::http::StatusCode;
use serde_json::{Value, json};
use sinew_testkit::ClawHubDouble;

use crate::support::{Browser, Server, machine};

fn registry() -> ClawHubDouble {
    let hub = ClawHubDouble::new();
    let text = "---\nname: tides\ndescription: Tells the tides of a harbour\n---\n\n\
                1. Look up the harbour\n2. Tell when the water is high\n";
    hub.publish("ada", "tides", "1.0.0", &[("SKILL.md", text)]);
    hub
}

/// A person's yes to what a run waits for.
async fn approve(browser: &Browser<'_>, standing: &Value) {
    let id = standing["waits"]["approval"]["id"].as_str().expect("an approval");
    let path = format!("/approvals/{id}/decision");
    let answer = browser.call("POST", &path, &json!({"decision": "approve"})).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_acquires_and_a_person_approves() {
    let hub = registry();
    let server = Server::on(machine().var("SINEW_REGISTRY", hub.address()));
    let wish = json!({"task": "when is high water in the harbour", "reference": "tides"});
    let begun = server.post("/acquire", &wish).await;
    assert_eq!(begun.status, StatusCode::CREATED, "{}", begun.text);
    let begun = begun.json();
    assert_eq!((&begun["state"], &begun["waits"]["for"]), (&json!("approve"), &json!("approval")));
    assert_eq!(begun["candidates"][0]["slug"], "tides");
    let run = format!("/acquire/{}", begun["run"].as_str().expect("a run"));
    // The token of a program answers nothing, and going on without an answer waits.
    let id = begun["waits"]["approval"]["id"].as_str().expect("an approval");
    let path = format!("/approvals/{id}/decision");
    let refused = server.post(&path, &json!({"decision": "approve"})).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);
    let go_on = json!({"action": "continue"});
    let waiting = server.post(&run, &go_on).await.json();
    assert_eq!(waiting["waits"]["for"], "approval", "{waiting}");
    let browser = server.browser().await;
    approve(&browser, &waiting).await;
    let planned = server.post(&run, &go_on).await.json();
    assert_eq!(planned["state"], "plan", "{planned}");
    approve(&browser, &planned).await;
    let ready = server.post(&run, &go_on).await.json();
    assert_eq!((&ready["state"], &ready["waits"]["for"]), (&json!("execute"), &json!("use")));
    let open = server.get("/acquire").await.json();
    assert_eq!(open["runs"][0]["run"], begun["run"], "{open}");
    // The pages show what is open, and what is there for it.
    let run_id = begun["run"].as_str().expect("a run");
    let health = browser.get("/health").await.text;
    assert!(health.contains(run_id), "{health}");
    let hub_page = browser.get("/hub").await.text;
    assert!(hub_page.contains("short-term"), "{hub_page}");
    let report = json!({"run": begun["run"], "outcome": "success"});
    let told = server.post("/outcomes", &report).await;
    assert_eq!(told.status, StatusCode::CREATED, "{}", told.text);
    let over = server.get(&run).await.json();
    assert_eq!(over["state"], "done(released)", "{over}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_and_odd_steps_are_refused() {
    let hub = registry();
    let server = Server::on(machine().var("SINEW_REGISTRY", hub.address()));
    let wish = json!({"task": "when is high water in the harbour", "reference": "tides"});
    let begun = server.post("/acquire", &wish).await.json();
    let run = format!("/acquire/{}", begun["run"].as_str().expect("a run"));
    for step in [
        json!({"action": "pick"}),
        json!({"action": "continue", "skill": "tides"}),
        json!({"action": "pick", "skill": "none-such"}),
    ] {
        let answer = server.post(&run, &step).await;
        assert!(answer.status.is_client_error(), "{step}: {}", answer.text);
    }
    let over = server.post(&run, &json!({"action": "cancel"})).await.json();
    assert_eq!(over["state"], "aborted(cancelled)", "{over}");
    let local = json!({"task": "look", "reference": "./tides"});
    assert!(server.post("/acquire", &local).await.status.is_client_error());
}

#[tokio::test]
async fn a_person_declares_a_skill_read_only_on_a_page() {
    let server = Server::new();
    let browser = server.browser().await;
    let digest = format!("sha256:{}", "4f".repeat(32));
    let fields = [("slug", "weather"), ("digest", digest.as_str())];
    let done = browser.submit("/cortex/read-only", &fields).await;
    assert_eq!(done.header("location"), "/cortex?done=declared", "{}", done.text);
    let page = browser.get("/cortex").await.text;
    assert!(page.contains(&digest) && page.contains("Take back"), "{page}");
    let back = [("slug", "weather"), ("digest", digest.as_str()), ("revoke", "1")];
    browser.submit("/cortex/read-only", &back).await;
    assert!(!browser.get("/cortex").await.text.contains(&digest));
}
