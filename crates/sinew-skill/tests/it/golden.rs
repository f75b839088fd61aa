//! Vectors recorded from the real OpenClaw: front matter and names.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use sinew_settings::ReasonSeverity;
use sinew_skill::names::{command_name, index_name};
use sinew_skill::{parse_front_matter, split_front_matter};
use sinew_testkit::shared_data;

use crate::support::openclaw;

fn section(name: &str) -> Option<Vec<Json>> {
    let path = shared_data("data/golden/openclaw-skills.json")?;
    let text = std::fs::read_to_string(path).expect("readable");
    let mut golden: Json = serde_json::from_str(&text).expect("JSON");
    match golden[name].take() {
        Json::Array(cases) => Some(cases),
        other => panic!("no section {name}: {other}"),
    }
}

/// Cases in which sinew differs from OpenClaw on purpose.
const DELIBERATE: &[(&str, &str)] =
    &[("frontmatter/14", "an unquoted colon is repaired under every key, not only three of them")];

#[test]
fn front_matter_agrees() {
    let Some(cases) = section("frontmatter") else { return };
    let (mut compared, mut differing) = (0, Vec::new());
    for case in &cases {
        let id = case["case"].as_str().expect("an id");
        if DELIBERATE.iter().any(|(deliberate, _)| *deliberate == id) {
            let text = case["input"].as_str().expect("an input");
            let outcome = openclaw(text.as_bytes());
            assert!(outcome.skill.is_some() && outcome.reasons[0].severity == ReasonSeverity::Warn);
            continue;
        }
        compared += 1;
        let (ours, theirs) = (ours(case), theirs(case));
        if ours != theirs {
            differing.push(format!("{id}: ours {ours:?}, theirs {theirs:?}"));
        }
    }
    assert_eq!(differing, Vec::<String>::new());
    assert_eq!(compared, cases.len() - DELIBERATE.len());
}

/// The flattened fields and the two booleans, or the code of the error.
type View = Result<(BTreeMap<String, String>, bool, bool), String>;

fn ours(case: &Json) -> View {
    let text = case["input"].as_str().expect("an input");
    let code = |detail: &str| Err(detail.split(':').next().unwrap_or_default().to_owned());
    let fenced = match split_front_matter(text) {
        Ok(fenced) => fenced,
        Err(reason) => return code(&reason.detail),
    };
    let front = match fenced.front.map(|front| parse_front_matter(front, fenced.front_line)) {
        None => return Ok((BTreeMap::new(), true, false)),
        Some(Ok(front)) => front,
        Some(Err(reason)) => return code(&reason.detail),
    };
    // The policy is read only from a file that loads; the recorded inputs may lack a description.
    let whole = format!("---\ndescription: d\n{}", text.trim_start_matches("---\n"));
    let skill = openclaw(text.as_bytes()).skill.or_else(|| openclaw(whole.as_bytes()).skill);
    let invocation = skill.map(|skill| skill.invocation).unwrap_or_default();
    Ok((
        front.fields.flattened().into_iter().collect(),
        invocation.user_invocable,
        invocation.disable_model_invocation,
    ))
}

fn theirs(case: &Json) -> View {
    if let Some(error) = case["error"].as_str() {
        return Err(error.split(':').nth(1).unwrap_or_default().trim().to_owned());
    }
    let fields = case["frontmatter"].as_object().expect("fields");
    let text = |value: &Json| value.as_str().expect("flattened values are text").to_owned();
    let policy = |key: &str| case["policy"][key].as_bool().expect("a boolean");
    Ok((
        fields.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        policy("userInvocable"),
        policy("disableModelInvocation"),
    ))
}

#[test]
fn names_agree() {
    let Some(cases) = section("names") else { return };
    for case in &cases {
        let name = case["input"].as_str().expect("an input");
        assert_eq!(Some(command_name(name).as_str()), case["commandName"].as_str(), "{name}");
        assert_eq!(Some(index_name(name).as_str()), case["indexName"].as_str(), "{name}");
    }
}
