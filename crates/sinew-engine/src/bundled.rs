//! The skills that the program carries, so that an empty machine has some.

use std::fs;
use std::path::{Path, PathBuf};

use sinew_catalog::Environment;
use sinew_guard::atomic::{self, Access, Lock};
use sinew_skill::{Code, Reason, content_hash};

/// A file of a carried skill: its path below the folder, and its text.
struct Carried(&'static str, &'static str);

macro_rules! carried {
    ($($path:literal)*) => {
        &[$(Carried($path, include_str!(concat!("../../../skills/", $path)))),*]
    };
}

const CARRIED: &[Carried] = carried! {
    "git-history/SKILL.md"
    "github/SKILL.md"
    "session-logs/SKILL.md"
    "sinew/SKILL.md"
    "skill-creator/SKILL.md"
    "tmux/SKILL.md"
};

/// Where the bundled skills are: found beside the program, or written out once per version.
pub(crate) fn locate(env: &Environment) -> Result<PathBuf, Reason> {
    if let Some(found) = sinew_catalog::find_bundled(env) {
        return Ok(found);
    }
    let folder = env.sinew_home().join("bundled").join(version());
    if folder.is_dir() {
        return Ok(folder);
    }
    write_out(&env.sinew_home(), &folder).map_err(|error| {
        Reason::new(
            Code::RootMissing,
            format!("the bundled skills cannot be written to {}: {error}", folder.display()),
        )
        .severity(sinew_skill::Severity::Warn)
        .remedy("make SINEW_HOME writable, or set SINEW_BUNDLED_SKILLS_DIR to a folder of skills")
    })?;
    Ok(folder)
}

/// The program's version and a digest of what it carries: two builds never share a folder.
fn version() -> String {
    let all: String = CARRIED.iter().flat_map(|Carried(path, text)| [*path, *text]).collect();
    format!("{}-{}", env!("CARGO_PKG_VERSION"), &content_hash(all.as_bytes())[..8])
}

/// Writes the files beside their place and moves them there in one step, so that no other process
/// ever sees half of them.
fn write_out(home: &Path, folder: &Path) -> std::io::Result<()> {
    let _lock = Lock::acquire(&home.join("bundled.lock"))?;
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(home);
    fs::create_dir_all(parent)?;
    let staging = parent.join(format!(".staging-{}", version()));
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    for Carried(path, text) in CARRIED {
        atomic::write(&staging.join(path), text.as_bytes(), Access::Shared)?;
    }
    fs::rename(&staging, folder)
}
