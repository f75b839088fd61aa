//! Where sinew puts programs that it installs for skills, in addition to the folders of PATH.
//!
//! npm has its own prefix and Go a folder of the user; both serve every skill. A download belongs
//! to the skill that requested it: it is in that skill's folder and serves only that skill.

use std::fs;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sinew_settings::{Environment, path_text};

use crate::bins::{find_in, find_program};

/// Folders searched below one skill's tools; real ones have a handful.
const MAX_FOLDERS: usize = 64;
/// A longer key is cut and made unique by its digest.
const MAX_SEGMENT: usize = 100;
/// What is written as `%20` in the name of a folder: everything but `a-z`, digits, `-` and `_`.
const NOT_IN_FOLDERS: &AsciiSet = &{
    let mut set = NON_ALPHANUMERIC.remove(b'-').remove(b'_');
    let mut letter = b'A';
    while letter <= b'Z' {
        set = set.add(letter);
        letter += 1;
    }
    set
};

/// The folder of everything that was installed for skills.
pub fn tools_root(env: &Environment) -> PathBuf {
    env.sinew_home().join("tools")
}

/// npm's prefix.
pub fn npm_prefix(env: &Environment) -> PathBuf {
    tools_root(env).join("node").join("npm")
}

/// Where `go install` puts programs: beside brew, if that is on PATH, or else in the user's own
/// folder.
pub fn go_bin(env: &Environment) -> PathBuf {
    let beside_brew = find_program(env, "brew").and_then(|brew| Some(brew.parent()?.to_owned()));
    beside_brew.unwrap_or_else(|| env.home.join(".local").join("bin"))
}

/// Folders that serve every skill, in addition to PATH: npm's, and the user's own, which uv also
/// uses.
pub fn shared_folders(env: &Environment) -> Vec<PathBuf> {
    let npm = npm_prefix(env);
    let npm = if env.os == "win32" { npm } else { npm.join("bin") };
    vec![npm, env.home.join(".local").join("bin")]
}

/// A skill's own folder of tools.
pub fn skill_tools_folder(env: &Environment, key: &str) -> PathBuf {
    tools_root(env).join(folder_name(key))
}

/// Folders that serve one skill: its own, those directly below, and the `bin` of each.
pub fn skill_tools_folders(env: &Environment, key: &str) -> Vec<PathBuf> {
    let own = skill_tools_folder(env, key);
    let below = subfolders(&own);
    let mut folders = vec![own];
    folders.extend(below);
    let bins: Vec<PathBuf> = folders.iter().map(|folder| folder.join("bin")).collect();
    folders.extend(bins.into_iter().filter(|folder| folder.is_dir()));
    folders.retain(|folder| folder.is_dir());
    folders.dedup();
    folders
}

/// The path of a program among a skill's own tools.
pub fn find_skill_tool(env: &Environment, key: &str, bin: &str) -> Option<PathBuf> {
    find_in(skill_tools_folders(env, key), bin, env)
}

/// The folders that affect what is found for any skill, for noticing changes.
pub(crate) fn all_own_folders(env: &Environment) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for own in subfolders(&tools_root(env)) {
        folders.extend(subfolders(&own));
        folders.push(own);
    }
    let bins: Vec<PathBuf> = folders.iter().map(|folder| folder.join("bin")).collect();
    folders.extend(bins);
    folders
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_folder = |entry: &fs::DirEntry| {
        let hidden = path_text(Path::new(&entry.file_name())).starts_with('.');
        !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let entries = entries.flatten().filter(is_folder).take(MAX_FOLDERS);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// A skill's key as a plain folder name; different keys have different names, even on file systems
/// that ignore case.
pub fn folder_name(key: &str) -> String {
    let mut segment = utf8_percent_encode(key, NOT_IN_FOLDERS).to_string().to_ascii_lowercase();
    // `node` is npm's prefix, and some names are devices on Windows.
    let reserved = segment == "node" || sinew_guard::archive::components(&segment).is_err();
    if segment.len() > MAX_SEGMENT || reserved {
        let digest = sinew_skill::content_hash(key.as_bytes());
        segment.truncate(MAX_SEGMENT - 20);
        segment = format!("{segment}%%{}", &digest[..16]);
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn a_key_is_one_plain_folder_and_no_two_keys_share_one() {
        assert_eq!(folder_name("notion"), "notion");
        assert_eq!(folder_name("../x"), "%2e%2e%2fx");
        assert_eq!(folder_name("A/b"), "%41%2fb");
        let odd = ["", "node", "con", "..", "/", "NODE", &"x".repeat(300), &"x".repeat(301)];
        let mut names: Vec<String> = odd.iter().map(|key| folder_name(key)).collect();
        for name in &names {
            assert_eq!(sinew_guard::archive::components(name).map(|parts| parts.len()), Ok(1));
            assert!(name != "node" && name.len() < 200, "{name}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), odd.len());
    }
}
