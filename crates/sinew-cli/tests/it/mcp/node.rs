//! Programs from npm, installed once below `target/`; tests that need them say so loudly where they
//! cannot be had.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sinew_guard::atomic::FileLock;
use sinew_testkit::report_skip;

/// Exact versions: what a suite checks changes with it. Node comes along, because the inspector wants a
/// newer one than many systems have.
const PACKAGES: [&str; 3] = [
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "node@24",
];

/// The folder with the programs.
pub(super) struct Node {
    folder: PathBuf,
}

impl Node {
    /// The programs, or a loud word about why not.
    pub(super) fn get() -> Option<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-node-1");
        std::fs::create_dir_all(&folder).expect("a folder below target");
        // Tests are processes of their own; the first one installs.
        let _lock = FileLock::acquire(&folder.join("lock")).expect("a lock");
        let done = folder.join("installed");
        if !done.exists() {
            let installed = Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
                .arg(&folder)
                .args(PACKAGES)
                .output();
            match installed {
                Err(error) => return missing(&format!("npm cannot be run: {error}")),
                Ok(output) if !output.status.success() => {
                    let said = String::from_utf8_lossy(&output.stderr).into_owned();
                    let said = said.lines().next().unwrap_or_default().to_owned();
                    return missing(&format!("npm cannot install {PACKAGES:?}: {said}"));
                }
                Ok(_) => std::fs::write(&done, "").expect("a mark"),
            }
        }
        let node = Self { folder };
        let version = node.command("node").arg("--version").output();
        match version {
            Ok(output) if output.stdout.starts_with(b"v24.") => Some(node),
            _ => missing("the Node that npm installed does not run here"),
        }
    }

    /// One of the programs, on a PATH that begins with them.
    pub(super) fn command(&self, program: &str) -> Command {
        let bin = self.folder.join("node_modules/.bin");
        let mut command = Command::new(bin.join(program));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", bin.display()));
        // Each scenario is a process of its own: compiling the suite once saves a fifth of its time.
        command.env("NODE_COMPILE_CACHE", self.folder.join("compiled"));
        command
    }
}

fn missing(why: &str) -> Option<Node> {
    report_skip(why);
    None
}

/// Everything a program said.
pub(super) fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}
