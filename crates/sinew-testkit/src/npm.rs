//! Programs from npm as their makers publish them, installed once below `target/`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::report_skip;

/// Node itself. It comes from npm too: some programs need a newer one than many systems have, and this
/// one compiles a program once instead of once per call.
const NODE: &str = "node@24";

/// A folder with packages of npm, at exact versions: what a program sends changes with it.
#[derive(Debug, Clone)]
pub struct NpmPackages {
    folder: PathBuf,
}

impl NpmPackages {
    /// The packages below `target` (a test's `CARGO_TARGET_TMPDIR`), installed where they are not yet;
    /// or a loud word about why not.
    pub fn get(target: &str, name: &str, packages: &[&str]) -> Option<Self> {
        let folder = Path::new(target).join(name);
        fs::create_dir_all(&folder).expect("a folder below target");
        // Tests are processes of their own; the first one installs.
        let lock = File::create(folder.join("install.lock")).expect("a lock file");
        lock.lock().expect("a lock");
        let mark = folder.join("installed");
        let node = Self { folder };
        let wanted = format!("{} {NODE}", packages.join(" "));
        if fs::read_to_string(&mark).ok().as_deref() != Some(&wanted) {
            // Node first: what packages run while they are installed may need this one.
            for wanted in [&[NODE][..], &[packages, &[NODE][..]].concat()[..]] {
                if let Err(why) = node.install(wanted) {
                    return missing(&why);
                }
            }
            fs::write(&mark, wanted).expect("a mark");
        }
        let version = node.command("node").arg("--version").output();
        match version {
            Ok(output) if output.stdout.starts_with(b"v24.") => Some(node),
            _ => missing("the Node that npm installed does not run here"),
        }
    }

    fn install(&self, packages: &[&str]) -> Result<(), String> {
        let npm = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
            .arg(&self.folder)
            .args(["--fetch-retries=1", "--fetch-timeout=60000"])
            .args(packages)
            .env("PATH", self.path())
            .stdin(Stdio::null())
            .output();
        match npm {
            Err(error) => Err(format!("npm cannot be run: {error}")),
            Ok(output) if !output.status.success() => {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                let line = text.lines().next().unwrap_or_default();
                Err(format!("npm cannot install {}: {line}", packages.join(" ")))
            }
            Ok(_) => Ok(()),
        }
    }

    /// One of the programs, on a PATH that begins with them.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.program(program));
        self.set_variables(&mut command);
        command
    }

    /// A file of a package, run by Node, with nothing of this process's environment but PATH.
    pub fn node(&self, file: &str) -> Command {
        let mut command = Command::new(self.program("node"));
        command.arg(self.folder.join("node_modules").join(file)).env_clear();
        self.set_variables(&mut command);
        command
    }

    /// The file of a program.
    pub fn program(&self, program: &str) -> PathBuf {
        self.folder.join("node_modules/.bin").join(program)
    }

    /// A PATH that begins with the programs.
    pub fn path(&self) -> OsString {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.folder.join("node_modules/.bin"));
        std::env::join_paths(folders.chain(std::env::split_paths(&path))).expect("a PATH")
    }

    /// Where Node keeps what it compiled: a program of many files starts in half the time.
    pub fn compile_cache(&self) -> PathBuf {
        self.folder.join("compiled")
    }

    fn set_variables(&self, command: &mut Command) {
        command.env("PATH", self.path()).env("NODE_COMPILE_CACHE", self.compile_cache());
    }
}

/// A file of one package at an exact version, for tests that read it and run nothing; or a loud word about
/// why not.
pub fn npm_file(target: &str, package: &str, file: &str) -> Option<String> {
    let name = package.rsplit_once('@').map_or(package, |(name, _)| name);
    let folder = Path::new(target).join(format!("npm-{}", name.replace('/', "-")));
    fs::create_dir_all(&folder).expect("a folder below target");
    let lock = File::create(folder.join("install.lock")).expect("a lock file");
    lock.lock().expect("a lock");
    let mark = folder.join("installed");
    if fs::read_to_string(&mark).ok().as_deref() != Some(package) {
        let packages = NpmPackages { folder: folder.clone() };
        if let Err(why) = packages.install(&["--ignore-scripts", package]) {
            report_skip(&why);
            return None;
        }
        fs::write(&mark, package).expect("a mark");
    }
    let path = folder.join("node_modules").join(name).join(file);
    Some(fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn missing(why: &str) -> Option<NpmPackages> {
    report_skip(why);
    None
}
