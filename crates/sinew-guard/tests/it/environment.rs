//! Variables that control programs, as a pure function.

use std::collections::BTreeMap;

use sinew_guard::env::{
    EnvRefusal, SkillEnv, check_variable, filter_variables, inherited_by_child, inherited_by_skill,
    is_blocked_everywhere, is_blocked_override, is_sensitive,
};
use sinew_settings::ReasonCode;

fn lists() -> serde_json::Value {
    serde_json::from_str(include_str!("../../data/env-policy.json")).unwrap()
}

fn keys(list: &str) -> Vec<String> {
    lists()[list]["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| k.as_str().unwrap().to_owned())
        .collect()
}

fn open(declared: &[String]) -> SkillEnv<'_> {
    SkillEnv {
        skill: "demo",
        declared,
        reviewed: true,
        allow_declared_credentials: true,
        host_credentials: &[],
    }
}

#[test]
fn the_whole_list_is_refused_in_every_case() {
    let everything: Vec<String> = keys("blockedEverywhere");
    assert_eq!(everything.len(), 110);
    assert_eq!(keys("blockedOverride").len(), 156);
    for key in &everything {
        for name in [key.clone(), key.to_lowercase()] {
            assert!(is_blocked_everywhere(&name), "{name}");
            assert_eq!(
                check_variable(&open(std::slice::from_ref(&name)), &name, "x"),
                Err(EnvRefusal::BlockedEverywhere),
                "{name}"
            );
        }
    }
    let credentials = keys("declarableCredentials");
    for key in keys("blockedOverride") {
        let declared = [key.clone()];
        let allowed = check_variable(&open(&declared), &key, "x").is_ok();
        assert_eq!(allowed, credentials.contains(&key) && !is_blocked_everywhere(&key), "{key}");
        assert!(check_variable(&open(&[]), &key.to_lowercase(), "x").is_err(), "{key}");
    }
    for name in [
        "LD_PRELOAD",
        "dyld_insert_libraries",
        "OPENSSL_CONF",
        "PATH",
        "Path",
        "SINEW_HOME",
        "GIT_CONFIG_COUNT",
        "npm_config_registry",
        "CARGO_TARGET_X86_64_LINKER",
        "TF_VAR_x",
    ] {
        assert!(check_variable(&open(&[name.to_owned()]), name, "x").is_err(), "{name}");
    }
}

#[test]
fn secrets_need_a_declaration_and_odd_names_are_none() {
    assert_eq!(check_variable(&open(&[]), "ACME_API_KEY", "x"), Err(EnvRefusal::Undeclared));
    assert_eq!(check_variable(&open(&["ACME_API_KEY".to_owned()]), "ACME_API_KEY", "x"), Ok(()));
    assert_eq!(check_variable(&open(&[]), "ACME_REGION", "x"), Ok(()));
    for name in ["", "A=B", "A\0", "A\nB", "1A", "A-B", "BASH_FUNC_x%%"] {
        assert_eq!(check_variable(&open(&[]), name, "x"), Err(EnvRefusal::BadName), "{name:?}");
    }
    assert_eq!(check_variable(&open(&[]), "A", "x\0y"), Err(EnvRefusal::NulValue));
}

#[test]
fn unreviewed_skills_get_what_they_declare_and_no_credentials() {
    let declared = [
        "ACME_REGION".to_owned(),
        "GH_TOKEN".to_owned(),
        "PIP_X".to_owned(),
        "ACME_API_KEY".to_owned(),
    ];
    let skill = SkillEnv { reviewed: false, ..open(&declared) };
    assert_eq!(check_variable(&skill, "ACME_REGION", "x"), Ok(()));
    assert_eq!(check_variable(&skill, "ACME_API_KEY", "x"), Ok(()));
    assert_eq!(check_variable(&skill, "OTHER", "x"), Err(EnvRefusal::Unreviewed));
    assert_eq!(check_variable(&skill, "GH_TOKEN", "x"), Err(EnvRefusal::BlockedOverride));
    assert_eq!(check_variable(&skill, "PIP_X", "x"), Err(EnvRefusal::Unreviewed));
}

#[test]
fn records_name_the_variable_and_never_the_value() {
    let wanted: BTreeMap<String, String> = [
        ("NODE_OPTIONS", "canary-1"),
        ("A=canary-2", "x"),
        ("OK", "canary-3"),
        ("LONG", &"a".repeat(90)),
    ]
    .into_iter()
    .map(|(k, v)| (k.to_owned(), v.to_owned()))
    .collect();
    let (given, records) = filter_variables(&open(&[]), &wanted);
    assert_eq!(given.keys().collect::<Vec<_>>(), ["LONG", "OK"]);
    let text = serde_json::to_string(&records).unwrap();
    assert!(!text.contains("canary"), "{text}");
    assert_eq!(records.len(), 3);
    assert!(records.iter().any(|r| r.code == ReasonCode::EnvSuspicious && r.key == "LONG"));
}

#[test]
fn children_inherit_no_steering() {
    let host: BTreeMap<String, String> =
        [("LD_PRELOAD", "x"), ("HOME", "/h"), ("PATH", "/bin"), ("EDITOR", "vi"), ("LANG", "C")]
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
    assert_eq!(inherited_by_child(&host).keys().collect::<Vec<_>>(), ["HOME", "LANG", "PATH"]);
    assert!(is_blocked_override("editor") && is_sensitive("x_admin_key"));
}

#[test]
fn a_run_inherits_the_credentials_that_its_skill_declares_and_no_others() {
    let host: BTreeMap<String, String> = [
        ("LD_PRELOAD", "x"),
        ("HOME", "/h"),
        ("GH_TOKEN", "x"),
        ("AWS_ACCESS_KEY_ID", "x"),
        ("OTHER_API_KEY", "x"),
        ("ACME_API_KEY", "x"),
        ("TEAM_DATABASE", "x"),
        ("EDITOR", "vi"),
        ("LANG", "C"),
    ]
    .into_iter()
    .map(|(k, v)| (k.to_owned(), v.to_owned()))
    .collect();
    let declared = ["GH_TOKEN".to_owned(), "ACME_API_KEY".to_owned()];
    let own = ["team_database".to_owned()];
    let skill = SkillEnv { host_credentials: &own, ..open(&declared) };
    let (kept, records) = inherited_by_skill(&skill, &host);
    assert_eq!(kept.keys().collect::<Vec<_>>(), ["ACME_API_KEY", "GH_TOKEN", "HOME", "LANG"]);
    let held: Vec<(&str, &str)> =
        records.iter().map(|record| (record.key.as_str(), record.code.as_str())).collect();
    assert_eq!(
        held,
        [
            ("AWS_ACCESS_KEY_ID", "env-blocked"),
            ("EDITOR", "env-blocked"),
            ("LD_PRELOAD", "env-blocked"),
            ("OTHER_API_KEY", "env-undeclared"),
            ("TEAM_DATABASE", "env-undeclared"),
        ]
    );
    let strict = SkillEnv { allow_declared_credentials: false, ..skill };
    assert!(!inherited_by_skill(&strict, &host).0.contains_key("GH_TOKEN"));
}
