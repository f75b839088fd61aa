//! What a person does on pages with one click, in a real Chromium: switches, test cases, runs, versions.

use std::fs;

use serde_json::json;
use sinew_testkit::ClawHubDouble;

use crate::browser::Window;
use crate::forms::{QUIET, learned_run, outdated, rewritten};
use crate::support::machine;

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_is_switched_off_in_the_list_and_on_again() {
    let Some(window) = Window::open(machine()).await else { return };
    window.go("/skills?q=weather").await;
    window.click("button[aria-label='Switch off weather']").await;
    window.says("The skill is switched off").await;
    window
        .until("return document.querySelector('#results .chip').textContent === 'disabled'")
        .await;
    assert_eq!(
        window.eval("return new URLSearchParams(location.search).get('q')").await,
        "weather"
    );
    window.click(".note button[value=enable]").await;
    window.says("The skill is switched on").await;
    window.until("return document.querySelector('#results .chip').textContent === 'ready'").await;
    window.click("button[aria-label='Pin weather']").await;
    window.says("keeps its place in the prompt").await;
    window.click("button[aria-label='Unpin weather']").await;
    window.says("no longer pinned").await;
    assert!(window.complaints().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_kept_as_a_test_case_while_it_is_typed() {
    let Some(window) = Window::open(machine()).await else { return };
    window.go("/route").await;
    window.until("return document.documentElement.classList.contains('scripted')").await;
    let field = window.client.find(fantoccini::Locator::Id("message")).await.expect("a field");
    field.send_keys("write the release notes").await.expect("keys");
    window.until("return document.getElementById('expected')?.value === 'release-notes'").await;
    window.click("#case form button").await;
    window.says("The test case is saved").await;
    let saved = fs::read_to_string(window.server.machine.path("work/evals/route.jsonl"));
    let saved: serde_json::Value =
        serde_json::from_str(saved.expect("a file").trim()).expect("one row");
    assert_eq!(saved["expected"], json!(["release-notes"]));
    assert!(window.complaints().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_looked_at_distilled_and_discarded() {
    let quiet = machine().file("home/.sinew/config.json5", QUIET);
    let Some(window) = Window::open(quiet).await else { return };
    let run = learned_run(&window.server).await;
    window.go("/workshop").await;
    window.click(".tabs a[href='/traces']").await;
    window.says("Publish the release").await;
    window.click(&format!("a[href='/traces?run={run}']")).await;
    window.says("git push --follow-tags").await;
    window.click("form[action$='/distil'] button").await;
    window.says("The run is a proposal now").await;
    window.go("/traces").await;
    window.click("form[action$='/discard'] button").await;
    window.until("return document.getElementById('ask').open").await;
    window.click("#ask-yes").await;
    window.says("The steps of the run were deleted").await;
    window.says("what was done is not kept").await;
    assert!(window.complaints().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_shows_its_change_and_is_taken_back() {
    let Some(window) = Window::open(machine()).await else { return };
    let version = rewritten(&window.server).await;
    let file = window.server.machine.path("work/skills/weather/SKILL.md");
    window.go("/skills/weather").await;
    window.click(&format!("a[href*='version={version}']")).await;
    window.until("return document.querySelector('#history .diff .add') !== null").await;
    window.click("#history form button").await;
    window.until("return document.getElementById('ask').open").await;
    window.click("#ask-yes").await;
    window.says("The write was undone").await;
    assert!(!fs::read_to_string(file).expect("the skill").contains("Say the wind first"));
    assert!(window.complaints().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installed_skill_is_held_and_what_was_learned_is_hidden_and_forgotten() {
    let hub = ClawHubDouble::new();
    let world = machine().var("SINEW_REGISTRY", hub.address());
    let Some(window) = Window::open(world).await else { return };
    outdated(&window.server, &hub).await;
    window.go("/hub").await;
    window.click("button[aria-label='Pin tides']").await;
    window.says("stays at its version").await;
    window.click("button[aria-label='Unpin tides']").await;
    window.says("may be updated again").await;
    let report = json!({"skill": "tides", "region": "harbours", "outcome": "success"});
    window.server.post("/outcomes", &report).await;
    window.go("/cortex").await;
    let slug = window.client.find(fantoccini::Locator::Id("slug")).await.expect("a field");
    slug.send_keys("tides").await.expect("keys");
    window.click("form[action='/cortex/blacklist'] .danger").await;
    window.says("no longer offered").await;
    window.click("form[action='/cortex/reset'] button").await;
    window.until("return document.getElementById('ask').open").await;
    window.click("#ask-yes").await;
    window.says("What was learned there is forgotten").await;
    assert!(window.complaints().await.is_empty());
}
