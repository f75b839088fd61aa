//! Runs of commands for skills: what they get, what is left afterwards, and how they ended.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use sinew_cortex::failure::FailureKind;
use sinew_exec::ProcessSignal;
use sinew_exec::child::{ProcessControl, StdinMode};
use sinew_exec::classify::RunOutcome;
use sinew_exec::run::{RetryPolicy, RunReport, RunRequest, run};
use sinew_testkit::TestMachine;

use crate::support::{World, request, words};

fn classified(world: &World, script: &str) -> (RunOutcome, String) {
    let lease = world.lease(&["demo"]);
    let (_, report) = world.run("demo", &lease, &["/bin/sh", "-c", script]);
    (report.outcome, report.detail)
}

/// A declared key reaches the command; undeclared ones and variables that control programs do not.
#[test]
fn the_command_gets_what_its_skill_declares_and_nothing_else() {
    let mut machine = TestMachine::new()
        .workspace_skill(
            "demo",
            "metadata: {openclaw: {primaryEnv: DEMO_API_KEY, requires: {env: [HOST_TOKEN]}}}",
        )
        .config("{skills: {entries: {demo: {apiKey: 'k1-value', env: {PLAIN: 'p', OTHER_TOKEN: 't'}}}}}")
        .var("HOST_TOKEN", "host")
        .var("OPENAI_API_KEY", "not for you")
        .var("GH_TOKEN", "not for you")
        .var("LANG", "C");
    for name in ["LD_PRELOAD", "LD_LIBRARY_PATH", "NODE_OPTIONS", "PYTHONPATH", "BASH_ENV", "IFS"] {
        machine = machine.var(name, "steer");
    }
    let world = World::new(machine);
    let seen = world.child_sees("demo");
    assert_eq!(
        seen.keys().map(String::as_str).collect::<Vec<_>>(),
        ["DEMO_API_KEY", "HOST_TOKEN", "LANG", "PATH", "PLAIN"]
    );
    assert_eq!((seen["DEMO_API_KEY"].as_str(), seen["HOST_TOKEN"].as_str()), ("k1-value", "host"));
    let lease = world.lease(&["demo"]);
    let env = world.run_env("demo", &lease);
    let withheld: Vec<&str> =
        env.withheld.iter().filter_map(|record| record.key.as_deref()).collect();
    assert!(
        withheld.contains(&"OPENAI_API_KEY") && withheld.contains(&"LD_PRELOAD"),
        "{withheld:?}"
    );
}

/// Nothing is left after a run, after the child was killed, and after a panic.
#[test]
fn nothing_remains_after_a_run() {
    let world = World::demo("{primaryEnv: DEMO_KEY}", "{apiKey: 'k1-value'}");
    let before: Vec<(String, String)> = std::env::vars().collect();
    for script in ["exit 0", "exit 9", "kill -KILL $$"] {
        let lease = world.lease(&["demo"]);
        assert_eq!(world.leases.active_env_keys(), ["DEMO_KEY"]);
        world.run("demo", &lease, &["/bin/sh", "-c", script]);
        drop(lease);
        assert!(world.leases.active_env_keys().is_empty(), "{script}");
    }
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _lease = world.lease(&["demo"]);
        panic!("the run panics");
    }));
    assert!(panicked.is_err() && world.leases.active_env_keys().is_empty());
    assert_eq!(std::env::vars().collect::<Vec<_>>(), before);
}

