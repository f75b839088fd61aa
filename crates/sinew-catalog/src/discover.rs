//! Walking one root: which folders hold a skill.
//!
//! The walk looks at names and file types; it opens no skill file. It is bounded in depth, entries
//! and folders, follows a link only where the root allows it, and visits a link's target once, so
//! that no tree, however it is knotted, keeps it busy.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sinew_guard::contained::{self, Stamp};
use sinew_skill::{Code, Reason};

use crate::environment::path_text;
use crate::profile::{Links, Tier};
use crate::roots::{Root, Shape};

/// The one name a skill file has.
pub const SKILL_FILE: &str = "SKILL.md";

/// The folder below a root where programs put the drafts they write.
const DRAFTS: &str = "auto";

/// What counts as a skill, and how many are considered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WalkRules {
    /// Accept `skill.md` in any case.
    pub(crate) any_case: bool,
    /// Accept single Markdown files.
    pub(crate) single_files: bool,
    pub(crate) max_candidates: usize,
    /// Real paths that links may lead to.
    pub(crate) link_targets: Vec<PathBuf>,
}

/// A file that may be a skill.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// The skill's folder, as its root was named.
    pub(crate) dir: PathBuf,
    /// The skill's file.
    pub(crate) file: PathBuf,
    /// The folder relative to the root, with `/`.
    pub(crate) relative: String,
    /// The folder's name, or the file's without `.md`.
    pub(crate) id: String,
    /// Lies below `auto/`: made by a program from a run.
    pub(crate) generated: bool,
    /// Where all reading starts, and the folder below it.
    pub(crate) anchor: Anchor,
    pub(crate) inside: PathBuf,
    pub(crate) file_name: String,
    /// What the file looked like when it was found.
    pub(crate) stamp: Option<Stamp>,
}

impl Candidate {
    /// Whether the skill is a folder, rather than a single file among others.
    pub(crate) fn is_folder(&self) -> bool {
        self.file_name.eq_ignore_ascii_case(SKILL_FILE)
    }

    /// The file below the handle.
    pub(crate) fn file_inside(&self) -> PathBuf {
        self.inside.join(&self.file_name)
    }
}

/// Where reading starts: the root's own handle, or the target of a link.
///
/// A target is opened for each use. Libraries made of links are common, and a handle for each of
/// their skills would use up what a process may open.
#[derive(Debug, Clone)]
pub(crate) enum Anchor {
    Root(Arc<Dir>),
    Target(Arc<Path>),
}

impl Anchor {
    /// Calls `work` with the open folder.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Dir) -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Root(dir) => work(dir),
            Self::Target(path) => work(&Dir::open_ambient_dir(path, ambient_authority())?),
        }
    }

    /// What something below looks like now.
    pub(crate) fn stamp(&self, inside: &Path) -> io::Result<Stamp> {
        let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        self.with(|dir| contained::stamp_of(dir, inside))
    }
}

/// File systems keep time in steps; the coarsest that matter, FAT and old NFS, in steps of 2 s.
const CLOCK_SLACK: Duration = Duration::from_secs(2);

/// Whether something had been as it was for long enough when it was looked at: a change right after
/// the look could otherwise carry the same time and never be seen.
pub(crate) fn is_settled(stamp: &Stamp, looked_at_ms: u64) -> bool {
    let modified = stamp.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    modified.is_some_and(|time| time + CLOCK_SLACK < Duration::from_millis(looked_at_ms))
}

/// A folder whose entries were listed, and what it looked like just before.
#[derive(Debug)]
pub(crate) struct Listed {
    anchor: Anchor,
    inside: PathBuf,
    stamp: Option<Stamp>,
    at_ms: u64,
    /// As its root was named.
    pub(crate) shown: PathBuf,
}

impl Listed {
    /// Looks at a folder, which is to be listed right after.
    pub(crate) fn of(anchor: Anchor, inside: PathBuf, shown: PathBuf, at_ms: u64) -> Self {
        let stamp = anchor.stamp(&inside).ok();
        Self { anchor, inside, stamp, at_ms, shown }
    }

    /// Lists it.
    pub(crate) fn entries(&self) -> io::Result<cap_std::fs::ReadDir> {
        self.anchor.with(|dir| match self.inside.as_os_str().is_empty() {
            true => dir.entries(),
            false => dir.read_dir(&self.inside),
        })
    }

