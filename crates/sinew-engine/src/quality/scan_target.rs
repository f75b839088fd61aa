//! What a scan can be asked for: a skill, a folder of skills, a plugin, an agent's folder, a repository.
//!
//! **Must never happen here:** anything of a repository left on disk, or a file run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sinew_catalog::SKILL_FILE;
use sinew_guard::scan::{Scanner, SkillBundle};
use sinew_hub::net::NetworkAccess;
use sinew_hub::reference::GitRef;
use sinew_hub::source::git;

use super::scan::{ScannedTarget, read_bundle};
use crate::{EngineError, QualityHandle};

/// How deep a folder is searched for skills: an agent's holds plugins, which hold skills.
const MAX_DEPTH: usize = 8;
/// Folders looked into; an agent's own has transcripts in it, and no skill there.
const MAX_FOLDERS: usize = 5_000;
/// Folders that hold no skill of their owner.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv", "__pycache__"];
/// What makes a folder a plugin: the agent runs more of it than its skills.
const PLUGIN_MARKS: &[&str] = &[
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    "openclaw.plugin.json",
    "gemini-extension.json",
    "hooks/hooks.json",
    ".mcp.json",
];
/// How an address of a repository begins.
const REMOTE: &[&str] = &["git+", "https://", "ssh://", "git@", "file://"];

/// Whether a target is an address of a repository.
pub(super) fn is_address(target: &str) -> bool {
    REMOTE.iter().any(|start| target.starts_with(start))
}

impl QualityHandle<'_> {
    /// Whether this names a place on disk or an address, and not a skill of the catalog.
    pub fn is_place(&self, target: &str) -> bool {
        is_address(target)
            || target.contains(['/', '\\'])
            || self.engine.env.expand_home(target).exists()
    }

    /// Scans a place: an archive, a skill's folder or file, every skill of another folder and what
    /// else of a plugin is run, or a repository.
    pub fn scan_place(
        &self,
        target: &str,
        network: NetworkAccess,
    ) -> Result<Vec<ScannedTarget>, EngineError> {
        let scanner = self.engine.scanner.get_or_init(Scanner::new);
        if is_address(target) {
            return self.scan_repository(target, network, scanner);
        }
        let path = self.engine.env.expand_home(target);
        let folders = match path.is_dir() && !holds_skill_file(&path) {
            true => skill_folders(&path),
            false => Vec::new(),
        };
        if folders.is_empty() {
            let bundle = read_bundle(&path)?;
            return Ok(vec![self.judged(target, path, scanner, &bundle)]);
        }
        let mut scanned = Vec::new();
        for folder in &folders {
            let at = path.join(folder);
            let shown = format!("{}/{}", target.trim_end_matches('/'), slashed(folder));
            let bundle = read_bundle(&at)?;
            scanned.push(self.judged(&shown, at, scanner, &bundle));
        }
        if PLUGIN_MARKS.iter().any(|mark| path.join(mark).is_file()) {
            let whole = SkillBundle::from_dir(&path)
                .map_err(|error| EngineError::file("scan", &path, error))?;
            let skills: Vec<String> = folders.iter().map(|folder| slashed(folder)).collect();
            let rest = outside(
                whole.files().iter().map(|file| (file.path.clone(), file.bytes.clone())),
                &skills,
            );
            scanned.push(self.judged(target, path, scanner, &rest));
        }
        Ok(scanned)
    }

    fn scan_repository(
        &self,
        target: &str,
        network: NetworkAccess,
        scanner: &Scanner,
    ) -> Result<Vec<ScannedTarget>, EngineError> {
        let address = target.strip_prefix("git+").unwrap_or(target);
        let (url, at) = match address.split_once('#') {
            Some((url, at)) => (url, Some(at.to_owned())),
            None => (address, None),
        };
        let at = GitRef { url: url.to_owned(), at, skill: None };
        let checkout = git::fetch_to_look(&at, &self.engine.env, network)?;
        let named = |folder: &str| match folder {
            "" => target.to_owned(),
            folder => format!("{target}/{folder}"),
        };
        let folders = skill_folders_of(&checkout.paths);
        let mut scanned = Vec::new();
        for folder in &folders {
            let name = folder.rsplit('/').next().unwrap_or_default();
            let bundle = checkout.subtree(folder)?.bundle(name);
            scanned.push(self.judged(&named(folder), PathBuf::from(folder), scanner, &bundle));
        }
        let is_plugin = |mark: &&str| checkout.paths.iter().any(|path| path == *mark);
        if folders.is_empty() || PLUGIN_MARKS.iter().any(is_plugin) {
            let whole = checkout.subtree("")?;
            let files = whole.files().iter().map(|file| (file.path.clone(), file.bytes.clone()));
            let rest = outside(files, &folders);
            scanned.push(self.judged(target, PathBuf::new(), scanner, &rest));
        }
        Ok(scanned)
    }

    /// The folders of the skills that these files belong to, each once; files of no skill are left
    /// out. For tools that know only which files changed.
    pub fn skills_of_files(&self, files: &[String]) -> Vec<String> {
        let cwd = &self.engine.env.cwd;
        let mut found = BTreeSet::new();
        for file in files {
            let path = self.engine.env.expand_home(file);
            let inside = path.ancestors().skip(1).take_while(|folder| folder.starts_with(cwd));
            // The outermost: a skill's own examples may look like skills.
            if let Some(folder) = inside.filter(|folder| holds_skill_file(folder)).last() {
                found.insert(match slashed(folder.strip_prefix(cwd).unwrap_or(folder)) {
                    inner if inner.is_empty() => ".".to_owned(),
                    inner => format!("./{inner}"),
                });
            }
        }
        found.into_iter().collect()
    }
}

fn holds_skill_file(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    names.into_iter().any(|entry| entry.file_name().eq_ignore_ascii_case(SKILL_FILE))
}

/// The folders below this one that are skills, the outermost of each, in order.
fn skill_folders(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting, mut seen) = (Vec::new(), vec![(PathBuf::new(), 0)], 0);
    while let Some((inner, depth)) = waiting.pop() {
        seen += 1;
        if depth > 0 && holds_skill_file(&root.join(&inner)) {
            found.push(inner);
            continue;
        }
        if depth == MAX_DEPTH || seen > MAX_FOLDERS {
            continue;
        }
        let entries = fs::read_dir(root.join(&inner)).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let passed = PASSED_OVER.iter().any(|passed| name == *passed);
            // A link leads to what is scanned where it is, or to what is not this folder's.
            if !passed && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push((inner.join(name), depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// The same of a repository, wherever in it they lie.
fn skill_folders_of(paths: &[String]) -> Vec<String> {
    let folder = |path: &String| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        name.eq_ignore_ascii_case(SKILL_FILE).then(|| folder.to_owned())
    };
    let all: BTreeSet<String> = paths.iter().filter_map(folder).collect();
    let mut found: Vec<String> = Vec::new();
    for folder in all {
        let is_inside = |outer: &String| {
            outer.is_empty()
                || folder.strip_prefix(outer.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if !found.iter().any(is_inside) {
            found.push(folder);
        }
    }
    found
}

/// The files that lie in none of these folders.
fn outside(files: impl Iterator<Item = (String, Vec<u8>)>, folders: &[String]) -> SkillBundle {
    SkillBundle::from_files(files.filter(|(path, _)| {
        !folders.iter().any(|folder| {
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    }))
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
