//! The configuration: lenient as Skill Workshop, and honest about it.

use serde_json::{Value, json};
use sinew_settings::Config;
use sinew_settings::config::{
    ApprovalPolicy, GateMode, ReviewMode, ReviewerProvider, WorkshopSettings,
};

fn read(config: &Value) -> (WorkshopSettings, Vec<String>) {
    let tree =
        json!({"plugins": {"entries": {"skill-workshop": {"enabled": true, "config": config}}}});
    let (config, reasons) = Config::from_tree(tree);
    (config.workshop, reasons.iter().map(|reason| reason.detail.clone()).collect())
}

#[test]
fn the_defaults_are_those_of_skill_workshop() {
    let (settings, reasons) = read(&json!({}));
    assert!(reasons.is_empty() && settings.is_on());
    assert_eq!(settings, WorkshopSettings { loaded: true, ..WorkshopSettings::default() });
    let WorkshopSettings { review_interval, review_min_tool_calls, review_timeout_ms, .. } =
        settings;
    assert_eq!((review_interval, review_min_tool_calls, review_timeout_ms), (15, 8, 45_000));
    assert_eq!((settings.max_pending, settings.max_skill_bytes), (50, 40_000));
    assert_eq!(settings.approval_policy, ApprovalPolicy::Pending);
    assert_eq!(settings.review_mode, ReviewMode::Hybrid);
    assert_eq!(
        (settings.duplicate_gate, settings.trigger_gate),
        (GateMode::Advise, GateMode::Block)
    );
}

#[test]
fn off_unless_the_entry_is_enabled() {
    let on = |tree: Value| Config::from_tree(tree).0.workshop.is_on();
    assert!(!on(json!({})));
    assert!(!on(json!({"plugins": {"entries": {"skill-workshop": {}}}})));
    assert!(!on(json!({"plugins": {"entries": {"skill-workshop": {"enabled": "yes"}}}})));
    assert!(on(json!({"plugins": {"entries": {"skill-workshop": {"enabled": true}}}})));
    assert!(!on(
        json!({"plugins": {"enabled": false, "entries": {"skill-workshop": {"enabled": true}}}})
    ));
    assert!(!on(
        json!({"plugins": {"entries": {"skill-workshop": {"enabled": true, "config": {"enabled": false}}}}})
    ));
}

#[test]
fn numbers_are_truncated_and_clamped_and_each_correction_is_said() {
    let interval = |value: Value| {
        let (settings, reasons) = read(&json!({"reviewInterval": value}));
        (settings.review_interval, reasons.len())
    };
    assert_eq!(interval(json!(0)), (1, 1));
    assert_eq!(interval(json!(999)), (200, 1));
    assert_eq!(interval(json!("x")), (15, 1));
    assert_eq!(interval(json!(20)), (20, 0));
    assert_eq!(interval(json!(20.0)), (20, 0));
    let (settings, reasons) = read(&json!({"reviewTimeoutMs": 1, "maxSkillBytes": 1500.9}));
    assert_eq!((settings.review_timeout_ms, settings.max_skill_bytes), (5_000, 1_500));
    assert_eq!(reasons.len(), 2);
    assert!(reasons.iter().any(|reason| {
        reason == "plugins.entries.skill-workshop.config.reviewTimeoutMs is 1, not a whole number from 5000 to 180000; 5000 holds"
    }), "{reasons:?}");
}

#[test]
fn unknown_words_mean_the_default_and_unknown_keys_are_named() {
    let (settings, reasons) = read(&json!({
        "approvalPolicy": "yolo", "reviewMode": 3, "autoCapture": "no", "approvalPolcy": "auto",
    }));
    assert_eq!(settings.approval_policy, ApprovalPolicy::Pending);
    assert_eq!(settings.review_mode, ReviewMode::Hybrid);
    assert!(settings.auto_capture);
    assert_eq!(reasons.len(), 4, "{reasons:?}");
}

#[test]
fn rules_by_name_come_before_the_policy() {
    let (settings, _) = read(&json!({"approvalPolicy": "auto", "approvalRules": [
        {"match": "release-*", "policy": "never"},
        {"match": "*-draft", "policy": "pending"},
        {"match": "odd", "policy": "sometimes"},
    ]}));
    assert_eq!(settings.policy_for("release-notes"), ApprovalPolicy::Never);
    assert_eq!(settings.policy_for("mail-draft"), ApprovalPolicy::Pending);
    assert_eq!(
        settings.policy_for("odd"),
        ApprovalPolicy::Pending,
        "what is unclear is asked about"
    );
    assert_eq!(settings.policy_for("mail"), ApprovalPolicy::Auto);
}

#[test]
fn a_key_never_comes_from_the_file() {
    let (settings, reasons) = read(&json!({"provider": {
        "kind": "openai", "model": "m", "apiKey": "sk-123", "apiKeyEnv": "MY_KEY",
    }}));
    let Some(ReviewerProvider::OpenAi(endpoint)) = settings.provider else { panic!("a provider") };
    assert_eq!(endpoint.api_key_env.as_deref(), Some("MY_KEY"));
    assert!(
        reasons.iter().any(|reason| reason.contains("apiKey"))
            && !format!("{reasons:?}").contains("sk-123")
    );
    let (settings, reasons) = read(&json!({"provider": {"kind": "openai"}}));
    assert!(settings.provider.is_none() && reasons.len() == 1);
}

#[test]
fn probation_has_three_numbers() {
    let (settings, reasons) = read(&json!({"probation": {"uses": 0, "idleDays": 14.5}}));
    let rule = settings.probation;
    assert_eq!((rule.uses, rule.idle_days, rule.min_trials), (1, 14, 8));
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].contains("config.probation.uses is 0, not a whole number"), "{reasons:?}");
    let (settings, reasons) = read(&json!({"probation": 3}));
    assert_eq!((settings.probation.uses, reasons.len()), (3, 1));
}