    /// Whether a path still leads to this very folder.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let there = Anchor::Target(path.into()).stamp(Path::new(""));
        self.stamp.is_some_and(|stamp| there.is_ok_and(|there| there.id == stamp.id))
    }

    /// Whether the same listing would come out again.
    pub(crate) fn is_unchanged(&self) -> bool {
        let Some(stamp) = self.stamp else { return false };
        is_settled(&stamp, self.at_ms)
            && self.anchor.stamp(&self.inside).is_ok_and(|now| now == stamp)
    }
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) reasons: Vec<Reason>,
    /// The root is itself a skill; should it not load, these are the skills below it.
    pub(crate) below: Vec<Candidate>,
    /// The folders whose entries were listed on the way.
    pub(crate) listed: Vec<Listed>,
    /// The links that were followed, and where they led.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// When the walk began.
    pub(crate) at_ms: u64,
}

/// Raw entries of one folder that are looked at.
fn raw_cap(max_candidates: usize) -> usize {
    max_candidates.max(max_candidates.saturating_mul(10).clamp(1_000, 10_000))
}

/// However large a folder is, more names than this are not even read.
const MAX_NAMES: usize = 1_000_000;

/// Walks a root.
pub(crate) fn walk(root: &Root, rules: &WalkRules, at_ms: u64) -> Found {
    let mut found = Found { at_ms, ..Found::default() };
    let handle = match Dir::open_ambient_dir(&root.path, ambient_authority()) {
        Ok(handle) => Arc::new(handle),
        Err(error) => {
            found.reasons.push(unopened(root, &error));
            return found;
        }
    };
    let mut walk = Walk {
        root,
        rules,
        real_root: fs::canonicalize(&root.path).unwrap_or_else(|_| root.path.clone()),
        seen_links: HashSet::new(),
        folders_left: rules.max_candidates.saturating_mul(6).max(6),
        entries_left: raw_cap(rules.max_candidates)
            .saturating_mul(rules.max_candidates.saturating_add(1)),
        cut: 0,
        found,
    };
    walk.run(&handle);
    let mut found = walk.found;
    order(&mut found.candidates);
    order(&mut found.below);
    found
}

fn unopened(root: &Root, error: &io::Error) -> Reason {
    let (code, remedy) = match error.kind() {
        io::ErrorKind::NotFound => (Code::RootMissing, "create it to put skills there"),
        io::ErrorKind::NotADirectory => (Code::RootUnreadable, "it must be a folder"),
        _ => (Code::RootUnreadable, "check who may read it"),
    };
    Reason::new(code, format!("{}: {error}", path_text(&root.path)))
        .source(&root.source)
        .path(path_text(&root.path))
        .remedy(remedy)
}

/// Candidates in the order of their relative path, so that a cap leaves out the same ones always.
fn order(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| {
        crate::collate::compare(&a.relative, &b.relative).then_with(|| a.relative.cmp(&b.relative))
    });
}

struct Walk<'a> {
    root: &'a Root,
    rules: &'a WalkRules,
    real_root: PathBuf,
    seen_links: HashSet<PathBuf>,
    folders_left: usize,
    entries_left: usize,
    /// Entries that were not looked at.
    cut: usize,
    found: Found,
}

/// A folder to look at.
struct Folder {
    anchor: Anchor,
    /// Below the anchor; empty for the anchor itself.
    inside: PathBuf,
    /// As its root was named.
    shown: PathBuf,
    relative: String,
    depth: usize,
    /// The root itself, whose own file is judged before the walk.
    is_top: bool,
    generated: bool,
}

enum Kind {
    Folder,
    Link,
    File,
}

struct Child {
    name: String,
    kind: Kind,
}

