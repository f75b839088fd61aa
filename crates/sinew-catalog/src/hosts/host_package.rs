//! Where the package of an installed program is.
//!
//! The program on PATH is rarely the package itself: npm links to it, pnpm writes a script that names
//! it, Volta puts one program of its own before all others, bun links from a folder of its own. Each way
//! is followed to a folder whose `package.json` has the right name.

use std::fs;
use std::path::{Path, PathBuf};

use sinew_settings::{Environment, tidy_path};

use super::host_files;
use crate::bins;

/// An installed package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPackage {
    /// Its folder.
    pub root: PathBuf,
    /// Its version; empty if it does not say.
    pub version: String,
}

/// How many folders above a program may hold its package.
const MAX_PARENTS: usize = 6;

/// Scripts that start a program have a few lines; a longer file is a program.
const MAX_SHIM: usize = 8 * 1024;

/// The package behind a program: that of the first program on PATH, else one installed in the workspace.
pub fn find_host_package(
    env: &Environment,
    program: &str,
    package: &str,
    workspace: &Path,
) -> Option<HostPackage> {
    let on_path = bins::find_program(env, program);
    let from_program = on_path.as_deref().and_then(|file| of_program(env, file, package));
    from_program.or_else(|| {
        let local = workspace.ancestors().take(MAX_PARENTS);
        local.map(|folder| folder.join("node_modules").join(package)).find_map(|folder| {
            let real = fs::canonicalize(folder).ok()?;
            package_at(&real, package)
        })
    })
}

fn of_program(env: &Environment, file: &Path, package: &str) -> Option<HostPackage> {
    let real = fs::canonicalize(file).ok()?;
    above(&real, package)
        .or_else(|| script_target(&real).and_then(|target| above(&target, package)))
        .or_else(|| beside(file, package))
        .or_else(|| volta(env, &real, package))
}

/// The package that a file lies in.
fn above(file: &Path, package: &str) -> Option<HostPackage> {
    file.ancestors().skip(1).take(MAX_PARENTS).find_map(|folder| package_at(folder, package))
}

fn package_at(folder: &Path, package: &str) -> Option<HostPackage> {
    let manifest = host_files::read_json(&folder.join("package.json")).ok()??;
    let text = |key: &str| manifest.get(key).and_then(serde_json::Value::as_str);
    (text("name") == Some(package)).then(|| HostPackage {
        root: folder.to_path_buf(),
        version: text("version").unwrap_or_default().to_owned(),
    })
}

/// The file that a start script of npm (on Windows), pnpm or yarn names: `"$basedir/…/openclaw.mjs"`.
fn script_target(script: &Path) -> Option<PathBuf> {
    let size = fs::metadata(script).ok()?.len();
    if size > MAX_SHIM as u64 {
        return None;
    }
    let text = fs::read_to_string(script).ok()?;
    let folder = script.parent()?;
    for marker in ["$basedir/", "%~dp0\\", "%dp0%\\", "$basedir\\"] {
        for part in text.split(marker).skip(1) {
            let end = part.find(['"', '\'', '\n', ' ']).unwrap_or(part.len());
            let named = part[..end].replace('\\', "/");
            let target = tidy_path(&folder.join(named));
            if named_file(&target) {
                return fs::canonicalize(target).ok();
            }
        }
    }
    // A script may name the file in full.
    text.split(['"', '\'', ' ', '\n'])
        .filter(|word| word.starts_with('/') && word.contains("node_modules"))
        .map(PathBuf::from)
        .find(|path| named_file(path))
        .and_then(|path| fs::canonicalize(path).ok())
}

/// Whether a script names a package's file, rather than Node itself.
fn named_file(path: &Path) -> bool {
    let script = path.extension().is_some_and(|end| end == "js" || end == "mjs" || end == "cjs");
    script && path.is_file()
}

/// A global install keeps `bin/` and `lib/node_modules/` side by side, also where the program itself
/// was replaced by a wrapper.
fn beside(file: &Path, package: &str) -> Option<HostPackage> {
    let prefix = file.parent()?.parent()?;
    let places = ["lib/node_modules", "node_modules", "install/global/node_modules"];
    places.iter().find_map(|place| {
        let real = fs::canonicalize(prefix.join(place).join(package)).ok()?;
        package_at(&real, package)
    })
}

/// Volta starts every program through its own, and keeps packages apart.
fn volta(env: &Environment, real: &Path, package: &str) -> Option<HostPackage> {
    let is_shim = real.file_name().is_some_and(|name| name.to_string_lossy().starts_with("volta"));
    if !is_shim {
        return None;
    }
    let home = env.var_path("VOLTA_HOME").unwrap_or_else(|| env.home.join(".volta"));
    let folder = home.join("tools/image/packages").join(package);
    package_at(&folder.join("lib/node_modules").join(package), package)
}

impl HostPackage {
    /// Whether its version is at least this one. A version that cannot be read counts as current.
    pub(crate) fn is_at_least(&self, wanted: [u32; 3]) -> bool {
        let mut parts = self.version.split(['.', '-']).map(str::parse::<u32>);
        let mut next = || parts.next().and_then(Result::ok);
        match (next(), next(), next()) {
            (Some(a), Some(b), Some(c)) => [a, b, c] >= wanted,
            _ => true,
        }
    }
}
