//! The official conformance suite against the program that people install.
//!
//! The suite reaches servers over HTTP and sends no token, so the listener is one of this machine that
//! asks for none. Every scenario of the suite is in one of the two tables below; a scenario that the
//! suite gains is in neither, and the test says so. The tasks extension is not declared, and its
//! scenarios are not claimed.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use serde_json::json;
use sinew_testkit::{NpmPackages, TestMachine};

use super::fixture::Fixture;
use super::http::Served;
use super::node::{protocol_tools, said};

/// The revision of the newer era.
const NEW: &str = "2026-07-28";
/// Run without naming a revision: the old era, or an extension, which a named revision would skip.
const OLD: &str = "";

/// What passes, and under which revisions it is run.
const PASSES: &[(&str, &[&str])] = &[
    ("server-initialize", &[OLD]),
    ("server-session-lifecycle", &[OLD]),
    ("server-stateless", &[NEW]),
    ("ping", &[OLD]),
    ("completion-complete", &[OLD, NEW]),
    ("tools-list", &[OLD, NEW]),
    ("server-sse-polling", &[OLD]),
    ("server-sse-multiple-streams", &[OLD, NEW]),
    ("resources-list", &[OLD, NEW]),
    ("resources-subscribe", &[OLD]),
    ("resources-unsubscribe", &[OLD]),
    ("sep-2164-resource-not-found", &[NEW]),
    ("sep-2640-skills-directory", &[OLD]),
    ("sep-2640-skills-enumeration", &[OLD]),
    ("sep-2640-skills-manifest", &[OLD]),
    ("prompts-list", &[OLD, NEW]),
    ("dns-rebinding-protection", &[OLD, NEW]),
    ("caching", &[NEW]),
    ("http-header-validation", &[NEW]),
    ("input-required-result-missing-input-response", &[NEW]),
    ("input-required-result-unsupported-methods", &[NEW]),
    ("input-required-result-ignore-extra-params", &[NEW]),
    ("input-required-result-validate-input", &[NEW]),
];

/// Scenarios whose warnings would be mistakes of ours; in others the suite warns that a tool of its own
/// is missing.
const SPOTLESS: &str = "sep-2640-";

/// Checks of `server-stateless` that call tools of the suite's own; they run with [`WITH_FIXTURES`].
const UNTESTABLE: &[&str] = &[
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
    "server-stateless:sep-2575-missing-capability-http-400",
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
    "server-stateless:sep-2575-server-no-log-without-loglevel",
    "server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription",
    "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription",
];

/// What calls tools, prompts and resources of the suite's own, which a product does not have: it runs
/// against [`Fixture`], the same server with these around it.
const WITH_FIXTURES: &[(&str, &[&str])] = &[
    ("server-stateless", &[NEW]),
    ("logging-set-level", &[OLD]),
    ("tools-call-simple-text", &[OLD, NEW]),
    ("tools-call-image", &[OLD, NEW]),
    ("tools-call-audio", &[OLD, NEW]),
    ("tools-call-embedded-resource", &[OLD, NEW]),
    ("tools-call-mixed-content", &[OLD, NEW]),
    ("tools-call-with-logging", &[OLD]),
    ("tools-call-error", &[OLD, NEW]),
    ("tools-call-with-progress", &[OLD, NEW]),
    ("tools-call-sampling", &[OLD]),
    ("tools-call-elicitation", &[OLD]),
    ("json-schema-2020-12", &[OLD, NEW]),
    ("elicitation-sep1034-defaults", &[OLD]),
    ("elicitation-sep1330-enums", &[OLD]),
    ("resources-read-text", &[OLD, NEW]),
    ("resources-read-binary", &[OLD, NEW]),
    ("resources-templates-read", &[OLD, NEW]),
    ("resources-subscribe", &[OLD]),
    ("resources-unsubscribe", &[OLD]),
    ("prompts-get-simple", &[OLD, NEW]),
    ("prompts-get-with-args", &[OLD, NEW]),
    ("prompts-get-embedded-resource", &[OLD, NEW]),
    ("prompts-get-with-image", &[OLD, NEW]),
    ("http-custom-header-server-validation", &[NEW]),
    ("input-required-result-basic-elicitation", &[NEW]),
    ("input-required-result-basic-sampling", &[NEW]),
    ("input-required-result-basic-list-roots", &[NEW]),
    ("input-required-result-request-state", &[NEW]),
    ("input-required-result-multiple-input-requests", &[NEW]),
    ("input-required-result-multi-round", &[NEW]),
    ("input-required-result-missing-input-response", &[NEW]),
    ("input-required-result-non-tool-request", &[NEW]),
    ("input-required-result-result-type", &[NEW]),
    ("input-required-result-tampered-state", &[NEW]),
    ("input-required-result-capability-check", &[NEW]),
    ("input-required-result-ignore-extra-params", &[NEW]),
    ("input-required-result-validate-input", &[NEW]),
];

