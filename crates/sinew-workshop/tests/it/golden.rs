//! Vectors recorded from the real plugin: every one of them.

use serde_json::Value;
use sinew_settings::config::CaptureProfile;
use sinew_testkit::shared_data;
use sinew_workshop::{
    CaptureGuards, CaptureVerdict, ProposalChange, count_tool_calls, judge_message, judge_turn,
    normalise_name,
};

fn golden() -> Option<Value> {
    let path = shared_data("data/golden/openclaw-workshop.json")?;
    let text = std::fs::read_to_string(path).expect("the vectors can be read");
    Some(serde_json::from_str(&text).expect("the vectors are JSON"))
}

fn cases<'g>(golden: &'g Value, section: &str) -> &'g [Value] {
    golden[section].as_array().expect("a section")
}

#[test]
fn heuristic_captures_what_the_plugin_captured() {
    let Some(golden) = golden() else { return };
    for case in cases(&golden, "heuristic") {
        let input = case["input"].as_str().expect("an input");
        let long =
            input.strip_prefix("1200 chars: ").map(|_| format!("{} next time", "x".repeat(1190)));
        let message = long.as_deref().unwrap_or(input);
        assert_eq!(
            message.encode_utf16().count(),
            case["len"].as_u64().expect("a length") as usize
        );
        let verdict = judge_message(message, CaptureProfile::Reference, CaptureGuards::On);
        let expected = &case["result"];
        if expected.is_null() {
            assert!(!matches!(verdict, CaptureVerdict::Captured(_)), "{}", case["case"]);
            continue;
        }
        let CaptureVerdict::Captured(found) = verdict else {
            panic!("{}: {verdict:?}", case["case"])
        };
        let ProposalChange::Create { description, body, .. } = found.change() else {
            panic!("create")
        };
        assert_eq!(expected["skillName"], found.topic.skill);
        assert_eq!(expected["title"], found.topic.title);
        assert_eq!(expected["reason"], found.reason());
        assert_eq!(expected["source"], "agent_end");
        assert_eq!(expected["change"]["kind"], "create");
        assert_eq!(expected["change"]["description"], description);
        // Bodies are compared up to the two reminders, which are in our own words.
        let before = |body: &str| body.lines().take(5).collect::<Vec<_>>().join("\n");
        assert_eq!(before(expected["change"]["body"].as_str().expect("a body")), before(&body));
    }
}

#[test]
fn the_last_match_wins_as_in_the_plugin() {
    let Some(golden) = golden() else { return };
    let messages = golden["setup"]["lastMatchWins"]["messages"].as_array().expect("messages");
    let (found, _) = judge_turn(messages, CaptureProfile::Reference);
    assert_eq!(golden["lastMatchWins"], found.expect("a correction").topic.skill);
}

#[test]
fn names_are_normalised_as_in_the_plugin() {
    let Some(golden) = golden() else { return };
    for case in cases(&golden, "names") {
        let input = case["input"].as_str().expect("an input");
        assert_eq!(case["normalized"], normalise_name(input), "{}", case["case"]);
    }
}

#[test]
fn tool_calls_are_counted_as_in_the_plugin() {
    let Some(golden) = golden() else { return };
    for case in cases(&golden, "countToolCalls") {
        let messages = case["input"].as_array().expect("messages");
        assert_eq!(case["count"], count_tool_calls(messages), "{}", case["case"]);
    }
}

/// A floor: the guard reports at least what the plugin's seven rules reported.
#[test]
fn the_scan_reports_at_least_what_the_plugin_reported() {
    let Some(golden) = golden() else { return };
    let scanner = sinew_guard::scan::Scanner::new();
    for case in cases(&golden, "scan") {
        let report = scanner.scan_proposal_text(case["input"].as_str().expect("an input"));
        for rule in case["rules"].as_array().expect("rules") {
            let (severity, id) = rule.as_str().and_then(|r| r.split_once(':')).expect("a rule");
            let found = report.findings.iter().find(|finding| finding.rule == id);
            let found = found.unwrap_or_else(|| panic!("{}: {id}", case["case"]));
            assert_eq!(found.severity.as_str(), severity, "{}", case["case"]);
        }
    }
}
