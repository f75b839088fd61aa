//! The environment of a run.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sinew_exec::{EnvLedger, EnvPlan, EnvRules, EnvValue, EnvValueSource, PlannedVar, env_states};
use sinew_testkit::TestMachine;

use crate::support::{RULES, World, codes};

type Table = BTreeMap<String, String>;

fn planned(pairs: &[(&str, &str, &str)]) -> EnvPlan {
    let planned = |(name, value, skill): &(&str, &str, &str)| PlannedVar {
        name: (*name).to_owned(),
        value: EnvValue::new(*value),
        skill: (*skill).to_owned(),
    };
    EnvPlan { vars: pairs.iter().map(planned).collect(), records: Vec::new() }
}

#[test]
fn a_key_is_there_during_the_run_and_gone_after_it() {
    let world = World::demo("{primaryEnv: NOTION_KEY}", "{apiKey: 'k1-value'}");
    assert_eq!(world.child_sees("demo").get("NOTION_KEY").map(String::as_str), Some("k1-value"));
    assert!(world.leases.active_env_keys().is_empty());
    let ledger = EnvLedger::new(Table::new());
    let applied = ledger.acquire(world.plan(&["demo"], &RULES));
    let standing = |ledger: &EnvLedger<Table>| ledger.with_target(|table| table.clone());
    assert_eq!(standing(&ledger), Table::from([("NOTION_KEY".into(), "k1-value".into())]));
    assert_eq!(ledger.active_env_keys(), ["NOTION_KEY"]);
    drop(applied);
    assert_eq!(standing(&ledger), Table::new());
    assert!(ledger.active_env_keys().is_empty());
}

#[test]
fn the_hosts_own_value_wins() {
    let world = World::new(
        TestMachine::new()
            .workspace_skill("demo", "metadata: {openclaw: {primaryEnv: NOTION_KEY}}")
            .config("{skills: {entries: {demo: {apiKey: 'configured'}}}}")
            .var("NOTION_KEY", "own"),
    );
    assert_eq!(codes(&world.lease(&["demo"]).records), ["env-externally-set NOTION_KEY"]);
    assert_eq!(world.child_sees("demo")["NOTION_KEY"], "own");
    let ledger = EnvLedger::new(Table::from([("NOTION_KEY".into(), "own".into())]));
    let mut applied = ledger.acquire(world.plan(&["demo"], &RULES));
    assert_eq!(codes(&applied.records), ["env-externally-set NOTION_KEY"]);
    applied.release();
    assert_eq!(ledger.with_target(|table| table["NOTION_KEY"].clone()), "own");
    // A blank value is a value: it is not overwritten, and `info` points it out.
    let world = World::new(
        TestMachine::new()
            .workspace_skill("demo", "metadata: {openclaw: {primaryEnv: NOTION_KEY}}")
            .config("{skills: {entries: {demo: {apiKey: 'configured'}}}}")
            .var("NOTION_KEY", ""),
    );
    assert_eq!(world.child_sees("demo")["NOTION_KEY"], "");
    let states = env_states(&world.covered("demo"), &RULES, &world.machine.environment());
    assert_eq!((states[0].from, states[0].blank), (EnvValueSource::Host, true));
}

#[test]
fn a_pair_wins_over_the_api_key() {
    let world =
        World::demo("{primaryEnv: NOTION_KEY}", "{env: {NOTION_KEY: 'aaaa'}, apiKey: 'bbbb'}");
    assert_eq!(world.child_sees("demo")["NOTION_KEY"], "aaaa");
}

