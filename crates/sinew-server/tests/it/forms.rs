//! What a person changes through pages: updates, agents, what was learned.

use std::fs;

use axum::http::StatusCode;
use serde_json::json;
use sinew_testkit::{ClawHub, Machine};

use crate::support::{Browser, Server, machine};

/// A machine whose skills come from a registry on loopback.
fn beside(hub: &ClawHub) -> Machine {
    machine().var("SINEW_REGISTRY", hub.address())
}

fn tides(more: &str) -> String {
    format!(
        "---\nname: tides\ndescription: Tells the tides of a harbour\n---\n\n# Tides\n\n{more}\n"
    )
}

/// A server on which an older version of a skill is installed than the registry has.
pub(crate) async fn outdated(server: &Server, hub: &ClawHub) {
    hub.publish("ada", "tides", "1.0.0", &[("SKILL.md", &tides("Look into the table."))]);
    let browser = server.browser().await;
    let asked = browser.submit("/hub/install", &[("reference", "tides")]).await;
    assert_eq!(asked.header("location"), "/hub?done=asked", "{}", asked.text);
    say_yes(server, &browser).await;
    let newer = tides("Ask with `curl https://api.tides.example/v1`, and set `TIDES_TOKEN`.");
    hub.publish("ada", "tides", "1.1.0", &[("SKILL.md", &newer), ("more.md", "more\n")]);
}

/// Says yes to the one question that waits.
async fn say_yes(server: &Server, browser: &Browser<'_>) {
    let waiting = server.all("/approvals").await;
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let id = waiting[0]["id"].as_str().expect("an id");
    let yes = browser.submit(&format!("/approvals/{id}"), &[("decision", "approve")]).await;
    assert_eq!(yes.header("location"), "/?done=approved", "{}", yes.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_shows_what_it_can_do_and_waits_for_a_yes() {
    let hub = ClawHub::new();
    let server = Server::on(beside(&hub));
    outdated(&server, &hub).await;
    let browser = server.browser().await;
    let before = hub.requests().len();
    let quiet = browser.get("/hub").await.text;
    assert!(quiet.contains("Look for updates") && !quiet.contains("1.1.0"), "{quiet}");
    assert_eq!(hub.requests().len(), before, "nobody is asked unless somebody wants to know");
    let page = browser.get("/hub?updates=1").await.text;
    assert!(page.contains("1.0.0 → 1.1.0"), "{page}");
    assert!(page.contains("It can now") && page.contains("api.tides.example"), "{page}");
    assert!(page.contains("1 new, 1 changed, 0 gone"), "{page}");
    assert!(page.contains("+Ask with"), "the text that changes: {page}");

    let update = [("key", "tides"), ("place", "workspace")];
    let asked = browser.submit("/hub/update", &update).await;
    assert_eq!(asked.header("location"), "/hub?done=asked", "{}", asked.text);
    let file = server.machine.path("work/skills/tides/SKILL.md");
    assert!(!fs::read_to_string(&file).expect("the skill").contains("api.tides.example"));
    say_yes(&server, &browser).await;
    assert!(fs::read_to_string(&file).expect("the skill").contains("api.tides.example"));
    let done = browser.submit("/hub/update", &update).await;
    assert_eq!(done.header("location"), "/hub?done=updated", "nothing newer: {}", done.text);
    let page = browser.get("/hub?updates=1").await.text;
    assert!(page.contains("1 skill is") && page.contains("current"), "{page}");
    hub.remove("ada", "tides");
    let page = browser.get("/hub?updates=1").await.text;
    assert!(page.contains("could not be compared"), "{page}");
}

#[tokio::test]
async fn an_agent_is_connected_and_disconnected_after_a_look_at_the_change() {
    let server = Server::on(machine().file("home/.cursor/mcp.json", "{}\n"));
    let browser = server.browser().await;
    let health = browser.get("/health").await.text;
    assert!(health.contains("href=\"/agents/cursor\""), "{health}");
    let page = browser.get("/agents/cursor").await.text;
    assert!(page.contains("+") && page.contains("mcpServers") && page.contains(">Connect<"));
    let file = server.machine.path("home/.cursor/mcp.json");
    assert_eq!(fs::read_to_string(&file).expect("a file"), "{}\n", "looking changes nothing");
    let done = browser.submit("/agents/cursor", &[("set", "connect")]).await;
    assert_eq!(done.header("location"), "/health?done=connected", "{}", done.text);
    assert!(fs::read_to_string(&file).expect("a file").contains("\"sinew\""));
    let page = browser.get("/agents/cursor").await.text;
    assert!(page.contains(">Disconnect<") && page.contains("as it was before"), "{page}");
    browser.submit("/agents/cursor", &[("set", "disconnect")]).await;
    assert_eq!(fs::read_to_string(&file).expect("a file"), "{}\n");
    assert_eq!(browser.get("/agents/nobody").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_was_learned_is_exported_and_forgotten() {
    let server = Server::new();
    let browser = server.browser().await;
    for region in ["tasks", "images"] {
        let report = json!({"skill": "todo", "region": region, "outcome": "success"});
        server.post("/outcomes", &report).await;
    }
    let file = browser.get("/cortex/export").await;
    assert!(file.header("content-disposition").contains("cortex.json"));
    assert!(file.json().to_string().contains("tasks"), "{}", file.text);
    let gone = browser.submit("/cortex/reset", &[("region", "tasks")]).await;
    assert_eq!(gone.header("location"), "/cortex?done=forgotten", "{}", gone.text);
    let page = browser.get("/cortex").await.text;
    assert!(page.contains("<option>images") && !page.contains("<option>tasks"), "{page}");
    let lines = browser.get("/activity.jsonl?kind=outcome").await;
    assert_eq!(lines.text.lines().count(), 2, "{}", lines.text);
    for line in lines.text.lines() {
        let one: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(one["kind"], "outcome");
    }
}
