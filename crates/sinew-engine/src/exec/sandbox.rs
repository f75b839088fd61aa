//! Which programs run in a box, and what of the machine is in it: what the skill declares, what the
//! scanner saw in its files, and what the user adds.
//!
//! **Must never happen here:** a box that was asked for and is silently left out, or a home folder in
//! a box as a whole.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_catalog::{CatalogEntry, find_program, tools};
use sinew_exec::sandbox::{
    SandboxError, SandboxLaunch, SandboxReceipt, SandboxRules, program_folders_of, sandbox_support,
};
use sinew_guard::scan::{HostClass, SkillCapabilities};
use sinew_hub::lock::SkillRetention;
use sinew_settings::config::{SandboxMode, SandboxNetworkMode, SandboxWorkspace};
use sinew_settings::{Actor, ErrorCode, path_text};

use crate::{Engine, EngineError, ExecHandle};

/// Ports that a program with a network may connect to: names, web, and encrypted web.
const USUAL_PORTS: &[u16] = &[53, 80, 443];
/// The port of programs that reach other machines by SSH.
const SSH_PORT: u16 = 22;
/// Programs that are of no use without a network.
const NETWORK_PROGRAMS: &[&str] = &[
    "aws",
    "az",
    "curl",
    "docker",
    "gcloud",
    "gh",
    "git",
    "glab",
    "http",
    "kubectl",
    "npm",
    "npx",
    "ping",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "rclone",
    "rsync",
    "scp",
    "sftp",
    "ssh",
    "terraform",
    "uv",
    "uvx",
    "wget",
    "yarn",
    "yt-dlp",
];
/// Those of them that use SSH.
const SSH_PROGRAMS: &[&str] = &["git", "rsync", "scp", "sftp", "ssh"];

/// Whether a command runs in a box.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SandboxChoice {
    /// As the configuration says.
    #[default]
    Configured,
    /// It does, or it does not run.
    Required,
    /// It does not. Where the configuration wants a box, only a person may say so.
    Declined(Actor),
}

/// What the caller adds to a box.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxGrants {
    /// Files and folders to read.
    pub read: Vec<PathBuf>,
    /// Files and folders to change.
    pub write: Vec<PathBuf>,
    /// Whether there is a network in any case.
    pub network: bool,
}

/// The box that a command ran in, or why there was none.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum SandboxReport {
    /// It ran in a box.
    On {
        /// Why.
        why: String,
        /// The version of the kernel's interface.
        abi: u32,
        /// What it could read, beside the system's programs and the skill's own folder.
        read: Vec<String>,
        /// What it could change.
        write: Vec<String>,
        /// TCP ports that it could connect to; none is no network.
        ports: Vec<u16>,
        /// What this kernel could not enforce.
        not_enforced: Vec<String>,
    },
    /// It did not.
    Off {
        /// Why.
        why: String,
    },
    /// It was to run in one, and the system has none.
    Unavailable {
        /// Why.
        why: String,
    },
}

/// What was decided before the command starts.
pub(super) struct SandboxPlan {
    /// The box.
    pub(super) launch: Option<SandboxLaunch>,
    why: String,
    unavailable: bool,
}

impl SandboxPlan {
    /// What is told about it afterwards.
    pub(super) fn report(self, receipt: Option<SandboxReceipt>) -> SandboxReport {
        let texts = |paths: &[PathBuf]| paths.iter().map(|path| path_text(path)).collect();
        match (self.launch, receipt) {
            (Some(launch), Some(receipt)) => SandboxReport::On {
                why: self.why,
                abi: receipt.abi,
                read: texts(&launch.rules.read),
                write: texts(&launch.rules.write),
                ports: launch.rules.ports,
                not_enforced: receipt.not_enforced,
            },
            // The program was not there: nothing ran, in a box or outside.
            (Some(_), None) => SandboxReport::Off { why: "nothing was started".to_owned() },
            (None, _) if self.unavailable => SandboxReport::Unavailable { why: self.why },
            (None, _) => SandboxReport::Off { why: self.why },
        }
    }
}

