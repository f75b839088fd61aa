//! Installers that are scripts.

use std::time::Duration;

use sinew_catalog::install::{InstallerKind, InstallerSetup};
use sinew_exec::child::ProcessControl;
use sinew_exec::install::{InstallJob, InstallResult, installer_timeout, missing_manager, run};
use sinew_exec::{EnvLeases, EnvPlan, EnvValue, PlannedVar};
use sinew_settings::ReasonCode;
use sinew_testkit::TestMachine;

fn installed(
    machine: &TestMachine,
    kind: InstallerKind,
    argv: &[&str],
    limit: Duration,
) -> InstallResult {
    installed_with(machine, kind, argv, limit, &EnvLeases::default())
}

fn installed_with(
    machine: &TestMachine,
    kind: InstallerKind,
    argv: &[&str],
    limit: Duration,
    leases: &EnvLeases,
) -> InstallResult {
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    let job = InstallJob { id: "demo-0", kind, argv: &argv, timeout: limit };
    run(&job, &machine.environment(), leases, &ProcessControl::default(), &mut |_, _| {})
}

#[test]
fn a_failure_says_the_first_error_in_plain_text() {
    let long = "y".repeat(400);
    let machine = TestMachine::new().script(
        "brew",
        &format!(
            "echo fetching; printf '\\033[31mError: no formula\\033[0m %s\\n' {long} >&2; exit 1"
        ),
    );
    let result = installed(
        &machine,
        InstallerKind::Brew,
        &["brew", "install", "gh"],
        installer_timeout(None),
    );
    assert_eq!((result.ok, result.exit_code), (false, Some(1)));
    assert_eq!(result.code.map(ReasonCode::as_str), Some("install-failed"));
    assert!(
        result.message.starts_with("brew failed with code 1: Error: no formula"),
        "{}",
        result.message
    );
    assert!(result.message.chars().count() <= 200 && !result.message.contains('\u{1b}'));
    assert_eq!(result.stdout_tail, "fetching\n");
    assert!(!result.stderr_tail.contains('\u{1b}'));
    let json = serde_json::to_value(&result).expect("JSON");
    for key in [
        "ok",
        "code",
        "specId",
        "argv",
        "exitCode",
        "durationMs",
        "message",
        "stdoutTail",
        "stderrTail",
        "warnings",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
}

#[test]
fn an_installer_that_sleeps_is_ended_with_its_children() {
    let machine = TestMachine::new();
    let pid = machine.path("pid");
    let machine =
        machine.script("brew", &format!("/bin/sleep 600 & echo $! > {}; wait", pid.display()));
    let result = installed(
        &machine,
        InstallerKind::Brew,
        &["brew", "install", "x"],
        installer_timeout(Some(0)),
    );
    assert_eq!(result.code.map(ReasonCode::as_str), Some("install-timeout"), "{result:?}");
    assert!(result.duration_ms >= 1_000);
    let child = std::fs::read_to_string(pid).expect("it started");
    // A killed process takes a moment to disappear, and longer on a busy machine.
    let is_gone = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        stat.map_or(true, |stat| stat.contains(") Z") || stat.contains(") X"))
    };
    let waited = (0..500).find(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_gone()
    });
    assert!(waited.is_some(), "{child} is still there");
    assert_eq!(installer_timeout(Some(0)), Duration::from_secs(1));
    assert_eq!(installer_timeout(Some(5_000)), Duration::from_secs(900));
    assert_eq!(installer_timeout(None), Duration::from_secs(300));
    assert_eq!(installer_timeout(Some(20)), Duration::from_secs(20));
}

#[test]
fn an_installer_sees_no_lease_and_nothing_that_steers() {
    let machine = TestMachine::new()
        .script("npm", "/usr/bin/env; pwd; /bin/ls -A; /bin/cat")
        .var("NOTION_KEY", "left over")
        .var("LD_PRELOAD", "steer")
        .var("NPM_CONFIG_REGISTRY", "https://steer.example")
        .var("HTTPS_PROXY", "http://proxy.example")
        .var("LANG", "de_DE");
    let mut host = machine.environment();
    host.vars.remove("NOTION_KEY");
    let leases = EnvLeases::default();
    let planned = PlannedVar {
        name: "NOTION_KEY".to_owned(),
        value: EnvValue::new("k1-value"),
        skill: "demo".to_owned(),
    };
    let _lease = leases.acquire(EnvPlan { vars: vec![planned], records: Vec::new() }, &host);
    let argv = ["npm", "install", "-g", "--ignore-scripts", "x"];
    let result =
        installed_with(&machine, InstallerKind::Node, &argv, installer_timeout(None), &leases);
    assert!(result.ok, "{result:?}");
    let output = result.stdout_tail;
    for bad in ["NOTION_KEY", "LD_PRELOAD", "steer"] {
        assert!(!output.contains(bad), "{output}");
    }
    let prefix = machine.path("home/.sinew/tools/node/npm");
    for good in [
        "CI=1",
        "LC_ALL=C",
        "HTTPS_PROXY=http://proxy.example",
        &format!("NPM_CONFIG_PREFIX={}", prefix.display()),
    ] {
        assert!(output.lines().any(|line| line == good), "{good} in {output}");
    }
    assert!(output.ends_with("/tools/.work\n"), "an empty folder, and nothing to read: {output}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            std::fs::metadata(prefix).expect("a folder").permissions().mode() & 0o777,
            0o700
        );
    }
}