#[test]
fn two_runs_share_a_table_or_have_their_own() {
    let ledger = EnvLedger::new(Table::new());
    let mut first = ledger.acquire(planned(&[("NAME", "xxxx", "one")]));
    let mut second = ledger.acquire(planned(&[("NAME", "yyyy", "two")]));
    let standing =
        |ledger: &EnvLedger<Table>| ledger.with_target(|table| table.get("NAME").cloned());
    assert_eq!(standing(&ledger).as_deref(), Some("xxxx"));
    assert_eq!(codes(&second.records), ["env-conflict NAME"]);
    let record = &second.records[0];
    assert!(record.detail.contains("one") && record.detail.contains("two"));
    assert!(!format!("{record:?}").contains("xxxx") && !format!("{record:?}").contains("yyyy"));
    // A value that another program removes meanwhile is written again.
    ledger.with_target(|table| table.remove("NAME"));
    first.release();
    assert_eq!(standing(&ledger).as_deref(), Some("xxxx"));
    ledger.with_target(|table| table.remove("NAME"));
    let third = ledger.acquire(planned(&[("NAME", "xxxx", "one")]));
    assert_eq!(standing(&ledger).as_deref(), Some("xxxx"));
    assert!(third.records.is_empty());
    drop(third);
    second.release();
    second.release();
    assert_eq!(standing(&ledger), None);
    // Each child has its own map.
    let world = World::new(
        TestMachine::new()
            .workspace_skill("one", "metadata: {openclaw: {requires: {env: [NAME]}}}")
            .workspace_skill("two", "metadata: {openclaw: {requires: {env: [NAME]}}}")
            .config(
                "{skills: {entries: {one: {env: {NAME: 'xxxx'}}, two: {env: {NAME: 'yyyy'}}}}}",
            ),
    );
    let _first = world.lease(&["one"]);
    assert_eq!(world.child_sees("two")["NAME"], "yyyy");
    assert_eq!(world.leases.active_env_keys(), ["NAME"]);
}

#[test]
fn what_another_program_wrote_is_left_alone() {
    let ledger = EnvLedger::new(Table::new());
    let applied = ledger.acquire(planned(&[("NAME", "xxxx", "one")]));
    ledger.with_target(|table| table.insert("NAME".into(), "theirs".into()));
    drop(applied);
    assert_eq!(ledger.with_target(|table| table.get("NAME").cloned()).as_deref(), Some("theirs"));
    assert_eq!(codes(&ledger.take_records()), ["env-changed-externally NAME"]);
    assert!(ledger.take_records().is_empty());
}

#[test]
fn after_a_panic_everything_is_as_it_was() {
    let ledger = EnvLedger::new(Table::from([("KEPT".into(), "1".into())]));
    let before = ledger.with_target(|table| table.clone());
    let world = World::demo("{primaryEnv: NOTION_KEY}", "{apiKey: 'k1-value'}");
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _applied = ledger.acquire(world.plan(&["demo"], &RULES));
        let _lease = world.lease(&["demo"]);
        assert_eq!(world.leases.active_env_keys(), ["NOTION_KEY"]);
        panic!("the run panics");
    }));
    assert!(result.is_err());
    assert_eq!(ledger.with_target(|table| table.clone()), before);
    assert!(world.leases.active_env_keys().is_empty());
}

#[test]
fn variables_that_steer_programs_are_blocked() {
    let world = World::demo(
        "{requires: {env: [NODE_OPTIONS, ld_preload, PATH, openssl_conf]}}",
        "{env: {NODE_OPTIONS: '--require x', ld_preload: 'steer', PATH: '/steer', openssl_conf: 'steer'}}",
    );
    assert_eq!(
        codes(&world.lease(&["demo"]).records),
        [
            "env-blocked NODE_OPTIONS",
            "env-blocked PATH",
            "env-blocked ld_preload",
            "env-blocked openssl_conf"
        ]
    );
    let seen = world.child_sees("demo");
    assert!(!seen.keys().any(|name| name.eq_ignore_ascii_case("ld_preload")));
    assert!(!seen.contains_key("NODE_OPTIONS") && !seen.contains_key("openssl_conf"));
    assert!(!seen["PATH"].contains("steer"));
}

#[test]
fn credentials_need_a_declaration() {
    let entry = "{env: {STRIPE_API_KEY: 'vvvv'}}";
    let undeclared = World::demo("{}", entry);
    assert_eq!(codes(&undeclared.lease(&["demo"]).records), ["env-undeclared STRIPE_API_KEY"]);
    assert!(!undeclared.child_sees("demo").contains_key("STRIPE_API_KEY"));
    let declared = World::demo("{requires: {env: [STRIPE_API_KEY]}}", entry);
    assert_eq!(declared.child_sees("demo")["STRIPE_API_KEY"], "vvvv");
}