impl ExecHandle<'_> {
    /// Whether a command of this skill runs in a box, and what is in it.
    pub(super) fn sandbox_plan(
        &self,
        entry: &CatalogEntry,
        choice: &SandboxChoice,
        grants: &SandboxGrants,
    ) -> Result<SandboxPlan, EngineError> {
        let engine = self.engine;
        let wanted = configured(engine, entry);
        let off =
            |why: &str| Ok(SandboxPlan { launch: None, why: why.to_owned(), unavailable: false });
        let (why, required) = match (choice, wanted) {
            (SandboxChoice::Required, _) => ("it was asked for", true),
            (SandboxChoice::Declined(actor), Some(_)) if !actor.is_person() => {
                let message = format!(
                    "{} runs in a sandbox, and only a person can say otherwise",
                    entry.name
                );
                return Err(EngineError::new(ErrorCode::NotApproved, message)
                    .hint("run the command at a terminal, or set security.sandbox.mode to never"));
            }
            (SandboxChoice::Declined(_), _) => return off("it was declined"),
            (SandboxChoice::Configured, None) => return off("the skill is here to stay"),
            (SandboxChoice::Configured, Some(wanted)) => wanted,
        };
        let launcher = engine.options.sandbox_launcher.clone().ok_or_else(|| {
            SandboxError::Unavailable("the program that starts it was not named".to_owned())
        });
        match sandbox_support().and(launcher) {
            Ok(launcher) => {
                let launch = SandboxLaunch {
                    launcher,
                    runs: engine.env.sinew_home().join("sandbox"),
                    home: engine.env.home.clone(),
                    rules: self.sandbox_rules(entry, grants)?,
                };
                Ok(SandboxPlan { launch: Some(launch), why: why.to_owned(), unavailable: false })
            }
            Err(error) if required => Err(unavailable(&error)),
            Err(error) => {
                Ok(SandboxPlan { launch: None, why: error.to_string(), unavailable: true })
            }
        }
    }

    fn sandbox_rules(
        &self,
        entry: &CatalogEntry,
        grants: &SandboxGrants,
    ) -> Result<SandboxRules, EngineError> {
        let engine = self.engine;
        let (env, settings) = (&engine.env, &engine.config.sandbox);
        let named = |paths: &[String]| -> Vec<PathBuf> {
            paths.iter().map(|path| env.expand_home(path)).collect()
        };
        let mut rules = SandboxRules {
            read: [named(&settings.read), grants.read.clone()].concat(),
            write: [named(&settings.write), grants.write.clone()].concat(),
            ..SandboxRules::default()
        };
        for path in rules.read.iter().chain(&rules.write) {
            if holds_the_home(engine, path) {
                let message = format!("{} holds the whole home folder", path_text(path));
                return Err(EngineError::new(ErrorCode::PathEscape, message)
                    .hint("name the folders that the command needs"));
            }
        }
        if !holds_the_home(engine, &env.cwd) {
            match settings.workspace {
                SandboxWorkspace::Write => rules.write.push(env.cwd.clone()),
                SandboxWorkspace::Read => rules.run.push(env.cwd.clone()),
                SandboxWorkspace::Nothing => {}
            }
        }
        rules.run.push(entry.base_dir.clone());
        rules.run.extend(tools::skill_tools_folders(env, &entry.skill_key));
        let folders = env.path_folders().into_iter().chain(tools::shared_folders(env));
        rules.run.extend(folders.filter(|folder| !holds_the_home(engine, folder)));
        let needs = &entry.requirements;
        for program in needs.bins.iter().chain(&needs.any_bins) {
            if let Some(file) = find_program(env, program) {
                rules.run.extend(program_folders_of(&file));
            }
        }
        rules.ports = match settings.network {
            SandboxNetworkMode::Never if !grants.network => Vec::new(),
            SandboxNetworkMode::Auto if !grants.network => {
                ports(entry, &self.sandbox_capabilities(entry))
            }
            _ => USUAL_PORTS.to_vec(),
        };
        Ok(rules)
    }

    /// What the scanner saw in the skill's files: as the lock keeps it, else from a look now.
    fn sandbox_capabilities(&self, entry: &CatalogEntry) -> SkillCapabilities {
        if let Some((_, locked)) = self.engine.trust().locked_skill(&entry.base_dir) {
            return locked.capabilities.clone();
        }
        let bundle = crate::quality::read_bundle(&entry.base_dir);
        let scanner = self.engine.scanner.get_or_init(sinew_guard::scan::Scanner::new);
        // What cannot be scanned shows no need of anything.
        bundle.map(|bundle| scanner.scan_bundle(&bundle).capabilities).unwrap_or_default()
    }
}

/// Why the configuration wants a box for this skill, and whether it insists.
fn configured(engine: &Engine, entry: &CatalogEntry) -> Option<(&'static str, bool)> {
    let for_one_task = || {
        let trust = engine.trust();
        let locked = trust.locked_skill(&entry.base_dir);
        locked.is_some_and(|(_, locked)| locked.retained == SkillRetention::Task)
    };
    const ACQUIRED: &str = "the skill was acquired for one task";
    match engine.config.sandbox.mode {
        SandboxMode::Always => Some(("security.sandbox.mode is always", true)),
        SandboxMode::Never => None,
        SandboxMode::ShortTerm => for_one_task().then_some((ACQUIRED, true)),
        SandboxMode::Auto => for_one_task().then_some((ACQUIRED, false)),
    }
}

/// Whether a folder holds the user's home or sinew's own.
fn holds_the_home(engine: &Engine, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(folder);
    real(&engine.env.home).starts_with(&folder)
        || real(&engine.env.sinew_home()).starts_with(&folder)
}

/// The ports of a skill that needs a network; none for one that does not.
fn ports(entry: &CatalogEntry, can: &SkillCapabilities) -> Vec<u16> {
    let needs = &entry.requirements;
    let programs: Vec<&str> =
        needs.bins.iter().chain(&needs.any_bins).chain(&can.binaries).map(String::as_str).collect();
    let any = |known: &[&str]| programs.iter().any(|program| known.contains(program));
    let asks = can.hosts.iter().any(|host| {
        host.purpose != "mention"
            && !matches!(host.class, HostClass::Placeholder | HostClass::Reserved)
    });
    let key = entry.primary_env.is_some() || !needs.env.is_empty() || !needs.any_env.is_empty();
    if !asks && !key && !any(NETWORK_PROGRAMS) {
        return Vec::new();
    }
    let ssh = any(SSH_PROGRAMS).then_some(SSH_PORT);
    ssh.into_iter().chain(USUAL_PORTS.iter().copied()).collect()
}

/// The error of a box that is not to be had.
pub(super) fn unavailable(error: &SandboxError) -> EngineError {
    let code = match error {
        SandboxError::Unavailable(_) => ErrorCode::SandboxUnavailable,
        SandboxError::Failed(_) => ErrorCode::SandboxFailed,
    };
    EngineError::new(code, error.to_string()).hint("--no-sandbox runs the command without one")
}
