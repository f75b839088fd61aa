//! The operator's policy: what its command allows and refuses.

use sinew_exec::EnvLeases;
use sinew_exec::install::{PolicyCheck, PolicyDecision, PolicyRequest};
use sinew_testkit::TestMachine;

fn request() -> PolicyRequest {
    PolicyRequest {
        target_type: "skill",
        target_name: "demo".to_owned(),
        source_path: "/skills/demo".into(),
        source_path_kind: "directory",
        source: None,
        origin: serde_json::json!({ "type": "workspace" }),
        request: serde_json::json!({ "kind": "skill-install", "mode": "install" }),
        skill: Some(serde_json::json!({ "installId": "brew-0" })),
    }
}

fn machine(script: &str, more: &str) -> TestMachine {
    TestMachine::new().script("policy", script).config(&format!(
        "{{security: {{installPolicy: {{enabled: true, exec: {{command: '$ROOT/bin/policy', {more}}}}}}}}}"
    ))
}

/// The decision as a word, or the error.
fn policy_answer(machine: &TestMachine) -> String {
    let env = machine.environment();
    let leases = EnvLeases::default();
    let config = &machine.configuration().install_policy;
    match (PolicyCheck { config, env: &env, leases: &leases }).ask(&request()) {
        Ok(PolicyDecision::Allow) => "allow".to_owned(),
        Ok(PolicyDecision::Warn(notice)) => format!("warn {}", notice.text()),
        Ok(PolicyDecision::Block(notice)) => format!("block {}", notice.text()),
        Err(reason) => {
            assert_eq!(reason.code.as_str(), "policy-unavailable");
            reason.detail
        }
    }
}

#[track_caller]
fn check(script: &str, expected: &str) {
    let answer = policy_answer(&machine(script, "timeoutMs: 2000"));
    assert!(answer.contains(expected), "{script}: {answer}");
}

fn answer(json: &str) -> String {
    format!("cat > /dev/null; printf '%s' '{json}'")
}

