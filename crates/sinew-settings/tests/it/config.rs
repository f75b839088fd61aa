//! Reading a configuration: what is usable is used, and the rest is said.

use insta::assert_snapshot;
use serde_json::json;
use sinew_settings::config::{KeyKind, PublishMode, TraceSource, find_key, keys};
use sinew_settings::{Config, Reason};

fn details(reasons: &[Reason]) -> Vec<&str> {
    reasons.iter().map(|reason| reason.detail.as_str()).collect()
}

#[test]
fn bad_configuration_values_are_reported_and_the_defaults_hold() {
    let (config, reasons) = Config::from_text(
        "{skills: {limits: {maxSkillsInPrompt: -1, maxSkilsPromptChars: 5}, load: {watch: 'yes'}, entries: {x: {enable: true}}}, agent: {skillsSpecMode: 'lax'}}",
    );
    assert_eq!(config.limits.max_skills_in_prompt, 150);
    assert!(config.load.watch);
    let shown: Vec<String> = reasons
        .iter()
        .map(|reason| format!("{reason} -> {}", reason.remedy.as_deref().unwrap_or_default()))
        .collect();
    assert_snapshot!(shown.join("\n"), @r"
    unknown-config-key: skills.limits.maxSkilsPromptChars means nothing here -> did you mean skills.limits.maxSkillsPromptChars?
    bad-config-value: skills.load.watch is `yes`, not true or false; true holds -> Watch the folders for changes. The default is true.
    bad-config-value: skills.limits.maxSkillsInPrompt is -1, not a whole number; 150 holds -> Skills listed in the prompt. The default is 150.
    unknown-config-key: skills.entries.x.enable means nothing here -> did you mean skills.entries.x.enabled?
    bad-config-value: agent.skillsSpecMode is `lax`, not legacy, mixed or strict; mixed holds -> In the openpocket profile, what counts as a skill. The default is mixed.
    ");
}

#[test]
fn a_secret_never_shows_itself() {
    let (config, _) =
        Config::from_text("{skills: {entries: {x: {apiKey: 'hunter2', env: {A: 'hunter3'}}}}}");
    let shown = format!("{:?}", config.entries);
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn older_spellings_are_still_read_and_the_newer_one_goes_first() {
    let (config, reasons) = Config::from_tree(json!({
        "cortex": {"window_hours": 24, "reflex": {"min_lb": 0.9}},
        "traces": {"reference_exact": true, "publish": "off", "keep_runs": 9, "keepRuns": 7},
        "mcp": {"require_token": false},
        "agent": {"skills_spec_mode": "strict"},
    }));
    assert!(reasons.is_empty(), "{reasons:?}");
    assert_eq!((config.cortex.window_hours, config.cortex.min_lb), (24, 0.9));
    assert!(config.traces.reference_exact && !config.mcp.require_token);
    assert_eq!((config.traces.keep_runs, config.traces.publish), (7, Some(PublishMode::Off)));
    assert_eq!(config.openpocket_agent.mode.as_str(), "strict");
}

#[test]
fn a_bad_value_is_named_as_it_is_spelled() {
    let (config, reasons) = Config::from_tree(json!({"cortex": {"window_hours": 0}}));
    assert_eq!(config.cortex.window_hours, 168);
    let expected = "cortex.window_hours is 0, not a whole number from 1 to 720; 168 holds";
    assert_eq!(details(&reasons), [expected]);
    assert!(config.check("cortex").is_err() && config.check("cortex.reflex").is_ok());
}

#[test]
fn one_bad_entry_of_a_map_does_not_take_the_others_away() {
    let (config, reasons) = Config::from_tree(json!({
        "hub": {"registries": {"team": "https://team.example", "old": 7, "blank": " "}},
        "skills": {"entries": {"x": {"env": {"A": "1", "B": 2}}}},
        "security": {"installPolicy": {"exec": {"env": {"C": "3", "D": 4_711}}}},
    }));
    let names = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<String>>();
    assert_eq!(names(config.hub.registries.keys().collect()), ["team"]);
    assert_eq!(names(config.entries["x"].env.keys().collect()), ["A"]);
    assert_eq!(names(config.install_policy.exec.env.keys().collect()), ["C"]);
    assert_eq!(
        details(&reasons),
        [
            "skills.entries.x.env.B is a number, not text, or {source, id}; it is left out",
            "hub.registries.old is a number, not text; it is left out",
            "hub.registries.blank is not an address",
            "security.installPolicy.exec.env.D is a number, not text; it is left out",
        ],
        "each is named, and no value that may be a secret is shown"
    );
    assert!(config.check("hub.registries").is_err() && config.check("hub.github").is_ok());
}

#[test]
fn one_bad_item_of_a_list_does_not_take_the_others_away() {
    let (config, reasons) = Config::from_tree(json!({
        "skills": {"allowBundled": [" github ", 3], "load": {"extraDirs": "~/skills"}},
        "agents": {"entries": {"codex": {"skills": ["a", null]}}},
        "registry": {"mirror": {"allow": ["ada", {}]}},
        "traces": {"sources": ["codex", "codx"]},
        "security": {"installPolicy": {"exec": {"args": ["--ask", 1]}}},
    }));
    assert_eq!(config.skills.allow_bundled, ["github"]);
    assert_eq!(config.agent_skills(Some("codex")), Some(["a".to_owned()].as_slice()));
    assert_eq!(config.registry.mirror.allow, ["ada"]);
    assert_eq!(config.traces.sources, [TraceSource::Codex]);
    assert!(config.install_policy.exec.args.0.is_empty(), "half a command is another command");
    assert!(config.install_policy.damaged, "and is not run at all");
    let sources = "live, claude-code, codex, openclaw or openpocket";
    assert_eq!(
        details(&reasons),
        [
            "skills.allowBundled[1] is a number, not text; it is left out".to_owned(),
            "skills.load.extraDirs is text, not a list of texts; the default holds".to_owned(),
            "agents.entries.codex.skills[1] is null, not text; it is left out".to_owned(),
            "registry.mirror.allow[1] is a map, not text; it is left out".to_owned(),
            format!("traces.sources[1] is `codx`, not {sources}; it is left out"),
            "security.installPolicy.exec.args is a mixed list, not a list of texts; the default holds"
                .to_owned(),
        ]
    );
    assert!(config.check("registry").is_err(), "a server must not run on half a list");
}

#[test]
fn a_veto_that_cannot_be_read_still_counts() {
    for policy in [json!("yes"), json!({"enabled": "yes"})] {
        let (config, reasons) = Config::from_tree(json!({"security": {"installPolicy": policy}}));
        assert_eq!(config.install_policy.enabled, sinew_settings::config::PolicySwitch::On);
        assert_eq!(reasons.len(), 1, "{reasons:?}");
    }
}

#[test]
fn a_fault_where_the_file_forbids_closes_the_gate() {
    let closed = |text: &str| {
        let (config, reasons) = Config::from_text(text);
        assert!(!reasons.is_empty(), "{text}: nothing is said");
        config.gate().err().map(ToString::to_string).unwrap_or_else(|| panic!("{text} is open"))
    };
    assert!(closed("{").starts_with("the file is not JSON5"));
    assert_eq!(closed("7"), "the configuration is not a map");
    assert_eq!(closed("{hub: []}"), "hub must be a map");
    assert_eq!(closed("{hub: {registy: 'x'}}"), "hub.registy means nothing here");
    assert_eq!(closed("{securty: {}}"), "securty means nothing here");
    assert_eq!(
        closed("{security: {installPolicy: {exec: {args: [1]}}}}"),
        "security.installPolicy.exec.args must be a list of texts"
    );
    assert_eq!(
        closed("{skills: {entries: {'a.b': {enabled: 'no'}}}}"),
        "skills.entries.a.b.enabled must be true or false"
    );
    for open in ["", "{}", "{skills: {limits: {maxSkillsInPrompt: -1}}}", "{traces: {keepRns: 1}}"]
    {
        assert!(Config::from_text(open).0.gate().is_ok(), "{open}");
    }
}

#[test]
fn what_cannot_be_read_forbids() {
    let (config, _) = Config::from_text("{skills: {entries: {x: {enabled: 'no'}, y: 3}}}");
    assert_eq!(config.entries["x"].enabled, Some(false));
    assert_eq!(config.entries["y"].enabled, Some(false));
    let (config, _) = Config::from_text("{agents: {entries: {codex: {skills: 'all'}}}}");
    assert_eq!(config.agent_skills(Some("codex")), Some([].as_slice()));
    let (config, _) = Config::from_text("{agents: 3}");
    assert_eq!(config.agent_skills(None), Some([].as_slice()));
    let (config, _) = Config::from_text("{skills: {entries");
    assert!(config.hidden_switches().is_some() && config.install_policy.damaged);
}

#[test]
fn depth_is_counted_outside_strings_and_comments() {
    use sinew_settings::config::{MAX_NESTING, is_nested_too_deeply};
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(!is_nested_too_deeply(&nested(MAX_NESTING)));
    assert!(is_nested_too_deeply(&nested(MAX_NESTING + 1)));
    let hidden = "{".repeat(MAX_NESTING + 1);
    for text in [format!("'{hidden}'"), format!("\"\\\"{hidden}\""), format!("//{hidden}\n1")] {
        assert!(!is_nested_too_deeply(&text), "{text}");
    }
    assert!(!is_nested_too_deeply(&format!("/*{hidden}*/ 1")));
    assert!(is_nested_too_deeply(&format!("/* */ '' {hidden}")));
}

#[test]
fn every_key_is_declared_once_and_in_one_spelling() {
    let mut paths: Vec<&str> = keys().iter().map(|key| key.path).collect();
    assert!(paths.iter().all(|path| !path.contains('_')), "{paths:?}");
    assert!(keys().iter().all(|key| !key.doc.is_empty()));
    paths.sort_unstable();
    let count = paths.len();
    paths.dedup();
    assert_eq!(paths.len(), count, "a key is declared twice");
    let meant = find_key("cortex.decay_scope").expect("an older spelling");
    assert_eq!(meant.path, "cortex.decayScope");
    assert_eq!(meant.kind, KeyKind::Words(&["region", "candidate"]));
}

#[test]
fn what_a_default_is_shown_as_can_be_read_back() {
    for key in keys().iter().filter(|key| !key.path.contains('<')) {
        if let KeyKind::Words(words) = key.kind
            && !key.default.is_empty()
            && key.default != "by policy"
        {
            assert!(words.contains(&key.default.as_str()), "{}: {}", key.path, key.default);
        }
        if let (Some(range), Ok(number)) = (key.range, key.default.parse()) {
            assert!(range.contains(number), "{}: {number} is not {range}", key.path);
        }
    }
}
