//! The skills that the program carries, so that an empty machine has some.

use std::fs;
use std::path::{Path, PathBuf};

use sinew_catalog::Profile;
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
    "1password/SKILL.md"
    "apple-notes/SKILL.md"
    "apple-reminders/SKILL.md"
    "bear-notes/SKILL.md"
    "blogwatcher/SKILL.md"
    "blucli/SKILL.md"
    "bluebubbles/SKILL.md"
    "camsnap/SKILL.md"
    "canvas/SKILL.md"
    "clawhub/SKILL.md"
    "coding-agent/SKILL.md"
    "discord/SKILL.md"
    "docker/SKILL.md"
    "eightctl/SKILL.md"
    "gemini/SKILL.md"
    "gh-issues/SKILL.md"
    "gifgrep/SKILL.md"
    "git-history/SKILL.md"
    "github/SKILL.md"
    "gog/SKILL.md"
    "goplaces/SKILL.md"
    "healthcheck/SKILL.md"
    "himalaya/SKILL.md"
    "http-api/SKILL.md"
    "image-tools/SKILL.md"
    "imsg/SKILL.md"
    "mcporter/SKILL.md"
    "model-usage/SKILL.md"
    "nano-banana-pro/SKILL.md"
    "nano-pdf/SKILL.md"
    "notion/SKILL.md"
    "obsidian/SKILL.md"
    "openai-image-gen/SKILL.md"
    "openai-whisper-api/SKILL.md"
    "openai-whisper/SKILL.md"
    "openhue/SKILL.md"
    "oracle/SKILL.md"
    "ordercli/SKILL.md"
    "pdf/SKILL.md"
    "peekaboo/SKILL.md"
    "postgres/SKILL.md"
    "sag/SKILL.md"
    "session-logs/SKILL.md"
    "sherpa-onnx-tts/SKILL.md"
    "sinew/SKILL.md"
    "skill-creator/SKILL.md"
    "slack/SKILL.md"
    "songsee/SKILL.md"
    "sonoscli/SKILL.md"
    "spotify-player/SKILL.md"
    "spreadsheet/SKILL.md"
    "summarize/SKILL.md"
    "things-mac/SKILL.md"
    "tmux/SKILL.md"
    "trello/SKILL.md"
    "video-frames/SKILL.md"
    "voice-call/SKILL.md"
    "wacli/SKILL.md"
    "weather/SKILL.md"
    "xurl/SKILL.md"
};

/// Where the bundled skills are: a host's own in its profile, else those found beside the program, or
/// written out once per version.
pub(crate) fn locate(
    env: &Environment,
    profile: &Profile,
    workspace: &Path,
) -> Result<PathBuf, Reason> {
    let is_named = env.var_path("SINEW_BUNDLED_SKILLS_DIR").is_some();
    if !is_named && let Some(found) = host_skills(env, profile, workspace) {
        return Ok(found);
    }
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

/// The skills that came with the host on this machine: in its package, or in a checkout of it.
fn host_skills(env: &Environment, profile: &Profile, workspace: &Path) -> Option<PathBuf> {
    let program = match profile.name {
        "openclaw" => {
            if let Some(path) = env.var_path("OPENCLAW_BUNDLED_SKILLS_DIR") {
                return Some(path);
            }
            "openclaw"
        }
        "openpocket" => "openpocket",
        _ => return None,
    };
    let installed = |folder: &Path| {
        sinew_catalog::find_host_package(env, program, program, folder).map(|package| package.root)
    };
    // The workspace that the host is configured for may be elsewhere than the caller.
    let package = installed(workspace)
        .or_else(|| checkout(program, workspace))
        .or_else(|| installed(&env.cwd))
        .or_else(|| checkout(program, &env.cwd))?;
    Some(package.join("skills")).filter(|folder| folder.is_dir())
}

/// A checkout of a host's own repository that the caller stands in.
fn checkout(package: &str, workspace: &Path) -> Option<PathBuf> {
    let named = |folder: &&Path| {
        let text = fs::read_to_string(folder.join("package.json")).unwrap_or_default();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        manifest.get("name").and_then(serde_json::Value::as_str) == Some(package)
    };
    workspace.ancestors().find(named).map(Path::to_path_buf)
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{BUNDLED_FILES, BundledFile};

    #[test]
    fn every_file_of_the_library_is_carried() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
        let mut found = Vec::new();
        for entry in files_below(&folder) {
            let path = entry.strip_prefix(&folder).expect("below it");
            found.push(path.to_string_lossy().replace('\\', "/"));
        }
        // What is about the library, and not of it.
        found.retain(|path| path != "README.md" && path != "checked.tsv");
        found.sort();
        let carried: Vec<&str> = BUNDLED_FILES.iter().map(|BundledFile(path, _)| *path).collect();
        assert_eq!(found, carried);
    }

    /// What is carried makes the program larger by that much, and no more: texts are not compressed.
    #[test]
    fn the_library_is_small() {
        const MOST: usize = 1_000_000;
        let bytes: usize = BUNDLED_FILES.iter().map(|BundledFile(_, bytes)| bytes.len()).sum();
        assert!((100_000..MOST).contains(&bytes), "{bytes} bytes");
    }

    fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).expect("the carried skills");
        let paths = entries.map(|entry| entry.expect("a folder that can be read").path());
        paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
    }
}
