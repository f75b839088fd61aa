//! What to do if the program that installs is itself missing. It is never installed without asking.

use std::ffi::OsString;
use std::time::Duration;

use serde::Serialize;
use sinew_catalog::install::{InstallerKind, InstallerSetup};
use sinew_settings::{Environment, Reason, ReasonCode};

use crate::child::{
    self, ExitCause, ProcessControl, ProgramLimits, ProgramSpec, StdinMode, StdoutMode,
};
use crate::env_value::SecretMasker;
use crate::lease::EnvLeases;

/// Querying apt or sudo is quick, except when a mount hangs.
const PROBE: Duration = Duration::from_secs(10);
/// The first Go version that fetches the toolchain a module requires.
const OLDEST_GO: (u32, u32) = (1, 21);

/// A manager that is not installed, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingManager {
    /// What is missing, and the next step.
    pub reason: Reason,
    /// What would install the manager, which needs its own consent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offer: Option<(InstallerKind, Vec<String>)>,
}

/// Whether the manager of a kind is missing here.
pub fn missing_manager(
    kind: InstallerKind,
    setup: &InstallerSetup,
    env: &Environment,
    leases: &EnvLeases,
) -> Option<MissingManager> {
    let manager = setup.manager(kind);
    if kind == InstallerKind::Download || sinew_catalog::find_program(env, manager).is_some() {
        return None;
    }
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let brew = |formula: &str| Some((InstallerKind::Brew, words(&["brew", "install", formula])));
    let has_brew = sinew_catalog::find_program(env, "brew").is_some();
    let (offer, remedy) = match kind {
        InstallerKind::Uv if has_brew => {
            (brew("uv"), "install uv first: brew install uv".to_owned())
        }
        InstallerKind::Uv => (None, "install uv first: https://docs.astral.sh/uv/".to_owned()),
        InstallerKind::Go if has_brew => {
            (brew("go"), "install Go first: brew install go".to_owned())
        }
        InstallerKind::Go if apt_has_go(setup, env, leases) => {
            let argv = apt_vector(setup, "golang-go");
            let command = argv.join(" ");
            (Some((InstallerKind::Apt, argv)), format!("install Go first: {command}"))
        }
        InstallerKind::Go => (None, "install Go first: https://go.dev/dl/".to_owned()),
        InstallerKind::Node => (None, format!("install {manager} first: https://nodejs.org/")),
        InstallerKind::Brew if env.os == "darwin" => {
            (None, "install brew first: https://brew.sh/".to_owned())
        }
        // Brew exists for Linux, but a user who does not have it there is better served by another
        // way.
        InstallerKind::Brew => (
            None,
            format!("brew is rarely found on {}; choose another of `sinew deps --all`", env.os),
        ),
        InstallerKind::Apt => {
            (None, "this system has no apt; choose another of `sinew deps --all`".to_owned())
        }
        InstallerKind::Download => return None,
    };
    let reason = Reason::new(ReasonCode::ManagerMissing, format!("{manager} is not installed"))
        .key(manager)
        .remedy(remedy);
    Some(MissingManager { reason, offer })
}

fn apt_vector(setup: &InstallerSetup, package: &str) -> Vec<String> {
    let sudo: &[&str] = if setup.root { &[] } else { &["sudo", "-n"] };
    let apt = ["apt-get", "install", "-y", "--no-install-recommends", package];
    sudo.iter().chain(&apt).map(|word| (*word).to_owned()).collect()
}

/// Whether apt offers a Go that is new enough, and may install it without a password.
fn apt_has_go(setup: &InstallerSetup, env: &Environment, leases: &EnvLeases) -> bool {
    let allowed = setup.root || probe(&["sudo", "-n", "true"], env, leases).is_some();
    let policy = || probe(&["apt-cache", "policy", "golang-go"], env, leases);
    allowed && policy().and_then(|text| candidate(&text)).is_some_and(|go| go >= OLDEST_GO)
}

/// The version in `Candidate: 2:1.24~2`, without Debian's additions.
fn candidate(policy: &str) -> Option<(u32, u32)> {
    let line = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate:"))?.trim();
    let version = line.split_once(':').map_or(line, |(_, version)| version);
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The output of a harmless query, if it succeeds.
fn probe(argv: &[&str], env: &Environment, leases: &EnvLeases) -> Option<String> {
    let (name, args) = argv.split_first()?;
    let mut vars = leases.bystander_env(&env.vars);
    vars.insert("LC_ALL".to_owned(), "C".to_owned());
    let program = ProgramSpec {
        file: child::locate(name.as_ref(), &vars, &env.home, env).ok()?,
        args: args.iter().map(OsString::from).collect(),
        env: vars,
        cwd: env.home.clone(),
        stdin: StdinMode::Null,
        stdout: StdoutMode::Keep,
        limits: ProgramLimits { time: Some(PROBE), ..ProgramLimits::default() },
    };
    let ended = child::run(program, &ProcessControl::default(), &mut |_, _| {}).ok()?;
    (ended.how == ExitCause::Exit(0)).then(|| ended.stdout.text(&SecretMasker::default()))
}

#[cfg(test)]
mod tests {
    use super::candidate;

    #[test]
    fn the_candidate_is_read_as_debian_writes_it() {
        let policy =
            |version: &str| format!("golang-go:\n  Installed: (none)\n  Candidate: {version}\n");
        assert_eq!(candidate(&policy("2:1.24~2")), Some((1, 24)));
        assert_eq!(candidate(&policy("1.19.8-1")), Some((1, 19)));
        assert_eq!(candidate(&policy("(none)")), None);
        assert_eq!(candidate(""), None);
    }
}
