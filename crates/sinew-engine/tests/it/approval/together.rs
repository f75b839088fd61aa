//! Several processes decide at once: one answer holds, and everybody learns which.

use std::process::Stdio;

use sinew_engine::approval::{ConsentAct, ConsentAnswer, ConsentScope};
use sinew_settings::ErrorCode;
use sinew_store::{RecordSeq, StreamTail};

use super::{opened, said};
use crate::cortex::support::parents_engine;

const PROCESSES: usize = 6;
const QUESTIONS: usize = 8;

/// One of those who decide: even ones say yes, odd ones no, each to every question.
#[test]
#[ignore = "started by the test below"]
fn decider() {
    let Some(engine) = parents_engine() else { return };
    let number: usize = std::env::var("SINEW_CHILD_NAME").expect("a number").parse().expect("one");
    let answer = if number.is_multiple_of(2) {
        ConsentAnswer::Yes(ConsentScope::Listed)
    } else {
        ConsentAnswer::No
    };
    let mut waiting = engine.approvals().list(false).expect("a list");
    waiting.rotate_left(number % QUESTIONS);
    for approval in waiting {
        let wanted = if number.is_multiple_of(2) { "approved" } else { "rejected" };
        match engine.approvals().decide(&approval.id, &said(answer)) {
            Ok(decided) => assert_eq!(decided.state.as_str(), wanted),
            Err(error) => assert_eq!(error.code, ErrorCode::AlreadyDecided, "{error}"),
        }
    }
}

on_both! {
    fn of_many_answers_at_once_one_holds(world) {
        world.follow_real_time();
        let engine = world.engine();
        let acts = [
            ConsentAct::Install, ConsentAct::Plan, ConsentAct::Dependency, ConsentAct::SwitchCandidate,
            ConsentAct::Retain, ConsentAct::ProposalApply, ConsentAct::QuarantineRestore, ConsentAct::ConfigWrite,
        ];
        let ids: Vec<String> = acts.into_iter().map(|act| opened(&engine, act)).collect();
        assert_eq!(ids.len(), QUESTIONS);
        let children: Vec<_> = (0..PROCESSES)
            .map(|number| {
                let mut child = world.child("approval::together::decider");
                child.env("SINEW_CHILD_NAME", number.to_string());
                child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a process")
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().expect("its end");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let store = engine.store().expect("a store");
        let answers: Vec<(String, String)> = StreamTail::new(&*store, "audit", RecordSeq::START)
            .filter_map(|entry| {
                let body: serde_json::Value = entry.expect("a row").body.read().expect("JSON");
                let event = body["event"].as_str()?.to_owned();
                (event != "asked").then(|| (body["approval"].as_str().unwrap_or("").to_owned(), event))
            })
            .collect();
        assert_eq!(answers.len(), QUESTIONS, "one answer to each question");
        for (id, event) in answers {
            assert_eq!(engine.approvals().get(&id).expect("an approval").state.as_str(), event);
        }
    }
}