#[test]
fn declared_credentials_of_the_skills_own_entry() {
    let world = World::demo("{primaryEnv: GH_TOKEN}", "{apiKey: 'gggg'}");
    assert_eq!(world.child_sees("demo")["GH_TOKEN"], "gggg");
    let strict = EnvRules { allow_declared_credentials: false, ..RULES };
    let plan = world.plan(&["demo"], &strict);
    assert!(plan.vars.is_empty());
    assert_eq!(codes(&plan.records), ["env-blocked GH_TOKEN"]);
    let other = World::demo("{primaryEnv: OTHER}", "{env: {GH_TOKEN: 'gggg'}}");
    for rules in [RULES, strict] {
        assert_eq!(codes(&other.plan(&["demo"], &rules).records), ["env-blocked GH_TOKEN"]);
    }
    let note = r#"{"version":1,"source":"git","slug":"demo"}"#;
    let unreviewed = World::new(
        TestMachine::new()
            .workspace_skill("demo", "metadata: {openclaw: {primaryEnv: GH_TOKEN}}")
            .file("work/skills/demo/.openclaw/source-origin.json", note)
            .config("{skills: {entries: {demo: {apiKey: 'gggg', env: {REGION: 'eu'}}}}}"),
    );
    assert_eq!(
        codes(&unreviewed.lease(&["demo"]).records),
        ["env-blocked GH_TOKEN", "env-undeclared REGION"]
    );
}

#[test]
fn a_proxy_is_no_credential() {
    let world =
        World::demo("{requires: {env: [HTTPS_PROXY]}}", "{env: {HTTPS_PROXY: 'http://steer'}}");
    assert_eq!(codes(&world.lease(&["demo"]).records), ["env-blocked HTTPS_PROXY"]);
}

#[test]
fn odd_values_and_names() {
    let entry = serde_json::json!({ "env": {
        "NUL_VALUE": "a\u{0}b", "LONG_VALUE": "x".repeat(40_000), "BAD-NAME": "vvvv",
        " ": "vvvv", "EMPTY": "", " PADDED ": "vvvv",
    }});
    let world = World::demo("{}", &entry.to_string());
    let lease = world.lease(&["demo"]);
    assert_eq!(
        codes(&lease.records),
        [
            "env-empty ",
            "env-empty EMPTY",
            "env-bad-name BAD-NAME",
            "env-suspicious LONG_VALUE",
            "env-nul NUL_VALUE"
        ]
    );
    let names: Vec<&str> = lease.vars().map(|(name, _)| name).collect();
    assert_eq!(names, ["LONG_VALUE", "PADDED"]);
}

#[test]
fn a_disabled_skill_gives_nothing() {
    let world = World::demo("{primaryEnv: NOTION_KEY}", "{enabled: false, apiKey: 'k1-value'}");
    let lease = world.lease(&["demo"]);
    assert_eq!(lease.vars().count(), 0);
    assert!(lease.records.is_empty());
}

#[test]
fn a_bystander_gets_nothing_that_is_leased() {
    let world = World::new(
        TestMachine::new()
            .workspace_skill("demo", "metadata: {openclaw: {primaryEnv: NOTION_KEY}}")
            .config("{skills: {entries: {demo: {apiKey: 'k1-value'}}}}"),
    );
    let _lease = world.lease(&["demo"]);
    let mut host = world.machine.environment().vars;
    host.extend([
        ("NOTION_KEY".to_owned(), "left over".to_owned()),
        ("LD_PRELOAD".to_owned(), "steer".to_owned()),
        ("LANG".to_owned(), "C".to_owned()),
    ]);
    let seen = world.leases.bystander_env(&host);
    assert_eq!(seen.keys().collect::<Vec<_>>(), ["LANG", "PATH"]);
}

