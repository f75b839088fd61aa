//! The configuration as its surfaces show it.

use serde_json::{Value, json};
use sinew_engine::{ConfigView, Engine, EngineOptions};
use sinew_testkit::TestMachine;

fn with_config(config: &str, check: impl FnOnce(ConfigView<'_>)) {
    let machine = TestMachine::new().file("home/.sinew/config.json5", config);
    let engine = Engine::open(machine.environment(), EngineOptions::default()).expect("an engine");
    check(engine.settings().config_view());
}

/// What is shown for a key: the value, and whether the file says so.
fn shown(view: &ConfigView<'_>, key: &str) -> (Value, bool) {
    let value = view.values.iter().find(|value| value.key == key).expect("a key of the table");
    (value.value.clone(), value.set)
}

#[test]
fn what_is_shown_is_what_holds() {
    let config = "{
        cortex: {window_hours: 24, policy: 'BAYES'},
        hook: {maxChars: 20},
        traces: {sources: ['codex', 'codx']},
        plugins: {entries: {'skill-workshop': {config: {reviewInterval: 999}}}},
    }";
    with_config(config, |view| {
        assert_eq!(shown(&view, "cortex.windowHours"), (json!(24), true), "an older spelling");
        assert_eq!(shown(&view, "cortex.policy"), (json!("bayes"), true));
        assert_eq!(shown(&view, "hook.maxChars"), (json!(6000), false), "refused");
        assert_eq!(shown(&view, "hook.deadlineMs"), (json!(300), false));
        assert_eq!(shown(&view, "traces.sources"), (json!(["codex"]), true), "the usable part");
        let interval = "plugins.entries.skill-workshop.config.reviewInterval";
        assert_eq!(shown(&view, interval), (json!(200), true), "corrected");
        assert_eq!(view.issues.len(), 3, "{:?}", view.issues);
    });
}

/// A process was killed between making the file and writing it.
#[test]
#[cfg(unix)]
fn an_empty_token_file_is_replaced() {
    let machine = TestMachine::new().file("home/.sinew/token", "");
    machine.chmod("home/.sinew", 0o700);
    machine.chmod("home/.sinew/token", 0o600);
    let engine = Engine::open(machine.environment(), EngineOptions::default()).expect("an engine");
    let token = engine.settings().access_token().expect("a token");
    assert!(token.len() >= 32, "{token}");
    assert_eq!(engine.settings().access_token().expect("the same token"), token);
}

#[test]
fn no_secret_is_shown() {
    let config = "{
        route: {remote: {apiKey: 'hunter2'}},
        security: {installPolicy: {exec: {env: {TOKEN: 'hunter3', PIN: 4711}}}},
        skills: {entries: {x: {apiKey: 'hunter4', env: {K: 'hunter5', L: 4711}}}},
    }";
    with_config(config, |view| {
        assert_eq!(shown(&view, "route.remote.apiKey"), (json!("(set)"), true));
        let env = json!({"TOKEN": "(set)"});
        assert_eq!(shown(&view, "security.installPolicy.exec.env"), (env, true));
        let text = serde_json::to_string(&view).expect("JSON");
        assert!(!text.contains("hunter") && !text.contains("4711"), "{text}");
    });
}
