//! Installing what a skill needs, after consent: one installer at a time per manager, without a
//! shell, without leased variables, under a time limit.
//!
//! **Must never happen here:** a program started before consent, `sudo` that could ask for a
//! password, an installer that inherits a variable which controls it.

mod download;
mod fetch;
mod managers;
mod policy;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use serde::Serialize;
use sinew_catalog::install::{InstallerKind, InstallerSetup};
use sinew_catalog::tools;
use sinew_guard::atomic::FileLock;
use sinew_guard::private_files;
use sinew_settings::{Environment, Reason, ReasonCode};

pub use download::{ToolDownload, download};
pub use fetch::{
    CheckedResolver, FileFetcher, MAX_DOWNLOAD, NameResolution, RefusedAddress, authorities,
};
pub use managers::{MissingManager, missing_manager};
pub use policy::{PolicyCheck, PolicyDecision, PolicyFinding, PolicyNotice, PolicyRequest};

use crate::child::{
    self, ExitCause, FinishedProgram, OutputStream, ProcessControl, ProgramLimits, ProgramSpec,
    StdinMode, StdoutMode,
};
use crate::classify::error_line;
use crate::env_value::SecretMasker;
use crate::lease::EnvLeases;

/// How long an installer may take by default.
pub const DEFAULT_TIMEOUT: u64 = 300;
/// The allowed range.
const TIMEOUTS: std::ops::RangeInclusive<u64> = 1..=900;

/// How long an installer may take: the requested time, within bounds.
pub fn installer_timeout(seconds: Option<u64>) -> Duration {
    let seconds = seconds.unwrap_or(DEFAULT_TIMEOUT);
    Duration::from_secs(seconds.clamp(*TIMEOUTS.start(), *TIMEOUTS.end()))
}

/// How vectors are built on this machine: the configured manager, and whether this user needs
/// `sudo`.
pub fn installer_setup(node: sinew_settings::config::NodeManager) -> InstallerSetup {
    #[cfg(unix)]
    let root = rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    let root = false;
    InstallerSetup { node, root }
}

/// A vector to run.
#[derive(Debug, Clone)]
pub struct InstallJob<'a> {
    /// The installer's name within the skill.
    pub id: &'a str,
    /// The kind of installer.
    pub kind: InstallerKind,
    /// The vector.
    pub argv: &'a [String],
    /// How long it may take.
    pub timeout: Duration,
}

/// The result of an installer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallResult {
    /// Whether it worked.
    pub ok: bool,
    /// Why not.
    pub code: Option<ReasonCode>,
    /// The installer's name within the skill.
    pub spec_id: String,
    /// What was run.
    pub argv: Vec<String>,
    /// Its exit code, if it has one.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// What happened, in one line.
    pub message: String,
    /// The end of its standard output.
    pub stdout_tail: String,
    /// The end of its standard error.
    pub stderr_tail: String,
    /// Anything else worth knowing.
    pub warnings: Vec<String>,
}

impl InstallResult {
    /// A result without output: for something that was refused, or that sinew did itself.
    pub fn without_output(id: &str, argv: &[String], outcome: Result<String, &Reason>) -> Self {
        Self {
            ok: outcome.is_ok(),
            code: outcome.as_ref().err().map(|reason| reason.code),
            spec_id: id.to_owned(),
            argv: argv.to_vec(),
            exit_code: None,
            duration_ms: 0,
            message: match outcome {
                Ok(message) => message,
                Err(reason) => reason.detail.clone(),
            },
            stdout_tail: String::new(),
            stderr_tail: String::new(),
            warnings: Vec::new(),
        }
    }
}

/// Runs an installer; `observe` gets its output as it arrives.
pub fn run(
    job: &InstallJob<'_>,
    env: &Environment,
    leases: &EnvLeases,
    control: &ProcessControl,
    observe: &mut dyn FnMut(OutputStream, &[u8]),
) -> InstallResult {
    let refused = |code, detail: String| {
        let reason = Reason::new(code, detail);
        InstallResult::without_output(job.id, job.argv, Err(&reason))
    };
    let _lock = match lock(env, job.kind) {
        Ok(lock) => lock,
        Err(error) => return refused(ReasonCode::InstallFailed, error.to_string()),
    };
    let vars = match environment(job.kind, env, leases) {
        Ok(vars) => vars,
        Err(error) => return refused(ReasonCode::InstallFailed, error.to_string()),
    };
    let ended = start(job, vars, env, control, observe);
    match ended {
        Ok(ended) => result(job, &ended),
        Err(error) => refused(ReasonCode::ManagerMissing, error),
    }
}

