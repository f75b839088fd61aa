//! The recorded vectors of the real OpenClaw for eligibility and configuration paths.

use serde_json::Value;
use sinew_settings::config::is_truthy;
use sinew_testkit::TestMachine;

#[test]
fn eligibility_agrees_with_every_recorded_case() {
    let Some(golden) = crate::shared("data/golden/openclaw-skills.json") else { return };
    let golden: Value = serde_json::from_str(&golden).expect("JSON");
    for case in golden["eligibility"].as_array().expect("a list") {
        let mut metadata = case["input"].clone();
        let remote = metadata.as_object_mut().and_then(|map| map.remove("remotePlatforms"));
        let remote: Vec<String> =
            remote.map(|list| serde_json::from_value(list).expect("platforms")).unwrap_or_default();
        let machine = TestMachine::new()
            .bin("sh")
            .os(case["platform"].as_str().expect("a platform"))
            .workspace_skill(
                "demo",
                &format!("metadata: {}", serde_json::json!({ "openclaw": metadata })),
            );
        let catalog = machine.request(|request| {
            let remote = sinew_catalog::RemoteMachines { platforms: remote, ..Default::default() };
            let request = sinew_catalog::CatalogRequest { remote, ..request.clone() };
            sinew_catalog::CatalogBuilder::default().build(&request)
        });
        assert_eq!(catalog.entries[0].eligible, case["eligible"], "{case}");
    }
}

#[test]
fn configuration_paths_agree_with_every_recorded_case() {
    let Some(golden) = crate::shared("data/golden/openclaw-skills.json") else { return };
    let golden: Value = serde_json::from_str(&golden).expect("JSON");
    for case in golden["configTruthy"].as_array().expect("a list") {
        let path = case["path"].as_str().expect("a path");
        assert_eq!(is_truthy(&case["config"], path), case["truthy"], "{case}");
    }
}

#[test]
fn nothing_that_every_object_has_counts_as_configured() {
    let tree = serde_json::json!({ "a": { "__proto__": 1 } });
    for path in ["__proto__", "a.__proto__", "a.constructor", "", "."] {
        assert!(!is_truthy(&tree, path), "{path}");
    }
    assert!(is_truthy(&tree, "browser.enabled"));
}