#[test]
fn each_manager_gets_its_own_settings() {
    let machine = TestMachine::new()
        .script("brew", "echo ${HOMEBREW_NO_AUTO_UPDATE:-no}")
        .script("apt-get", "echo ${DEBIAN_FRONTEND:-no}")
        .script("uv", "echo ${GOBIN:-no}${NPM_CONFIG_PREFIX:-no}");
    let output =
        |kind, argv: &[&str]| installed(&machine, kind, argv, installer_timeout(None)).stdout_tail;
    assert_eq!(output(InstallerKind::Brew, &["brew", "install", "x"]), "1\n");
    assert_eq!(output(InstallerKind::Apt, &["apt-get", "install", "x"]), "noninteractive\n");
    assert_eq!(output(InstallerKind::Uv, &["uv", "tool", "install", "x"]), "nono\n");
    let go = TestMachine::new().script("go", "echo $GOBIN");
    let result =
        installed(&go, InstallerKind::Go, &["go", "install", "a/b@v1"], installer_timeout(None));
    assert_eq!(result.stdout_tail.trim(), go.path("home/.local/bin").to_string_lossy());
    let brewed = go.script("brew", ":");
    let result = installed(
        &brewed,
        InstallerKind::Go,
        &["go", "install", "a/b@v1"],
        installer_timeout(None),
    );
    assert_eq!(result.stdout_tail.trim(), brewed.path("bin").to_string_lossy());
}

#[test]
fn one_installer_at_a_time_per_manager() {
    let machine = TestMachine::new();
    let log = machine.path("log");
    let machine = machine.script(
        "brew",
        &format!("echo start >> {0}; /bin/sleep 0.1; echo end >> {0}", log.display()),
    );
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                installed(
                    &machine,
                    InstallerKind::Brew,
                    &["brew", "install", "x"],
                    installer_timeout(None),
                )
            });
        }
    });
    let log = std::fs::read_to_string(log).expect("a log");
    assert_eq!(log, "start\nend\n".repeat(4));
}

#[test]
fn a_missing_manager_has_a_next_step_and_is_never_installed_unasked() {
    let remedy = |machine: &TestMachine, kind| {
        let setup = InstallerSetup { root: true, ..InstallerSetup::default() };
        let missing = missing_manager(kind, &setup, &machine.environment(), &EnvLeases::default());
        missing.map(|missing| {
            assert_eq!(missing.reason.code.as_str(), "manager-missing");
            let offer = missing.offer.map(|(_, argv)| argv.join(" ")).unwrap_or_default();
            (missing.reason.remedy.unwrap_or_default(), offer)
        })
    };
    let bare = TestMachine::new();
    assert_eq!(remedy(&bare, InstallerKind::Uv).map(|(_, offer)| offer).as_deref(), Some(""));
    assert!(
        remedy(&bare, InstallerKind::Uv)
            .is_some_and(|(remedy, _)| remedy.contains("docs.astral.sh"))
    );
    assert!(remedy(&bare, InstallerKind::Brew).is_some_and(|(remedy, _)| remedy.contains("linux")));
    assert!(remedy(&bare, InstallerKind::Go).is_some_and(|(remedy, _)| remedy.contains("go.dev")));
    assert!(remedy(&bare, InstallerKind::Node).is_some_and(|(remedy, _)| remedy.contains("npm")));
    assert_eq!(remedy(&bare, InstallerKind::Download), None);
    let brewed = TestMachine::new().script("brew", "exit 9");
    assert_eq!(
        remedy(&brewed, InstallerKind::Uv).map(|(_, offer)| offer).as_deref(),
        Some("brew install uv")
    );
    assert_eq!(
        remedy(&brewed, InstallerKind::Go).map(|(_, offer)| offer).as_deref(),
        Some("brew install go")
    );
    let debian = |version: &str| {
        TestMachine::new()
            .script("apt-get", "exit 9")
            .script("apt-cache", &format!("echo '  Candidate: {version}'"))
    };
    assert_eq!(
        remedy(&debian("2:1.24~2"), InstallerKind::Go).map(|(_, offer)| offer).as_deref(),
        Some("apt-get install -y --no-install-recommends golang-go")
    );
    assert_eq!(
        remedy(&debian("2:1.19~1"), InstallerKind::Go).map(|(_, offer)| offer).as_deref(),
        Some("")
    );
    // It would ask for a password, so it is not offered.
    let setup = InstallerSetup::default();
    let machine = debian("2:1.24~2").script("sudo", "exit 1");
    let missing =
        missing_manager(InstallerKind::Go, &setup, &machine.environment(), &EnvLeases::default());
    assert!(missing.is_some_and(|missing| missing.offer.is_none()));
    let machine = debian("2:1.24~2").script("sudo", "exit 0");
    let missing =
        missing_manager(InstallerKind::Go, &setup, &machine.environment(), &EnvLeases::default());
    assert_eq!(
        missing.and_then(|m| m.offer).map(|(_, argv)| argv[..2].join(" ")).as_deref(),
        Some("sudo -n")
    );
}

#[test]
fn an_installer_that_is_not_there_is_a_missing_manager() {
    let result = installed(
        &TestMachine::new(),
        InstallerKind::Brew,
        &["brew", "install", "x"],
        installer_timeout(None),
    );
    assert_eq!(result.code.map(ReasonCode::as_str), Some("manager-missing"));
}