#[test]
fn thirty_two_runs_at_once_share_keys_and_each_sees_its_own() {
    let mut machine = TestMachine::new();
    let mut entries = Vec::new();
    for number in 0..4 {
        machine = machine.workspace_skill(
            &format!("s{number}"),
            "metadata: {openclaw: {requires: {env: [SHARED_KEY, OWN_KEY]}}}",
        );
        entries
            .push(format!("s{number}: {{env: {{SHARED_KEY: 'shared', OWN_KEY: 'own-{number}'}}}}"));
    }
    let world =
        World::new(machine.config(&format!("{{skills: {{entries: {{{}}}}}}}", entries.join(","))));
    let at_once = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..32 {
            let (world, at_once) = (&world, &at_once);
            scope.spawn(move || {
                let skill = format!("s{}", number % 4);
                for _ in 0..3 {
                    let lease = world.lease(&[&skill]);
                    at_once.fetch_max(world.leases.active_env_keys().len(), Ordering::Relaxed);
                    let script = "printf '%s %s' \"$SHARED_KEY\" \"$OWN_KEY\"";
                    let (text, _) = world.run(&skill, &lease, &["/bin/sh", "-c", script]);
                    assert_eq!(text, format!("shared own-{}", number % 4));
                }
            });
        }
    });
    assert_eq!(at_once.load(Ordering::Relaxed), 2);
    assert!(world.leases.active_env_keys().is_empty());
}

#[test]
fn outcomes_follow_from_how_a_command_ends() {
    let world = World::demo("{requires: {env: [DEMO_KEY]}}", "{env: {DEMO_KEY: 'k1-value'}}");
    assert_eq!(classified(&world, "echo fine").0, RunOutcome::Success);
    assert_eq!(
        classified(&world, "nosuchprogram").0,
        RunOutcome::Failure(FailureKind::DependencyMissing)
    );
    assert_eq!(
        classified(&world, "echo 'HTTP 401' >&2; exit 1").0,
        RunOutcome::Failure(FailureKind::AuthError)
    );
    assert_eq!(
        classified(&world, "echo 'HTTP 503' >&2; exit 1").0,
        RunOutcome::Failure(FailureKind::ApiError)
    );
    let (outcome, detail) =
        classified(&world, "echo usage >&2; echo 'error: bad input' >&2; exit 1");
    assert_eq!(
        (outcome, detail.as_str()),
        (RunOutcome::Failure(FailureKind::RuntimeError), "error: bad input")
    );
    let lease = world.lease(&["demo"]);
    let (_, report) = world.run("demo", &lease, &["nosuchprogram", "--x"]);
    assert_eq!(report.outcome, RunOutcome::Failure(FailureKind::DependencyMissing));
    assert_eq!((report.rule, report.exit_code), ("no-program", None));
    assert_eq!(report.missing.as_deref(), Some("nosuchprogram"));
    let (_, report) = world.run("demo", &lease, &["/bin/sh", "-c", "othertool --x"]);
    assert_eq!(report.missing.as_deref(), Some("othertool"));
    // A declared variable that is not set.
    let world = World::demo("{requires: {env: [DEMO_KEY]}}", "{}");
    assert_eq!(
        classified(&world, "exit 1"),
        (RunOutcome::Failure(FailureKind::AuthError), "not set: DEMO_KEY".to_owned())
    );
    assert_eq!(
        classified(&world, "echo 'HTTP 503' >&2; exit 1").0,
        RunOutcome::Failure(FailureKind::ApiError)
    );
}

#[test]
fn tools_of_the_skill_come_after_those_of_the_system() {
    let world = World::demo("{}", "{}");
    for (folder, word) in [("demo/bin", "own"), ("other", "foreign"), ("node/npm/bin", "npm")] {
        world
            .machine
            .write(&format!("home/.sinew/tools/{folder}/{word}-tool"), "#!/bin/sh\necho yes\n");
        world.machine.chmod(&format!("home/.sinew/tools/{folder}/{word}-tool"), 0o755);
    }
    let run = |tool: &str| {
        let lease = world.lease(&["demo"]);
        world.run("demo", &lease, &[tool]).1.outcome
    };
    assert_eq!(run("own-tool"), RunOutcome::Success);
    assert_eq!(run("npm-tool"), RunOutcome::Success);
    assert_eq!(run("foreign-tool"), RunOutcome::Failure(FailureKind::DependencyMissing));
    let path = world.child_sees("demo")["PATH"].clone();
    assert!(path.starts_with(&*world.machine.path("bin").to_string_lossy()), "{path}");
}