fn start(
    job: &InstallJob<'_>,
    vars: BTreeMap<String, String>,
    env: &Environment,
    control: &ProcessControl,
    observe: &mut dyn FnMut(OutputStream, &[u8]),
) -> Result<FinishedProgram, String> {
    let mut words = job.argv.iter().map(OsString::from);
    let name = words.next().ok_or("there is nothing to run")?;
    // An empty folder, so that no manager can mistake a file in it for a package.
    let cwd = work_folder(env).map_err(|error| error.to_string())?;
    let program = ProgramSpec {
        file: child::locate(&name, &vars, &cwd, env).map_err(|error| error.to_string())?,
        args: words.collect(),
        env: vars,
        cwd,
        stdin: StdinMode::Null,
        stdout: StdoutMode::Keep,
        limits: ProgramLimits { time: Some(job.timeout), ..ProgramLimits::default() },
    };
    child::run(program, control, observe).map_err(|error| error.to_string())
}

fn result(job: &InstallJob<'_>, ended: &FinishedProgram) -> InstallResult {
    // An installer has no lease; text that looks like a secret is masked all the same.
    let masker = SecretMasker::default();
    let (stdout, stderr) = (ended.stdout.text(&masker), ended.stderr.text(&masker));
    let seconds = job.timeout.as_secs();
    let manager = job.argv.first().map(String::as_str).unwrap_or_default();
    let error_line = || {
        let line = error_line(&stderr);
        if line.is_empty() { error_line(&stdout) } else { line }
    };
    let (code, message) = match ended.how {
        ExitCause::Exit(0) => (None, format!("{manager} is done")),
        ExitCause::Exit(code) => (
            Some(ReasonCode::InstallFailed),
            format!("{manager} failed with code {code}: {}", error_line()),
        ),
        ExitCause::TimedOut => {
            (Some(ReasonCode::InstallTimeout), format!("{manager} took longer than {seconds} s"))
        }
        ExitCause::Signal(signal) => {
            (Some(ReasonCode::InstallFailed), format!("{manager} was stopped by signal {signal}"))
        }
        ExitCause::Silent | ExitCause::TooMuchOutput => {
            (Some(ReasonCode::InstallFailed), format!("{manager} was stopped"))
        }
    };
    InstallResult {
        ok: code.is_none(),
        code,
        spec_id: job.id.to_owned(),
        argv: job.argv.to_vec(),
        exit_code: match ended.how {
            ExitCause::Exit(code) => Some(code),
            _ => None,
        },
        duration_ms: u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
        message: message.chars().take(MAX_MESSAGE).collect(),
        stdout_tail: stdout,
        stderr_tail: stderr,
        warnings: Vec::new(),
    }
}

/// Longest message.
const MAX_MESSAGE: usize = 200;

/// One installer at a time per manager: they interfere with each other.
fn lock(env: &Environment, kind: InstallerKind) -> std::io::Result<FileLock> {
    let file = format!("install-{}.lock", kind.as_str());
    FileLock::acquire(&env.sinew_home().join("locks").join(file))
}

fn work_folder(env: &Environment) -> std::io::Result<std::path::PathBuf> {
    let folder = tools::tools_root(env).join(".work");
    private_files::create_folder(&folder)?;
    Ok(folder)
}

/// An installer's environment: what unrelated programs get of the host's, plus where to install.
fn environment(
    kind: InstallerKind,
    env: &Environment,
    leases: &EnvLeases,
) -> std::io::Result<BTreeMap<String, String>> {
    let mut vars = leases.bystander_env(&env.vars);
    let mut set = |name: &str, value: &str| drop(vars.insert(name.to_owned(), value.to_owned()));
    set("CI", "1");
    set("LC_ALL", "C");
    match kind {
        InstallerKind::Brew => set("HOMEBREW_NO_AUTO_UPDATE", "1"),
        InstallerKind::Apt => set("DEBIAN_FRONTEND", "noninteractive"),
        InstallerKind::Node => {
            let prefix = tools::npm_prefix(env);
            private_files::create_folder(&prefix)?;
            set("NPM_CONFIG_PREFIX", &prefix.to_string_lossy());
        }
        InstallerKind::Go => {
            let bin = tools::go_bin(env);
            std::fs::create_dir_all(&bin)?;
            set("GOBIN", &bin.to_string_lossy());
        }
        InstallerKind::Uv | InstallerKind::Download => {}
    }
    Ok(vars)
}

/// The folders searched for programs after an installation.
pub fn program_search_folders(env: &Environment, key: &str) -> Vec<std::path::PathBuf> {
    let mut folders = sinew_catalog::program_folders(env);
    folders.extend(tools::skill_tools_folders(env, key));
    folders
}