#[test]
fn values_appear_nowhere_but_in_the_child() {
    let world = World::demo(
        "{primaryEnv: CANARY_ONE, requires: {env: [CANARY_TWO]}}",
        "{apiKey: 'canary-1', env: {CANARY_TWO: 'canary-2', NODE_OPTIONS: 'canary-3', X_API_KEY: 'canary-4', NUL: 'canary-5\\u0000'}}",
    );
    let lease = world.lease(&["demo"]);
    let plan = world.plan(&["demo"], &RULES);
    let ledger = EnvLedger::new(Table::from([("CANARY_ONE".into(), "canary-6".into())]));
    let applied = ledger.acquire(plan.clone());
    let say = "echo \"failed with $CANARY_ONE and $CANARY_TWO\" >&2; exit 3";
    let (shown, report) = world.run("demo", &lease, &["/bin/sh", "-c", say]);
    assert!(shown.contains("canary-1"), "the child has it, and the terminal shows what it says");
    let states = env_states(&world.covered("demo"), &RULES, &world.machine.environment());
    let texts = [
        format!("{lease:?} {plan:?} {:?} {states:?} {report:?}", applied.records),
        format!("{:?} {:?}", world.machine.configuration().entries, lease.masker()),
        serde_json::to_string(&lease.records).unwrap(),
        serde_json::to_string(&applied.records).unwrap(),
        serde_json::to_string(&report).unwrap(),
    ];
    for text in texts {
        assert!(!text.contains("canary"), "{text}");
    }
    assert!(report.detail.contains("[REDACTED CREDENTIAL]"), "{}", report.detail);
}

#[test]
fn only_the_skills_in_use_take_part() {
    let world = World::new(
        TestMachine::new()
            .workspace_skill("one", "metadata: {openclaw: {primaryEnv: KEY_ONE}}")
            .workspace_skill("two", "metadata: {openclaw: {primaryEnv: KEY_TWO}}")
            .config("{skills: {entries: {one: {apiKey: 'aaaa'}, two: {apiKey: 'bbbb'}}}}"),
    );
    assert!(world.catalog.entries.iter().all(|entry| entry.eligible));
    let used = world.lease(&["one"]);
    assert_eq!(used.vars().map(|(name, _)| name).collect::<Vec<_>>(), ["KEY_ONE"]);
    let all = world.lease(&["one", "two"]);
    assert_eq!(all.vars().map(|(name, _)| name).collect::<Vec<_>>(), ["KEY_ONE", "KEY_TWO"]);
}

#[test]
fn each_declared_name_has_a_state() {
    let world = World::new(
        TestMachine::new()
            .workspace_skill(
                "demo",
                "metadata: {openclaw: {primaryEnv: A_KEY, requires: {env: [HOST, HTTPS_PROXY], anyEnv: [NONE]}}}",
            )
            .config("{skills: {entries: {demo: {apiKey: 'aaaa', env: {HTTPS_PROXY: 'x'}}}}}")
            .var("HOST", "1"),
    );
    let states = env_states(&world.covered("demo"), &RULES, &world.machine.environment());
    assert_eq!(
        serde_json::to_value(states).unwrap(),
        serde_json::json!([
            {"name": "A_KEY", "from": "config"},
            {"name": "HOST", "from": "host"},
            {"name": "HTTPS_PROXY", "from": "missing", "blocked": "blocked-override"},
            {"name": "NONE", "from": "missing"},
        ])
    );
}

/// The env vectors of the golden data: what OpenClaw calls dangerous never reaches a child, and
/// what it calls sensitive does so only if it is declared.
#[test]
fn the_golden_classes_hold_for_real_children() {
    let Some(path) = sinew_testkit::shared_data("data/golden/openclaw-skills.json") else { return };
    let golden: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let cases = golden["env"].as_array().unwrap();
    assert!(cases.len() >= 10);
    for case in cases {
        let name = case["key"].as_str().unwrap();
        let entry = serde_json::json!({ "env": { name: "canary" } }).to_string();
        for declared in [false, true] {
            let metadata = match declared {
                true => serde_json::json!({ "requires": { "env": [name] } }),
                false => serde_json::json!({}),
            };
            let world = World::demo(&metadata.to_string(), &entry);
            let is_leased = world.lease(&["demo"]).vars().any(|(known, _)| known == name);
            let credential = ["GH_TOKEN", "GITHUB_TOKEN"].contains(&name);
            let blocked = case["dangerousEverywhere"] == true
                || (case["dangerousOverride"] == true && !(credential && declared))
                || (case["sanitizerBlocked"] == true && !declared)
                || name == "PATH";
            assert_eq!(is_leased, !blocked, "{case} declared {declared}");
            if is_leased {
                assert_eq!(world.child_sees("demo").get(name).map(String::as_str), Some("canary"));
            }
        }
    }
}