#[test]
fn a_clear_answer_is_taken() {
    check(&answer(r#"{"protocolVersion":1,"decision":"allow"}"#), "allow");
    check(
        &answer(
            r#"{"protocolVersion":1,"decision":"block","reason":"not here","findings":[{"ruleId":"r1","severity":"critical","message":"m","file":"f","line":3,"evidence":"e"}]}"#,
        ),
        "block not here\ncritical r1: m (f:3) | e",
    );
    check(&answer(r#"{"protocolVersion":1,"decision":"warn","reason":"careful"}"#), "warn careful");
}

#[test]
fn whatever_is_not_a_clear_answer_is_no() {
    check(":", "did not answer with JSON");
    check("exit 1", "failed with code 1");
    check("echo no json", "did not answer with JSON");
    check("/bin/sleep 60", "took too long");
    check("kill -KILL $$", "stopped by signal");
    check(&answer(r#"{"protocolVersion":2,"decision":"allow"}"#), "another protocol");
    check(&answer(r#"{"decision":"allow"}"#), "another protocol");
    check(&answer(r#"{"protocolVersion":1,"decision":"perhaps"}"#), "gave no decision");
    check(&answer(r#"{"protocolVersion":1,"decision":"block"}"#), "without a reason");
    check(&answer(r#"{"protocolVersion":1,"decision":"warn","reason":" "}"#), "without a reason");
    check(
        &answer(r#"{"protocolVersion":1,"decision":"allow","findings":[{"ruleId":"x"}]}"#),
        "invalid finding",
    );
    check(&answer(r#"{"protocolVersion":1,"decision":"allow","findings":7}"#), "are not a list");
    check("yes", "wrote too much output");
}

#[test]
fn a_warning_that_is_too_long_means_no() {
    let long = "x".repeat(900);
    let finding = format!(r#"{{"ruleId":"r","severity":"warn","message":"{long}"}}"#);
    let with = |count: usize| {
        let list = vec![finding.as_str(); count].join(",");
        format!(r#"{{"protocolVersion":1,"decision":"warn","reason":"w","findings":[{list}]}}"#)
    };
    let file = |count: usize| {
        let machine = machine("cat > /dev/null; cat $(dirname $0)/answer", "timeoutMs: 2000")
            .file("bin/answer", with(count));
        // The policy gets no PATH unless it is given one.
        machine.script("policy", "/bin/cat > /dev/null; /bin/cat ${0%/*}/answer")
    };
    assert!(policy_answer(&file(4)).starts_with("warn"));
    assert!(policy_answer(&file(5)).contains("a warning that is too long"));
    let short = r#"{"ruleId":"r","severity":"info","message":"m"}"#;
    let many = |count: usize, decision: &str| {
        let list = vec![short; count].join(",");
        let answer = format!(
            r#"{{"protocolVersion":1,"decision":"{decision}","reason":"w","findings":[{list}]}}"#
        );
        policy_answer(
            &machine("/bin/cat > /dev/null; /bin/cat ${0%/*}/answer", "")
                .file("bin/answer", answer),
        )
    };
    assert!(many(100, "warn").starts_with("warn"));
    assert!(many(101, "warn").contains("a warning that is too long"));
    assert_eq!(many(101, "block").lines().count(), 101);
}

#[test]
fn the_policy_is_told_what_is_about_to_happen_and_little_else() {
    let machine = machine(
        "/bin/cat > ${0%/*}/input; /usr/bin/env > ${0%/*}/env; echo \"$@\" > ${0%/*}/args; echo '{\"protocolVersion\":1,\"decision\":\"allow\"}'",
        "args: ['--mode', 'a b'], env: {MODE: 'strict', LD_PRELOAD: 'x'}, passEnv: ['LANG', 'LD_LIBRARY_PATH']",
    )
    .var("LANG", "C")
    .var("LD_LIBRARY_PATH", "steer")
    .var("OPENAI_API_KEY", "secret");
    assert_eq!(policy_answer(&machine), "allow");
    let read =
        |name: &str| std::fs::read_to_string(machine.path(&format!("bin/{name}"))).expect(name);
    let input: serde_json::Value = serde_json::from_str(&read("input")).expect("JSON");
    assert_eq!(input["protocolVersion"], 1);
    assert_eq!((&input["targetType"], &input["targetName"]), (&"skill".into(), &"demo".into()));
    for key in [
        "openclawVersion",
        "sinewVersion",
        "sourcePath",
        "sourcePathKind",
        "origin",
        "request",
        "skill",
    ] {
        assert!(input.get(key).is_some(), "{key}");
    }
    let env = read("env");
    let mut names: Vec<&str> = env.lines().filter_map(|line| line.split('=').next()).collect();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    assert_eq!(names, ["LANG", "MODE"]);
    assert_eq!(read("args"), "--mode a b\n");
}

#[test]
fn a_command_that_others_could_have_put_there_is_not_asked() {
    let allow = answer(r#"{"protocolVersion":1,"decision":"allow"}"#);
    let with = |command: &str, more: &str| {
        TestMachine::new().script("policy", &allow).config(&format!(
            "{{security: {{installPolicy: {{enabled: true, exec: {{command: '{command}', {more}}}}}}}}}"
        ))
    };
    assert!(policy_answer(&with("policy", "")).contains("absolute path"));
    assert!(policy_answer(&with("", "")).contains("absolute path"));
    assert!(policy_answer(&with("$ROOT/bin/none", "")).contains("cannot be read"));
    assert!(policy_answer(&with("$ROOT/bin", "")).contains("not a regular file"));
    assert_eq!(policy_answer(&with("$ROOT/bin/policy", "trustedDirs: ['$ROOT/bin']")), "allow");
    assert!(
        policy_answer(&with("$ROOT/bin/policy", "trustedDirs: ['$ROOT/home']"))
            .contains("not in a trusted folder")
    );
    #[cfg(unix)]
    {
        let linked = with("$ROOT/bin/link", "").link("bin/link", "bin/policy");
        assert!(policy_answer(&linked).contains("is a link"));
        let open = with("$ROOT/bin/policy", "");
        open.chmod("bin/policy", 0o777);
        assert!(policy_answer(&open).contains("changed by others"));
        let open = with("$ROOT/bin/policy", "");
        open.chmod("bin", 0o777);
        assert!(policy_answer(&open).contains("any user can change"));
    }
}

#[test]
fn it_is_asked_only_where_it_has_a_say() {
    let off = TestMachine::new();
    assert_eq!(policy_answer(&off), "allow");
    let plugins = TestMachine::new()
        .config("{security: {installPolicy: {enabled: true, targets: ['plugin'], exec: {command: '/none'}}}}");
    assert_eq!(policy_answer(&plugins), "allow");
    // A setting that cannot be read must not disable the policy.
    for odd in ["{enabled: 'yes'}", "true", "{enabled: 1}"] {
        let machine = TestMachine::new().config(&format!("{{security: {{installPolicy: {odd}}}}}"));
        assert!(
            policy_answer(&machine).contains("cannot be read, so nothing is installed"),
            "{odd}"
        );
    }
}
