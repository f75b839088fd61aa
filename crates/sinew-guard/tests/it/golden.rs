//! Recorded findings of OpenClaw and of Skill Workshop are a floor.

use sinew_guard::scan::{FindingSeverity, SkillBundle};
use sinew_testkit::shared_data;

use crate::support::scanner;

fn cases(file: &str, section: &str) -> Vec<serde_json::Value> {
    let Some(path) = shared_data(&format!("data/golden/{file}")) else { return Vec::new() };
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    json[section].as_array().cloned().unwrap_or_default()
}

#[test]
fn skill_content_findings_are_at_least_these() {
    for case in cases("openclaw-skills.json", "scanSkillContent") {
        let report = scanner().scan_proposal_text(case["input"].as_str().unwrap());
        for wanted in case["findings"].as_array().unwrap() {
            let severity = if wanted["severity"] == "critical" {
                FindingSeverity::Critical
            } else {
                FindingSeverity::Warn
            };
            let found = report.findings.iter().any(|f| {
                f.rule == wanted["ruleId"].as_str().unwrap()
                    && f.severity >= severity
                    && f.line == wanted["line"].as_u64().unwrap() as usize
            });
            assert!(found, "{case}");
        }
    }
}

#[test]
fn workshop_findings_are_at_least_these() {
    for case in cases("openclaw-workshop.json", "scan") {
        let report = scanner().scan_proposal_text(case["input"].as_str().unwrap());
        let rules: Vec<String> =
            report.findings.iter().map(|f| format!("{}:{}", f.severity.as_str(), f.rule)).collect();
        for wanted in case["rules"].as_array().unwrap() {
            assert!(rules.iter().any(|rule| rule == wanted.as_str().unwrap()), "{case}: {rules:?}");
        }
        if case["rules"].as_array().unwrap().is_empty() {
            assert!(rules.is_empty(), "{case}: {rules:?}");
        }
    }
}

/// Source findings: the rule is reported on the same line. Severities differ on purpose: single
/// tokens are never critical in bundle scope.
#[test]
fn source_findings_name_the_same_lines() {
    let mut missing = Vec::new();
    for case in cases("openclaw-skills.json", "scanSource") {
        let input = case["input"].as_str().unwrap().as_bytes().to_vec();
        let report =
            scanner().scan_bundle(&SkillBundle::from_files([("index.js".to_owned(), input)]));
        for wanted in case["findings"].as_array().unwrap() {
            let line = wanted["line"].as_u64().unwrap() as usize;
            if !report
                .findings
                .iter()
                .any(|f| f.line == line || f.end_line >= line && f.line <= line)
            {
                missing.push(case["case"].as_str().unwrap_or("").to_owned());
            }
        }
    }
    // Narrowed on purpose: a literal argument, and a variable without a bulk sink.
    let known = ["scanSource/4", "scanSource/14"];
    missing.retain(|case| !known.contains(&case.as_str()));
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn environment_classes_agree() {
    use sinew_guard::env::{is_blocked_everywhere, is_blocked_override, is_sensitive};
    for case in cases("openclaw-skills.json", "env") {
        let key = case["key"].as_str().unwrap();
        assert_eq!(
            is_blocked_everywhere(key),
            case["dangerousEverywhere"].as_bool().unwrap(),
            "{case}"
        );
        assert_eq!(
            is_blocked_override(key),
            case["dangerousOverride"].as_bool().unwrap(),
            "{case}"
        );
        assert_eq!(is_sensitive(key), case["sanitizerBlocked"].as_bool().unwrap(), "{case}");
    }
}
