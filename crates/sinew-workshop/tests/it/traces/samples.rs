//! The sample transcripts, one of each format, against the answers that came with them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use sinew_testkit::shared_data;
use sinew_traces::{fingerprint, judge_run, shown_simhash, simhash, tokens};
use sinew_workshop::LearnResult;

use super::{learn, read};
use crate::bench::Bench;

/// Each sample with its answer.
pub(crate) fn samples() -> Vec<(String, String, Value)> {
    let Some(folder) = shared_data("data/traces") else { return Vec::new() };
    let read = |path: PathBuf| fs::read_to_string(path).expect("a sample");
    let expected: Value =
        serde_json::from_str(&read(folder.join("expected.json"))).expect("answers");
    let samples = expected.as_object().expect("answers by file").iter();
    samples.map(|(name, answer)| (name.clone(), read(folder.join(name)), answer.clone())).collect()
}

/// What is learned from a sample by itself.
fn learned(name: &str) -> Option<LearnResult> {
    let (_, text, _) = samples().into_iter().find(|(sample, ..)| sample == name)?;
    let bench = Bench::new();
    let mut runs = learn(&bench, &text);
    assert_eq!(runs.len(), 1, "{name}");
    assert!(runs[0].draft.is_some(), "{name}: {:?}", runs[0].reason);
    runs.pop()
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

#[test]
fn every_sample_gives_the_expected_run() {
    for (name, text, answer) in samples() {
        let (runs, counts) = read(text.as_bytes());
        assert_eq!(runs.len(), 1, "{name}");
        assert_eq!((counts.malformed, counts.oversize), (0, 0), "{name}");
        let run = &runs[0];
        assert_eq!(run.agent, answer["agent"].as_str().unwrap_or_default(), "{name}");
        assert_eq!(run.task, answer["task"].as_str().unwrap_or_default(), "{name}");
        assert_eq!(Value::from(judge_run(run).ok), answer["ok"], "{name}");
        let apps: Vec<&str> = run.steps.iter().map(|step| step.app.as_str()).collect();
        assert_eq!(apps, words(&answer["apps"]), "{name}");
        let kinds: Vec<&str> = run.steps.iter().map(|step| step.action.kind.as_str()).collect();
        assert_eq!(kinds, words(&answer["types"]), "{name}");
        assert_eq!(Value::from(run.steps.len()), answer["steps"], "{name}");
        assert_eq!(fingerprint(&run.steps), answer["behavior_fingerprint"], "{name}");
        assert_eq!(shown_simhash(simhash(&tokens(&run.steps))), answer["simhash"], "{name}");
        let learned = learned(&name).expect("a sample");
        let draft = learned.draft.expect("a draft");
        // Cleaning changes neither hash.
        assert_eq!(draft.behavior_fingerprint, answer["behavior_fingerprint"], "{name}");
        assert_eq!(draft.simhash, answer["simhash"], "{name}");
        assert_eq!(draft.confidence.as_str(), answer["confidence"], "{name}");
        assert_eq!(Value::from(learned.failed_steps), answer["failed_steps"], "{name}");
        assert_eq!(Value::from(draft.risk.is_some()), answer["human_auth_warning"], "{name}");
    }
}

/// The whole draft of each sample, as it would be written.
#[test]
fn each_sample_becomes_its_draft() {
    for (name, ..) in samples() {
        let learned = learned(&name).expect("a sample");
        let draft = learned.draft.expect("a draft");
        let shown = format!(
            "{}\n{}\n{:?}\n\n{}\n=== script\n{}",
            draft.name,
            draft.description,
            learned.redactions,
            draft.body,
            draft.script.unwrap_or_default()
        );
        insta::with_settings!({snapshot_suffix => name.replace('.', "-")}, {
            insta::assert_snapshot!("draft", shown);
        });
    }
}

#[test]
fn only_the_run_that_probed_without_asking_is_warned_of() {
    for (name, warned) in
        [("openpocket.md", true), ("generic.jsonl", false), ("openpocket.jsonl", false)]
    {
        let Some(learned) = learned(name) else { return };
        let draft = learned.draft.expect("a draft");
        assert_eq!(draft.body.contains("human authorisation is missing"), warned, "{name}");
        let risk = draft.metadata.pointer("/openclaw/generated/risk");
        assert_eq!(risk.is_some_and(|risk| risk == "human_auth_missing"), warned, "{name}");
        let script = draft.script.expect("a script");
        assert_eq!(script.contains("SINEW_ACK_HUMAN_AUTH"), warned, "{name}");
    }
}

#[test]
fn a_failed_step_is_a_pitfall_with_its_fix() {
    let Some(learned) = learned("claude-code.jsonl") else { return };
    let body = learned.draft.expect("a draft").body;
    let pitfalls = body.split("## Pitfalls").nth(1).expect("pitfalls");
    let pitfalls = pitfalls.split("\n## ").next().unwrap_or_default();
    assert!(pitfalls.contains("Step 5") && pitfalls.contains("cargo update"), "{pitfalls}");
}

#[test]
fn each_command_counts_once_and_scaffolding_is_no_task() {
    let Some(learned) = learned("codex.jsonl") else { return };
    let body = learned.draft.expect("a draft").body;
    assert_eq!(body.matches("Run `ls assets/*.png").count(), 1);
    assert!(!body.contains("environment_context"));
}

#[test]
fn a_refusal_with_exit_code_0_failed_and_the_correction_is_captured() {
    let Some(learned) = learned("openclaw.jsonl") else { return };
    assert_eq!(learned.failed_steps, [5]);
    let correction = learned.correction.expect("a proposal of its own");
    assert_eq!(correction.source, sinew_workshop::ProposalSource::AgentEnd);
    assert!(serde_json::to_string(&correction.change).expect("JSON").contains("sort the digest"));
}
