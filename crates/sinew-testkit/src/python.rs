//! Programs from PyPI as their makers publish them, installed once below `target/`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::report_skip;

/// A virtual environment with packages of PyPI, at exact versions.
#[derive(Debug, Clone)]
pub struct PythonPackages {
    folder: PathBuf,
}

impl PythonPackages {
    /// The packages below `target` (a test's `CARGO_TARGET_TMPDIR`), installed where they are not yet;
    /// or a loud word about why not.
    pub fn get(target: &str, name: &str, packages: &[&str]) -> Option<Self> {
        let folder = Path::new(target).join(name);
        fs::create_dir_all(target).expect("a folder below target");
        // Tests are processes of their own; the first one installs.
        let lock =
            File::create(Path::new(target).join(format!("{name}.lock"))).expect("a lock file");
        lock.lock().expect("a lock");
        let mark = folder.join("installed");
        let wanted = packages.join(" ");
        if fs::read_to_string(&mark).ok().as_deref() == Some(&wanted) {
            return Some(Self { folder });
        }
        let run = |command: &mut Command| {
            let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            quiet.status().is_ok_and(|status| status.success())
        };
        let made = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
        let pip = folder.join("bin/pip");
        if made && run(Command::new(pip).args(["install", "--quiet"]).args(packages)) {
            fs::write(&mark, wanted).expect("a mark");
            return Some(Self { folder });
        }
        report_skip(&format!(
            "{wanted} cannot be installed: Python or the package index is missing"
        ));
        None
    }

    /// One of the programs.
    pub fn command(&self, program: &str) -> Command {
        Command::new(self.folder.join("bin").join(program))
    }
}
