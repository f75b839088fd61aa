//! A box around one program: the files and the network that it was given, and nothing else.
//!
//! sinew starts itself once more as a small launcher ([`LAUNCH`]), which puts the box around its own
//! process and then becomes the program. That needs no unsafe code, and nothing of sinew is left in the
//! box. Landlock keeps the files, the TCP ports and the processes outside; a filter of system calls
//! keeps what landlock does not know: other sockets, debuggers, mounts, kernel keys.
//!
//! The launcher leaves a receipt outside the box that says what is in force. **Must never happen
//! here:** a program that runs without the box that was asked for. Without a receipt the run is an
//! error, and where the system has no box nothing is started.

mod base_paths;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod call_filter;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod launcher;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

pub use base_paths::program_folders_of;

use crate::child::ProgramSpec;

/// The word with which sinew is started as the launcher.
pub const LAUNCH: &str = "sandbox-launch";
/// Where the launcher says what is in force; the box does not reach it.
const RECEIPT: &str = "receipt";
/// The program's home, in the folder of its run.
const HOME: &str = "home";
/// Its temporary files.
const TEMPORARY: &str = "tmp";
/// Variables that lead to what the box keeps away: folders of the real home, agents of keys, screens.
const REMOVED_VARIABLES: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// What a program in a box may reach, beyond what every program needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxRules {
    /// Files and folders that it may read.
    pub read: Vec<PathBuf>,
    /// Files and folders that it may read, and whose programs it may start.
    pub run: Vec<PathBuf>,
    /// Folders in which it may do everything, and files that it may change.
    pub write: Vec<PathBuf>,
    /// TCP ports that it may connect to; without any there is no network at all.
    pub ports: Vec<u16>,
}

/// A box that is asked for.
#[derive(Debug, Clone)]
pub struct SandboxLaunch {
    /// The program that understands [`LAUNCH`]: sinew itself.
    pub launcher: PathBuf,
    /// The folder in which a folder for each run is made.
    pub runs: PathBuf,
    /// The user's home: what of it may be used is seen at the same place in the program's own.
    pub home: PathBuf,
    /// What the program may reach.
    pub rules: SandboxRules,
}

/// What the launcher says about its box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxReceipt {
    /// The version of the kernel's interface that is in force.
    pub abi: u32,
    /// What of the box this kernel cannot enforce, in words.
    #[serde(default)]
    pub not_enforced: Vec<String>,
}

/// Why a box could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// This system has none.
    #[error("this system has no sandbox: {0}")]
    Unavailable(String),
    /// It has one, and it could not be put around the program.
    #[error("the sandbox could not be put around the program: {0}")]
    Failed(String),
}

/// What the launcher leaves in the receipt.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LaunchNote {
    /// The box is in force; the program is started next.
    InForce(SandboxReceipt),
    /// The box could not be made; nothing was started.
    Failed(String),
    /// The box is in force, and the program could not be started in it.
    NotStarted {
        /// Whether there is no such program.
        missing: bool,
        /// The system's error.
        error: String,
    },
}

/// What the launcher is told.
#[derive(Debug, Serialize, Deserialize)]
struct LaunchOrder {
    rules: SandboxRules,
    receipt: PathBuf,
}

/// Whether this system can put a program into a box, or why not.
pub fn sandbox_support() -> Result<(), SandboxError> {
    imp::support().map_err(SandboxError::Unavailable)
}

/// The launcher: puts the box around this process and becomes the program. `args` are those after
/// [`LAUNCH`]. It only comes back when that failed.
pub fn launch(args: impl Iterator<Item = OsString>) -> ExitCode {
    imp::launch(args)
}

/// A folder of its own for one run, and the order for the launcher.
#[derive(Debug)]
pub(crate) struct PreparedSandbox<'a> {
    launch: &'a SandboxLaunch,
    folder: tempfile::TempDir,
}

