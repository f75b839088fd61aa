//! A person's own skills in a git repository of theirs, so that their machines agree.
//!
//! The repository holds `skills.toml` and one folder per skill below `skills/`. Each side is compared
//! with what both had after the last exchange: what one side changed goes to the other, what both
//! changed is a conflict, and stays as it is on both sides until the person decides.
//!
//! **Must never happen here:** a change of either side that is overwritten without a word.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew_guard::private_files;
use sinew_settings::{Environment, ErrorCode};
use tempfile::TempDir;

use crate::digest::{FileRecord, tree_sha256};
use crate::error::HubError;
use crate::lock::is_key;
use crate::manifest::MANIFEST_FILE;
use crate::net::NetworkAccess;
use crate::source::git::{GitReach, GitRunner};
use crate::tree::{SkillTree, records_of};
use crate::workdir::Workdir;

/// The branch that is exchanged.
const BRANCH: &str = "main";

/// A checkout that is older was left by a process that was killed, or kept for a conflict: no exchange takes
/// as long.
const LEFTOVER_AGE: Duration = Duration::from_secs(3600);

/// What both sides had after the last exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteBase {
    /// The repository's address.
    pub url: String,
    /// The digest of each item then, by its path in the repository.
    #[serde(default)]
    pub items: BTreeMap<String, String>,
}

/// The person's repository as it is now, in a folder of its own.
#[derive(Debug)]
pub struct OwnRemote<'e> {
    env: &'e Environment,
    url: String,
    folder: TempDir,
    /// Whether the branch exists yet.
    exists: bool,
}

/// What the two sides have, against what both had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideComparison {
    /// Both have the same.
    Same,
    /// Only this machine changed it.
    ChangedHere,
    /// Only the repository changed.
    ChangedThere,
    /// Both changed it.
    Conflict,
}

impl SideComparison {
    /// Compares the digests of this machine, of the repository and of the last exchange.
    pub fn of(here: Option<&str>, there: Option<&str>, base: Option<&str>) -> Self {
        match (here == there, there == base, here == base) {
            (true, ..) => Self::Same,
            (false, true, _) => Self::ChangedHere,
            (false, false, true) => Self::ChangedThere,
            (false, false, false) => Self::Conflict,
        }
    }
}

/// One item, compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedItem {
    /// Its path in the repository: `skills.toml`, or `skills/<name>`.
    pub path: String,
    /// What the sides have.
    pub sides: SideComparison,
    /// The digest here.
    pub here: Option<String>,
    /// The digest there.
    pub there: Option<String>,
    /// Files that differ between the sides.
    pub differing: Vec<String>,
}

impl ComparedItem {
    /// The skill it is, if it is one.
    pub fn skill(&self) -> Option<&str> {
        self.path.strip_prefix("skills/")
    }
}

impl<'e> OwnRemote<'e> {
    /// The folder of all checkouts. Each exchange has one of its own there: a git whose sinew was killed may still
    /// be writing in the last one.
    pub fn checkouts(env: &Environment) -> PathBuf {
        env.sinew_home().join("sync/checkouts")
    }

    /// Leaves the checkout where it is, so that a person can look at the other side of a conflict. A later
    /// exchange removes it.
    pub fn keep(self) {
        let _ = self.folder.keep();
    }

    /// Fetches the repository into a folder of sinew's.
    pub fn fetch(
        env: &'e Environment,
        url: &str,
        network: NetworkAccess,
    ) -> Result<Self, HubError> {
        check_address(url, env)?;
        if network == NetworkAccess::Off && !is_folder(url) {
            let message = format!("{url} was not contacted: sinew is offline");
            return Err(HubError::new(ErrorCode::Offline, message));
        }
        let folder = Self::checkouts(env);
        private_files::create_folder(&folder)
            .map_err(|error| HubError::file("create", &folder, error))?;
        sweep(&folder);
        let folder = tempfile::tempdir_in(&folder)
            .map_err(|error| HubError::file("create", &folder, error))?;
        let mut remote = Self { env, url: url.to_owned(), folder, exists: false };
        let git = remote.git();
        git.run(&["init", "--quiet", "."])?;
        let listed =
            git.run(&["ls-remote", "--quiet", "--", url, &format!("refs/heads/{BRANCH}")])?;
        if !listed.is_empty() {
            let from = format!("refs/heads/{BRANCH}");
            git.run(&[
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-recurse-submodules",
                "--",
                url,
                &from,
            ])?;
            git.run(&["checkout", "--quiet", "-B", BRANCH, "FETCH_HEAD"])?;
            remote.exists = true;
        } else {
            git.run(&["symbolic-ref", "HEAD", &format!("refs/heads/{BRANCH}")])?;
        }
        Ok(remote)
    }

