//! The skills that the program carries, so that an empty machine has some.

use std::fs;
use std::path::{Path, PathBuf};

use sinew_guard::atomic::{self, FileAccess, FileLock};
use sinew_settings::{Environment, Reason, ReasonCode};
use sinew_skill::content_hash;

/// A file of a carried skill: its path below the folder, and its text.
struct BundledFile(&'static str, &'static str);

macro_rules! bundled_files {
    ($($path:literal)*) => {
        &[$(BundledFile($path, include_str!(concat!("../skills/", $path)))),*]
    };
}

const BUNDLED_FILES: &[BundledFile] = bundled_files! {
    "git-history/SKILL.md"
    "github/SKILL.md"
    "session-logs/SKILL.md"
    "sinew/SKILL.md"
    "skill-creator/SKILL.md"
    "tmux/SKILL.md"
};

/// Where the bundled skills are: found beside the program, or written out once per version.
pub(crate) fn locate(env: &Environment) -> Result<PathBuf, Reason> {
    if let Some(found) = sinew_catalog::find_bundled_skills(env) {
        return Ok(found);
    }
    let folder = env.sinew_home().join("bundled").join(version());
    if folder.is_dir() {
        return Ok(folder);
    }
    write_out(&env.sinew_home(), &folder).map_err(|error| {
        Reason::new(
            ReasonCode::RootMissing,
            format!("the bundled skills cannot be written to {}: {error}", folder.display()),
        )
        .severity(sinew_settings::ReasonSeverity::Warn)
        .remedy("make SINEW_HOME writable, or set SINEW_BUNDLED_SKILLS_DIR to a folder of skills")
    })?;
    Ok(folder)
}

/// The program's version and a digest of what it carries: two builds never share a folder.
fn version() -> String {
    let all: String =
        BUNDLED_FILES.iter().flat_map(|BundledFile(path, text)| [*path, *text]).collect();
    format!("{}-{}", env!("CARGO_PKG_VERSION"), &content_hash(all.as_bytes())[..8])
}

/// Writes the files beside their place and moves them there in one step, so that no other process
/// ever sees half of them.
fn write_out(home: &Path, folder: &Path) -> std::io::Result<()> {
    let _lock = FileLock::acquire(&home.join("bundled.lock"))?;
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(home);
    fs::create_dir_all(parent)?;
    let staging = parent.join(format!(".staging-{}", version()));
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    for BundledFile(path, text) in BUNDLED_FILES {
        atomic::write(&staging.join(path), text.as_bytes(), FileAccess::Shared)?;
    }
    fs::rename(&staging, folder)
}