impl<'a> PreparedSandbox<'a> {
    pub(crate) fn of(launch: &'a SandboxLaunch) -> Result<Self, SandboxError> {
        sandbox_support()?;
        let failed = |error: io::Error| SandboxError::Failed(error.to_string());
        std::fs::create_dir_all(&launch.runs).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix("run-").tempdir_in(&launch.runs);
        let folder = folder.map_err(failed)?;
        for part in [HOME, TEMPORARY] {
            std::fs::create_dir(folder.path().join(part)).map_err(failed)?;
        }
        Ok(Self { launch, folder })
    }

    /// The launcher in the program's place, with the program's variables as they are in the box.
    pub(crate) fn wrap(&self, mut program: ProgramSpec) -> Result<ProgramSpec, SandboxError> {
        let folder = self.folder.path();
        let mut rules = self.launch.rules.clone();
        rules.run.extend(program_folders_of(&program.file));
        let (home, temporary) = (folder.join(HOME), folder.join(TEMPORARY));
        self.show_in_home(&home, &rules);
        rules.write.extend([home.clone(), temporary.clone()]);
        program.env.retain(|name, _| !REMOVED_VARIABLES.contains(&name.as_str()));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        program.env.insert("HOME".to_owned(), text(&home));
        for name in ["TMPDIR", "TMP", "TEMP"] {
            program.env.insert(name.to_owned(), text(&temporary));
        }
        let order = LaunchOrder { rules, receipt: folder.join(RECEIPT) };
        let order = serde_json::to_string(&order)
            .map_err(|error| SandboxError::Failed(error.to_string()))?;
        let file = std::mem::replace(&mut program.file, self.launch.launcher.clone());
        let args = [LAUNCH.into(), order.into(), file.into_os_string()];
        program.args = args.into_iter().chain(program.args).collect();
        Ok(program)
    }

    /// What the user lets the program have of the home is found at its place in the program's own.
    fn show_in_home(&self, home: &Path, rules: &SandboxRules) {
        for path in rules.read.iter().chain(&rules.write) {
            let Ok(inner) = path.strip_prefix(&self.launch.home) else { continue };
            let place = home.join(inner);
            if inner.as_os_str().is_empty() || std::fs::symlink_metadata(&place).is_ok() {
                continue;
            }
            if let Some(parent) = place.parent() {
                // A path that cannot be shown there can still be used by its own name.
                let _ = std::fs::create_dir_all(parent);
                let _ = link(path, &place);
            }
        }
    }

    /// What became of the launcher: the receipt, or the error with which the run ends.
    pub(crate) fn outcome(&self) -> Result<SandboxReceipt, SandboxStartError> {
        let failed = |why: &str| SandboxStartError::Box(SandboxError::Failed(why.to_owned()));
        let text = std::fs::read_to_string(self.folder.path().join(RECEIPT))
            .map_err(|_| failed("the launcher left no receipt"))?;
        match serde_json::from_str(&text).map_err(|_| failed("the receipt cannot be read"))? {
            LaunchNote::InForce(receipt) => Ok(receipt),
            LaunchNote::Failed(why) => Err(failed(&why)),
            LaunchNote::NotStarted { missing, error } => {
                Err(SandboxStartError::Program { missing, error })
            }
        }
    }
}

/// Why a program did not run in its box.
#[derive(Debug)]
pub(crate) enum SandboxStartError {
    /// There was no box.
    Box(SandboxError),
    /// There was one, and no program.
    Program { missing: bool, error: String },
}

#[cfg(unix)]
fn link(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn link(_target: &Path, _place: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use launcher as imp;

/// Systems without landlock.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod imp {
    use std::ffi::OsString;
    use std::process::ExitCode;

    pub(super) fn support() -> Result<(), String> {
        Err("it needs Linux on x86-64 or ARM64".to_owned())
    }

    /// Nothing is ever started here: [`support`] is asked before.
    pub(super) fn launch(_args: impl Iterator<Item = OsString>) -> ExitCode {
        ExitCode::FAILURE
    }
}