    fn git(&self) -> GitRunner<'_> {
        GitRunner { env: self.env, folder: self.folder.path(), reach: GitReach::Own }
    }

    /// Where an item of the repository lies on this machine now.
    pub fn path(&self, item: &str) -> PathBuf {
        self.folder.path().join(item)
    }

    /// Compares the repository with a workdir; `own` says which of its skills travel.
    pub fn compare(
        &self,
        workdir: &Workdir,
        manifest: &Path,
        own: &BTreeSet<String>,
        base: &RemoteBase,
    ) -> Result<Vec<ComparedItem>, HubError> {
        let here = items(manifest, &workdir.skills, Some(own))?;
        let there = items(
            &self.folder.path().join(MANIFEST_FILE),
            &self.folder.path().join("skills"),
            None,
        )?;
        // Another repository than last time: nothing is known to be common.
        let base = if base.url == self.url { base.items.clone() } else { BTreeMap::new() };
        let paths: BTreeSet<&String> = here.keys().chain(there.keys()).chain(base.keys()).collect();
        let digest = |files: Option<&Vec<FileRecord>>| files.map(|files| tree_sha256(files));
        let compared = paths.into_iter().map(|path| {
            let (ours, theirs) = (here.get(path), there.get(path));
            let (here, there) = (digest(ours), digest(theirs));
            let base = base.get(path).map(String::as_str);
            ComparedItem {
                path: path.clone(),
                sides: SideComparison::of(here.as_deref(), there.as_deref(), base),
                here,
                there,
                differing: differing(ours, theirs),
            }
        });
        Ok(compared.collect())
    }

    /// Takes an item of this machine over into the checkout; nothing is sent yet.
    pub fn stage(
        &self,
        item: &ComparedItem,
        workdir: &Workdir,
        manifest: &Path,
    ) -> Result<(), HubError> {
        let target = self.path(&item.path);
        remove(&target)?;
        if item.here.is_none() {
            return Ok(());
        }
        let failed = |error: std::io::Error| HubError::file("write", &target, error);
        match item.skill() {
            None => {
                let bytes = std::fs::read(manifest)
                    .map_err(|error| HubError::file("read", manifest, error))?;
                std::fs::write(&target, bytes).map_err(failed)
            }
            Some(skill) => {
                let tree = SkillTree::from_folder(&workdir.target(skill))?;
                for file in tree.files() {
                    let path = target.join(&file.path);
                    let parent = path.parent().unwrap_or(&target);
                    std::fs::create_dir_all(parent)
                        .and_then(|()| std::fs::write(&path, &file.bytes))
                        .map_err(failed)?;
                    if file.executable {
                        set_executable(&path).map_err(failed)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Sends what was staged. The repository refuses it where another machine was quicker.
    pub fn send(&self, message: &str) -> Result<(), HubError> {
        let git = self.git();
        git.run(&["add", "--all", "--force", "."])?;
        let changed = git.run(&["status", "--porcelain", "-z"])?;
        if changed.is_empty() && self.exists {
            return Ok(());
        }
        let identity = ["-c", "user.name=sinew", "-c", "user.email=sinew@localhost"];
        let mut commit: Vec<&str> = identity.to_vec();
        commit.extend(["commit", "--quiet", "--allow-empty", "--no-verify", "-m", message]);
        git.run(&commit)?;
        let to = format!("HEAD:refs/heads/{BRANCH}");
        git.run(&["push", "--quiet", "--no-verify", "--", &self.url, &to]).map_err(|error| {
            HubError::new(ErrorCode::SyncConflict, error.message)
                .hint("another machine may have sent something meanwhile: sinew sync --pull")
                .hint("nothing was lost; run it again")
        })?;
        Ok(())
    }

    /// What both sides have in common now: `compared` with what was exchanged.
    pub fn base_after(
        &self,
        base: &RemoteBase,
        settled: &[(String, Option<String>)],
    ) -> RemoteBase {
        let mut items = if base.url == self.url { base.items.clone() } else { BTreeMap::new() };
        for (path, digest) in settled {
            match digest {
                Some(digest) => drop(items.insert(path.clone(), digest.clone())),
                None => drop(items.remove(path)),
            }
        }
        RemoteBase { url: self.url.clone(), items }
    }
}

/// The files of each item below a manifest and a folder of skills.
fn items(
    manifest: &Path,
    skills: &Path,
    only: Option<&BTreeSet<String>>,
) -> Result<BTreeMap<String, Vec<FileRecord>>, HubError> {
    let mut items = BTreeMap::new();
    match std::fs::read(manifest) {
        Ok(bytes) => {
            items.insert(MANIFEST_FILE.to_owned(), vec![FileRecord::of(MANIFEST_FILE, &bytes)]);
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(HubError::file("read", manifest, error)),
    }
    for entry in std::fs::read_dir(skills).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let folder = entry.path();
        let wanted = only.is_none_or(|only| only.contains(&name));
        let is_skill = is_key(&name) && !name.contains('/') && folder.join("SKILL.md").is_file();
        if wanted && is_skill && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            items.insert(format!("skills/{name}"), records_of(&folder)?);
        }
    }
    Ok(items)
}

/// The files that one side has and the other has not, or has otherwise.
fn differing(ours: Option<&Vec<FileRecord>>, theirs: Option<&Vec<FileRecord>>) -> Vec<String> {
    let map = |files: Option<&Vec<FileRecord>>| -> BTreeMap<String, String> {
        let files = files.into_iter().flatten();
        files.map(|file| (file.path.clone(), file.sha256.clone())).collect()
    };
    let (ours, theirs) = (map(ours), map(theirs));
    let paths: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    paths.into_iter().filter(|path| ours.get(*path) != theirs.get(*path)).cloned().collect()
}

/// An address that git takes as one, and a person may mean as their own.
fn check_address(url: &str, env: &Environment) -> Result<(), HubError> {
    let bad = |what: &str| {
        let shown = sinew_guard::Untrusted::new(url).for_terminal();
        Err(HubError::new(ErrorCode::BadReference, format!("`{shown}`: {what}")))
    };
    if url.is_empty() || url.starts_with('-') || url.chars().any(char::is_control) {
        return bad("it is not the address of a repository");
    }
    if url.contains("::") {
        return bad("git would run a program for it");
    }
    let loopback = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
    if url.starts_with("http://") && !loopback.iter().any(|start| url.starts_with(start)) {
        return bad("plain http is for this machine only; use https or ssh");
    }
    let expanded = env.expand_home(url);
    if is_folder(url) && !expanded.exists() {
        return bad("there is no such folder; `git init --bare` makes a repository");
    }
    Ok(())
}

fn is_folder(url: &str) -> bool {
    url.starts_with('/') || url.starts_with("./") || url.starts_with("file://")
}

/// Removes old checkouts. All they hold is in the repository or on this machine.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let changed = entry.metadata().and_then(|facts| facts.modified());
        let age = changed.ok().and_then(|changed| changed.elapsed().ok());
        if age.is_some_and(|age| age > LEFTOVER_AGE) {
            // The next exchange tries again.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn remove(path: &Path) -> Result<(), HubError> {
    let gone = match std::fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => Ok(()),
    };
    gone.map_err(|error| HubError::file("remove", path, error))
}

#[cfg(unix)]
fn set_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn set_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
