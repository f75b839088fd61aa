//! Real managers and real registries, if the machine has them. Each test reports when it cannot
//! run.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use sinew_catalog::install::{InstallerKind, InstallerSetup, check_spec};
use sinew_exec::EnvLeases;
use sinew_exec::child::ProcessControl;
use sinew_exec::install::{InstallJob, InstallResult, installer_setup, installer_timeout, run};
use sinew_settings::Environment;
use sinew_skill::InstallSpec;
use sinew_testkit::{TestMachine, report_skip};

/// The machine's folders with the real PATH, because managers need other programs.
fn environment(machine: &TestMachine) -> Environment {
    let mut env = machine.environment();
    env.vars = std::env::vars().filter(|(name, _)| name != "HOME").collect();
    env.vars.insert("HOME".to_owned(), machine.path("home").to_string_lossy().into_owned());
    env
}

fn reachable(host: &str) -> bool {
    let addresses = (host, 443).to_socket_addrs().into_iter().flatten();
    addresses.take(2).any(|a| TcpStream::connect_timeout(&a, Duration::from_secs(3)).is_ok())
}

fn vector(kind: &str, field: &str, what: &str, setup: &InstallerSetup) -> Vec<String> {
    let spec = InstallSpec {
        id: format!("{kind}-0"),
        kind: kind.to_owned(),
        fields: [(field.to_owned(), what.to_owned())].into(),
        ..InstallSpec::default()
    };
    check_spec(&spec).and_then(|installer| installer.argument_vector(setup)).expect("a vector")
}

fn install(kind: InstallerKind, argv: &[String], env: &Environment) -> InstallResult {
    let job = InstallJob { id: "real-0", kind, argv, timeout: installer_timeout(Some(120)) };
    run(&job, env, &EnvLeases::default(), &ProcessControl::default(), &mut |_, _| {})
}

/// Why a real install cannot be tried here; `None` if it can.
fn obstacle(env: &Environment, manager: &str, host: &str) -> Option<String> {
    if sinew_catalog::find_program(env, manager).is_none() {
        return Some(format!("there is no {manager}"));
    }
    (!reachable(host)).then(|| format!("{host} cannot be reached"))
}

#[test]
fn npm_installs_a_package_into_its_own_prefix() {
    let machine = TestMachine::new();
    let env = environment(&machine);
    if let Some(why) = obstacle(&env, "npm", "registry.npmjs.org") {
        return report_skip(&why);
    }
    let argv = vector("node", "package", "semver@7.6.3", &InstallerSetup::default());
    let result = install(InstallerKind::Node, &argv, &env);
    assert!(result.ok, "{result:?}");
    let bin = machine.path("home/.sinew/tools/node/npm/bin/semver");
    assert!(bin.exists(), "{result:?}");
    assert!(
        sinew_catalog::program_folders(&env)
            .contains(&bin.parent().map(Path::to_owned).expect("a folder"))
    );
}

#[test]
fn uv_installs_a_tool() {
    let machine = TestMachine::new();
    let mut env = environment(&machine);
    env.vars.insert(
        "XDG_DATA_HOME".to_owned(),
        machine.path("home/.local/share").to_string_lossy().into_owned(),
    );
    if let Some(why) = obstacle(&env, "uv", "pypi.org") {
        return report_skip(&why);
    }
    let argv = vector("uv", "package", "pycowsay==0.0.0.2", &InstallerSetup::default());
    let result = install(InstallerKind::Uv, &argv, &env);
    assert!(result.ok, "{result:?}");
    assert!(machine.path("home/.local/bin/pycowsay").exists(), "{result:?}");
}

/// apt changes the whole machine, so only a dry run is tried: `--dry-run` is added to the real
/// vector.
#[test]
fn apt_understands_the_vector() {
    let machine = TestMachine::new();
    let env = environment(&machine);
    if sinew_catalog::find_program(&env, "apt-get").is_none() {
        return report_skip("there is no apt-get");
    }
    let setup = installer_setup(Default::default());
    if !setup.root {
        return report_skip("this user is not root");
    }
    let mut argv = vector("apt", "package", "hostname", &setup);
    argv.insert(argv.len() - 1, "--dry-run".to_owned());
    let result = install(InstallerKind::Apt, &argv, &env);
    if !result.ok && result.stderr_tail.contains("Unable to locate package") {
        return report_skip("apt has no lists of packages");
    }
    assert!(result.ok, "{result:?}");
}
