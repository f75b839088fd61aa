//! Every rule has at least three examples that it fires on and three that it does not.

use std::collections::BTreeMap;

use serde::Deserialize;
use sinew_guard::scan::{ScanReport, SkillBundle};

use crate::support::{scanner, skill, summary};

#[derive(Deserialize)]
struct Examples {
    rule: String,
    positive: Vec<Example>,
    negative: Vec<Example>,
}

/// A text is the body of a `SKILL.md`; a map is a tree, with bytes as hexadecimal after `hex:`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Example {
    Body(String),
    Files(BTreeMap<String, String>),
}

fn scan(example: &Example) -> ScanReport {
    let bundle = match example {
        Example::Body(body) => {
            SkillBundle::from_files([("SKILL.md".to_owned(), skill(body).into_bytes())])
        }
        Example::Files(files) => {
            SkillBundle::from_files(files.iter().map(|(path, text)| (path.clone(), bytes(text))))
        }
    };
    let known = ["weather-cast".to_owned(), "mail-merge".to_owned()];
    scanner().clone().with_known_names(known).scan_bundle(&bundle)
}

fn bytes(text: &str) -> Vec<u8> {
    match text.strip_prefix("hex:") {
        Some(hex) => (0..hex.len() / 2)
            .map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap())
            .collect(),
        None => text.as_bytes().to_vec(),
    }
}

/// Rules whose examples need a file system or a failure; other modules test them.
const ELSEWHERE: &[&str] = &[
    "link-entry",
    "special-file",
    "hardlink-entry",
    "scan-failed",
    "oversize-unscannable",
    "too-many-files",
    "decode-limit",
];

#[test]
fn examples_agree_with_the_rules() {
    let all: Vec<Examples> =
        serde_json::from_str(include_str!("../../data/examples.json")).unwrap();
    let mut wrong = Vec::new();
    for examples in &all {
        assert!(examples.positive.len() >= 3 && examples.negative.len() >= 3, "{}", examples.rule);
        let fires = |example: &Example| {
            let report = scan(example);
            (report.findings.iter().any(|f| f.rule == examples.rule), summary(&report))
        };
        for (at, example) in examples.positive.iter().enumerate() {
            let (fired, shown) = fires(example);
            if !fired {
                wrong.push(format!("{} positive {at} is silent: {shown}", examples.rule));
            }
        }
        for (at, example) in examples.negative.iter().enumerate() {
            let (fired, shown) = fires(example);
            if fired {
                wrong.push(format!("{} negative {at} fires: {shown}", examples.rule));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for rule in scanner().rules() {
        let known = all.iter().any(|examples| examples.rule == rule.id)
            || ELSEWHERE.contains(&rule.id.as_str());
        assert!(known, "{} has no examples", rule.id);
    }
}