/// Scenarios of extensions that are not declared.
const NOT_CLAIMED: &str = "tasks-";

/// Five skills, one of them with 40 files.
pub(super) fn machine() -> TestMachine {
    let mut machine =
        TestMachine::new().file("home/.sinew/config.json5", "{mcp: {require_token: false}}");
    for name in ["alpha", "beta", "gamma", "delta", "epsilon"] {
        machine = machine.workspace_skill(name, "license: MIT");
    }
    for at in 1..40 {
        machine = machine.file(&format!("work/skills/alpha/references/{at}.md"), format!("{at}"));
    }
    machine
}

/// Scenarios at a time: most of each is waiting for streams that time out.
const AT_ONCE: usize = 3;

/// Runs scenarios, and gives what was said where one did not pass as a whole.
fn run(
    node: &NpmPackages,
    url: &str,
    scenarios: &[(&str, &[&str])],
    more: impl Fn(&str) -> Vec<String> + Sync,
) -> Vec<String> {
    let all = scenarios.iter().flat_map(|(scenario, revisions)| {
        revisions.iter().map(move |revision| (*scenario, *revision))
    });
    let queue = Mutex::new(all.collect::<Vec<_>>().into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || queue.lock().expect("no panic").next();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((scenario, revision)) = next() {
                    if let Err(said) = run_one(node, url, scenario, revision, more(scenario)) {
                        failed.lock().expect("no panic").push(said);
                    }
                }
            });
        }
    });
    failed.into_inner().expect("no panic")
}

fn run_one(
    node: &NpmPackages,
    url: &str,
    scenario: &str,
    revision: &str,
    more: Vec<String>,
) -> Result<(), String> {
    let mut command = node.command("conformance");
    command.args(["server", "--url", url, "--scenario", scenario]).args(more);
    if revision != OLD {
        command.args(["--spec-version", revision]);
    }
    let output = command.current_dir(std::env::temp_dir()).output().expect("the suite runs");
    let said = said(&output);
    let whole = output.status.success() && !said.contains("SKIPPED") && said.contains("Passed:");
    let spotless = !scenario.starts_with(SPOTLESS) || said.contains("0 failed, 0 warnings");
    if whole && spotless { Ok(()) } else { Err(format!("{scenario} {revision}:\n{said}")) }
}

#[test]
fn every_applicable_scenario_passes() {
    let Some(node) = protocol_tools() else { return };
    let machine = machine();
    let served = Served::start(&machine);
    let baseline = machine.path("baseline.yml");
    let expected = json!({"server": UNTESTABLE});
    std::fs::write(&baseline, expected.to_string()).expect("YAML reads JSON");
    let failed = run(&node, &served.url, PASSES, |scenario| match scenario {
        "server-stateless" => {
            vec!["--expected-failures".to_owned(), baseline.display().to_string()]
        }
        _ => Vec::new(),
    });
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn with_the_suites_own_tools_around_it_everything_else_passes_as_well() {
    let Some(node) = protocol_tools() else { return };
    let config = "{plugins: {entries: {'skill-workshop': {enabled: false}}}}";
    let machine = machine().file("home/.sinew/config.json5", config);
    let served = Fixture::start(&machine);
    let failed = run(&node, &served.url, WITH_FIXTURES, |_| Vec::new());
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn every_scenario_of_the_suite_is_accounted_for() {
    let Some(node) = protocol_tools() else { return };
    let output = node.command("conformance").args(["list", "--server"]).output();
    let listed = said(&output.expect("the suite runs"));
    let listed: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next())
        .filter(|scenario| !scenario.starts_with(NOT_CLAIMED))
        .collect();
    let known: BTreeSet<&str> =
        PASSES.iter().chain(WITH_FIXTURES).map(|(scenario, _)| *scenario).collect();
    assert!(listed.len() > 50, "{listed:?}");
    assert_eq!(listed, known);
}