/// Runs a script that fails with an API error until it was started `until` times; each start is
/// counted.
fn flaky(rewind: bool, until: usize, control: &ProcessControl) -> (RunReport, usize) {
    let world = World::demo("{}", "{}");
    let count = world.machine.path("count");
    let script = format!(
        "echo x >> {0}; [ $(/usr/bin/wc -l < {0}) -ge {until} ] && exit 0; echo 'HTTP 503' >&2; exit 1",
        count.display()
    );
    let lease = world.lease(&["demo"]);
    let argv = words(&["/bin/sh", "-c", &script]);
    let mut can = || rewind;
    let retry = RetryPolicy::Once { after: Duration::from_millis(150), rewind: &mut can };
    let report = run(
        RunRequest { retry, ..request(&world.machine, &argv) },
        &world.run_env("demo", &lease),
        &lease.masker(),
        &world.machine.environment(),
        control,
        &mut |_, _| {},
    )
    .expect("sh starts");
    let starts = std::fs::read_to_string(count).expect("it ran").lines().count();
    (report, starts)
}

#[test]
fn an_api_error_is_tried_once_more() {
    let (report, starts) = flaky(true, 2, &ProcessControl::default());
    assert_eq!((report.outcome, report.attempts, starts), (RunOutcome::Success, 2, 2));
    assert!(report.duration_ms >= 150);
    let (report, starts) = flaky(true, 9, &ProcessControl::default());
    assert_eq!(
        (report.outcome, report.attempts, starts),
        (RunOutcome::Failure(FailureKind::ApiError), 2, 2)
    );
    // Input that was already consumed cannot be sent twice.
    let (report, starts) = flaky(false, 2, &ProcessControl::default());
    assert_eq!(
        (report.outcome, report.attempts, starts),
        (RunOutcome::Failure(FailureKind::ApiError), 1, 1)
    );
    assert!(report.not_retried.is_some());
    // Nor is it run again after an interruption.
    let control = ProcessControl::default();
    control.signal(ProcessSignal::Interrupt);
    let (report, starts) = flaky(true, 2, &control);
    assert_eq!((report.interrupted, starts), (true, 1));
}

#[test]
fn a_real_server_that_is_busy_is_an_api_error() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().take(1) {
            let mut stream = stream.expect("a connection");
            let _ = stream.read(&mut [0; 1024]);
            let _ =
                stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n");
        }
    });
    if !std::path::Path::new("/usr/bin/curl").exists() {
        sinew_testkit::report_skip("there is no curl");
        return;
    }
    let world = World::demo("{}", "{}");
    let lease = world.lease(&["demo"]);
    let address = format!("http://127.0.0.1:{port}/");
    let (_, report) = world.run("demo", &lease, &["/usr/bin/curl", "-fsS", &address]);
    assert_eq!(
        (report.outcome, report.exit_code),
        (RunOutcome::Failure(FailureKind::ApiError), Some(22)),
        "{report:?}"
    );
}

#[test]
fn a_time_limit_is_a_runtime_error() {
    let world = World::demo("{}", "{}");
    let lease = world.lease(&["demo"]);
    let argv = words(&["/bin/sleep", "600"]);
    let limited = RunRequest {
        timeout: Some(Duration::from_millis(200)),
        stdin: StdinMode::Null,
        ..request(&world.machine, &argv)
    };
    let report = run(
        limited,
        &world.run_env("demo", &lease),
        &lease.masker(),
        &world.machine.environment(),
        &ProcessControl::default(),
        &mut |_, _| {},
    )
    .expect("sh starts");
    assert_eq!(
        (report.outcome, report.rule),
        (RunOutcome::Failure(FailureKind::RuntimeError), "ended")
    );
}