impl Walk<'_> {
    fn run(&mut self, handle: &Arc<Dir>) {
        let top = Folder {
            anchor: Anchor::Root(Arc::clone(handle)),
            inside: PathBuf::new(),
            shown: self.root.path.clone(),
            relative: String::new(),
            depth: 0,
            is_top: true,
            generated: false,
        };
        self.seen_links.insert(self.real_root.clone());
        if self.root.shape == Shape::Any
            && let Some(root_skill) = self.skill_file(&top)
        {
            // Whether there are skills below matters too, should the root's own file break.
            let listed =
                Listed::of(top.anchor.clone(), PathBuf::new(), top.shown.clone(), self.found.at_ms);
            self.found.listed.push(listed);
            let nested = Folder {
                inside: PathBuf::from("skills"),
                shown: self.root.path.join("skills"),
                relative: "skills".to_owned(),
                ..top
            };
            if handle.is_dir("skills") {
                self.breadth_first(nested);
            }
            let candidates = std::mem::replace(&mut self.found.candidates, vec![root_skill]);
            self.found.below = candidates;
            return;
        }
        self.breadth_first(top);
    }

    fn breadth_first(&mut self, top: Folder) {
        let mut queue = VecDeque::from([top]);
        while let Some(folder) = queue.pop_front() {
            if !folder.is_top
                && let Some(candidate) = self.skill_file(&folder)
            {
                if folder.depth > self.root.max_depth {
                    self.too_deep(&folder);
                } else {
                    self.found.candidates.push(candidate);
                }
                continue;
            }
            if folder.depth > self.root.max_depth || self.folders_left == 0 {
                self.cut += usize::from(self.folders_left == 0);
                continue;
            }
            self.folders_left -= 1;
            self.descend(&folder, &mut queue);
        }
        if self.cut > 0 {
            self.report(
                Reason::new(
                    Code::ScanTruncated,
                    format!(
                        "{} entries of {} were not looked at",
                        self.cut,
                        path_text(&self.root.path)
                    ),
                )
                .remedy("raise skills.limits.maxCandidatesPerRoot, or name a smaller folder"),
            );
        }
    }

    /// The exact file is one look-up; anything else needs the listing.
    fn skill_file(&self, folder: &Folder) -> Option<Candidate> {
        let stamp = folder.anchor.stamp(&folder.inside.join(SKILL_FILE)).ok()?;
        Some(self.candidate(folder, SKILL_FILE.to_owned(), Some(stamp)))
    }

    fn descend(&mut self, folder: &Folder, queue: &mut VecDeque<Folder>) {
        let children = match self.children(folder) {
            Ok(children) => children,
            Err(error) => {
                self.report(
                    Reason::new(Code::Unreadable, format!("the folder cannot be listed: {error}"))
                        .path(path_text(&folder.shown))
                        .remedy("check who may read it"),
                );
                return;
            }
        };
        if let Some(other_case) =
            children.iter().find(|child| is_skill_file_in_other_case(&child.name))
        {
            if self.rules.any_case {
                let candidate = self.candidate_of(folder, other_case.name.clone());
                self.found.candidates.push(candidate);
                return;
            }
            self.report(
                Reason::new(
                    Code::FilenameCase,
                    format!("{} is not named {SKILL_FILE}", other_case.name),
                )
                .path(path_text(&folder.shown.join(&other_case.name)))
                .remedy(format!("rename it to {SKILL_FILE}")),
            );
        }
        for child in children {
            match child.kind {
                Kind::File => self.single_file(folder, &child.name),
                Kind::Folder => queue.push_back(self.child_folder(folder, &child.name)),
                Kind::Link => queue.extend(self.linked_folder(folder, &child.name)),
            }
        }
    }

    fn children(&mut self, folder: &Folder) -> io::Result<Vec<Child>> {
        let listed = Listed::of(
            folder.anchor.clone(),
            folder.inside.clone(),
            folder.shown.clone(),
            self.found.at_ms,
        );
        let listing = listed.entries();
        self.found.listed.push(listed);
        let mut children = Vec::new();
        for entry in listing?.take(MAX_NAMES) {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "node_modules" {
                continue;
            }
            let kind = match entry.file_type()? {
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::File,
            };
            children.push(Child { name, kind });
        }
        // Folders first: where a cap bites, a heap of files does not push out the skills among them.
        let is_file = |child: &Child| matches!(child.kind, Kind::File);
        children
            .sort_by(|a, b| (is_file(a), a.name.as_bytes()).cmp(&(is_file(b), b.name.as_bytes())));
        let cap = raw_cap(self.rules.max_candidates).min(self.entries_left);
        self.cut += children.len().saturating_sub(cap);
        children.truncate(cap);
        self.entries_left -= children.len();
        Ok(children)
    }

    fn child_folder(&self, folder: &Folder, name: &str) -> Folder {
        let relative = match folder.relative.as_str() {
            "" => name.to_owned(),
            parent => format!("{parent}/{name}"),
        };
        // A `skills` folder directly below the root is the root, one step further down.
        let is_nested_root = folder.relative.is_empty() && folder.depth == 0 && name == "skills";
        Folder {
            anchor: folder.anchor.clone(),
            inside: folder.inside.join(name),
            shown: folder.shown.join(name),
            relative,
            depth: if is_nested_root { 0 } else { folder.depth + 1 },
            is_top: false,
            // Drafts that programs write lie below `auto`, whatever profile reads them.
            generated: folder.generated || folder.relative == DRAFTS,
        }
    }

    fn linked_folder(&mut self, folder: &Folder, name: &str) -> Option<Folder> {
        let link = folder.shown.join(name);
        let target = match fs::canonicalize(&link) {
            Ok(target) if target.is_dir() => target,
            Ok(_) => return None,
            Err(error) => {
                self.report(
                    Reason::new(Code::Unreadable, format!("the link leads nowhere: {error}"))
                        .severity(sinew_skill::Severity::Warn)
                        .path(path_text(&link))
                        .remedy("correct or remove the link"),
                );
                return None;
            }
        };
        if !self.may_link_to(&target) {
            let code = match self.root.tier {
                Tier::Bundled => Code::BundledRootEscape,
                _ => Code::SymlinkEscape,
            };
            self.report(
                Reason::new(code, format!("the link leads to {}", path_text(&target)))
                    .path(path_text(&link))
                    .remedy(format!(
                        "add {} to skills.load.allowSymlinkTargets, or copy the folder here",
                        path_text(&target)
                    )),
            );
            return None;
        }
        self.found.links.push((link.clone(), target.clone()));
        if self.is_walked_anyway(&target) {
            return None;
        }
        if !self.seen_links.insert(target.clone()) {
            self.report(
                Reason::new(Code::Shadowed, "another link leads to the same folder")
                    .path(path_text(&link)),
            );
            return None;
        }
        let below = self.child_folder(folder, name);
        Some(Folder { anchor: Anchor::Target(target.into()), inside: PathBuf::new(), ..below })
    }

    /// Whether the walk comes past a folder by itself, so that a link to it is only an alias.
    fn is_walked_anyway(&self, target: &Path) -> bool {
        let Ok(inside) = target.strip_prefix(&self.real_root) else { return false };
        inside.components().all(|part| {
            let name = part.as_os_str().to_string_lossy();
            !name.starts_with('.') && name != "node_modules"
        })
    }

    fn may_link_to(&self, target: &Path) -> bool {
        if target.starts_with(&self.real_root) {
            return true;
        }
        match self.root.links {
            Links::Free => true,
            Links::Inside | Links::None => false,
            Links::Listed => {
                self.rules.link_targets.iter().any(|allowed| target.starts_with(allowed))
            }
        }
    }

    fn single_file(&mut self, folder: &Folder, name: &str) {
        let Some(stem) = name.strip_suffix(".md").filter(|_| self.rules.single_files) else {
            return;
        };
        if stem.eq_ignore_ascii_case("readme") || stem.eq_ignore_ascii_case("skill") {
            return;
        }
        let mut candidate = self.candidate_of(folder, name.to_owned());
        candidate.id = stem.to_owned();
        candidate.generated |= folder.relative == DRAFTS;
        candidate.relative = match folder.relative.as_str() {
            "" => name.to_owned(),
            parent => format!("{parent}/{name}"),
        };
        self.found.candidates.push(candidate);
    }

    fn candidate_of(&self, folder: &Folder, file_name: String) -> Candidate {
        let stamp = folder.anchor.stamp(&folder.inside.join(&file_name)).ok();
        self.candidate(folder, file_name, stamp)
    }

    fn candidate(&self, folder: &Folder, file_name: String, stamp: Option<Stamp>) -> Candidate {
        let id = folder.shown.file_name().map(|name| name.to_string_lossy().into_owned());
        Candidate {
            dir: folder.shown.clone(),
            file: folder.shown.join(&file_name),
            relative: folder.relative.clone(),
            id: id.unwrap_or_default(),
            generated: folder.generated,
            anchor: folder.anchor.clone(),
            inside: folder.inside.clone(),
            file_name,
            stamp,
        }
    }

    fn too_deep(&mut self, folder: &Folder) {
        self.report(
            Reason::new(
                Code::DepthCapped,
                format!("the skill lies more than {} folders deep", self.root.max_depth),
            )
            .path(path_text(&folder.shown))
            .remedy("move it up, or raise skills.load.maxDepth"),
        );
    }

    fn report(&mut self, reason: Reason) {
        let reason = match reason.path {
            Some(_) => reason,
            None => reason.path(path_text(&self.root.path)),
        };
        self.found.reasons.push(reason.source(&self.root.source));
    }
}

fn is_skill_file_in_other_case(name: &str) -> bool {
    name != SKILL_FILE && name.eq_ignore_ascii_case(SKILL_FILE)
}
