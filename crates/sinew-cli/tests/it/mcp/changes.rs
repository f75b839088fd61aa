//! Change notices in both eras, each change once.

use std::time::Duration;

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use super::client::Client;

/// Longer than any notice takes on a busy machine; how fast it is, the benches say.
const SOON: Duration = Duration::from_secs(30);
/// Long enough to see that nothing comes.
const A_WHILE: Duration = Duration::from_secs(4);

fn machine() -> TestMachine {
    TestMachine::new().workspace_skill("a", "").file("work/skills/a/notes.md", "one")
}

fn add(machine: &TestMachine, name: &str) {
    let text = format!("---\nname: {name}\ndescription: About {name}\n---\n");
    machine.write(&format!("work/skills/{name}/SKILL.md"), text);
}

#[test]
fn a_session_hears_of_a_new_skill() {
    let machine = machine();
    let mut client = Client::session(&machine, json!({}));
    client.ask("tools/list", json!({}));
    add(&machine, "b");
    for lists in ["resources", "prompts"] {
        let method = format!("notifications/{lists}/list_changed");
        assert!(client.wait_for(&method, SOON).is_some(), "{lists}");
    }
    assert!(client.wait_for("notifications/tools/list_changed", Duration::ZERO).is_none());
}

#[test]
fn a_change_that_a_call_sees_first_is_told_as_well() {
    let machine = machine();
    let mut client = Client::session(&machine, json!({}));
    client.ask("tools/list", json!({}));
    add(&machine, "b");
    let listed = client.data("list_skills", json!({}));
    assert_eq!(listed["skills"].as_array().map(Vec::len), Some(2));
    assert!(client.wait_for("notifications/resources/list_changed", SOON).is_some());
    assert!(client.wait_for("notifications/resources/list_changed", A_WHILE).is_none());
}

fn listen(client: &mut Client, notifications: Value) -> (i64, Value) {
    let id = client.begin("subscriptions/listen", json!({"notifications": notifications}));
    let told = client.wait_for("notifications/subscriptions/acknowledged", SOON);
    (id, told.expect("an acknowledgement"))
}

#[test]
fn a_stream_hears_what_it_asked_for_and_nothing_else() {
    let machine = machine();
    let mut listener = Client::stateless(&machine, json!({}));
    let (id, told) = listen(&mut listener, json!({"resourcesListChanged": true}));
    let tag = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(told["params"]["_meta"][tag], id, "{told}");
    let mut other = Client::stateless(&machine, json!({}));
    listen(&mut other, json!({"toolsListChanged": true}));
    add(&machine, "b");
    let told = listener.wait_for("notifications/resources/list_changed", SOON);
    let told = told.expect("the notice that was asked for");
    assert_eq!(told["params"]["_meta"][tag], id, "{told}");
    assert!(listener.wait_for("notifications/resources/list_changed", A_WHILE).is_none());
    assert!(listener.told.is_empty(), "{:?}", listener.told);
    assert!(other.told.is_empty(), "{:?}", other.told);
}

#[test]
fn followed_files_are_told_of_when_they_change() {
    let machine = machine();
    let uri = "skill://a/notes.md";
    let mut session = Client::session(&machine, json!({}));
    session.ask("resources/subscribe", json!({"uri": uri}));
    let mut stream = Client::stateless(&machine, json!({}));
    listen(&mut stream, json!({"resourceSubscriptions": [uri]}));
    // Both have looked at the file once before it changes.
    std::thread::sleep(Duration::from_secs(3));
    machine.write("work/skills/a/notes.md", "two");
    for client in [&mut session, &mut stream] {
        let told = client.wait_for("notifications/resources/updated", SOON).expect("a notice");
        assert_eq!(told["params"]["uri"], uri);
    }
    session.ask("resources/unsubscribe", json!({"uri": uri}));
    machine.write("work/skills/a/notes.md", "three");
    assert!(session.wait_for("notifications/resources/updated", A_WHILE).is_none());
}

#[test]
fn the_workshop_comes_and_goes_with_the_configuration() {
    let machine = machine();
    let mut client = Client::session(&machine, json!({}));
    let tools = |client: &mut Client| {
        client.ask("tools/list", json!({}))["tools"].as_array().map(Vec::len).unwrap_or_default()
    };
    let before = tools(&mut client);
    std::thread::sleep(Duration::from_secs(2));
    let config = "{plugins: {entries: {'skill-workshop': {enabled: true}}}}";
    machine.write("home/.sinew/config.json5", config);
    assert!(client.wait_for("notifications/tools/list_changed", SOON).is_some());
    assert_eq!(tools(&mut client), before + 2, "one that looks and one that changes");
}
