//! Walking one root: which folders contain a skill.
//!
//! The walk looks at names and file types; it opens no skill file. It is bounded in depth, entries
//! and folders, follows a link only where the root allows it, and visits a link's target once, so
//! that no tree, however tangled, can keep it busy.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sinew_settings::{Reason, ReasonCode, path_text};

use crate::catalog_cache::CachedRecords;
use crate::listing::{FolderEntryKind, FolderListing, ReadAnchor};
use crate::parallel;
use crate::profile::{LinkPolicy, Tier};
use crate::roots::{RootShape, SkillRoot};

/// The only name of a skill file.
pub const SKILL_FILE: &str = "SKILL.md";

/// How the name of a rule of Cursor ends.
const RULE_ENDING: &str = ".mdc";

/// The folder below a root where programs write their drafts.
const DRAFTS: &str = "auto";

/// What counts as a skill, and how many are considered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WalkRules {
    /// Accept `skill.md` in any case.
    pub(crate) any_case: bool,
    /// Accept single Markdown files.
    pub(crate) single_files: bool,
    pub(crate) max_candidates: usize,
    /// Real paths that links may point to.
    pub(crate) link_targets: Vec<PathBuf>,
}

/// A file that may be a skill.
#[derive(Debug, Clone)]
pub(crate) struct DiscoveredSkill {
    /// The skill's folder, with the root as it was named.
    pub(crate) dir: PathBuf,
    /// The skill's file.
    pub(crate) file: PathBuf,
    /// The folder relative to the root, with `/`.
    pub(crate) relative: String,
    /// The folder's name, or the file's without `.md`.
    pub(crate) id: String,
    /// Whether it is below `auto/`: written by a program from a run.
    pub(crate) generated: bool,
    /// The handle that reading starts from, and the folder below it.
    pub(crate) anchor: ReadAnchor,
    pub(crate) inside: PathBuf,
    pub(crate) file_name: String,
    /// The skill's own folder; `None` for a single file among others.
    pub(crate) folder: Option<Arc<FolderListing>>,
}

impl DiscoveredSkill {
    /// The file below the handle.
    pub(crate) fn file_inside(&self) -> PathBuf {
        self.inside.join(&self.file_name)
    }
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct WalkResult {
    pub(crate) candidates: Vec<DiscoveredSkill>,
    pub(crate) reasons: Vec<Reason>,
    /// If the root is itself a skill: the skills below it, in case its own file does not load.
    pub(crate) below: Vec<DiscoveredSkill>,
    /// The folders whose entries were listed on the way.
    pub(crate) listed: Vec<Arc<FolderListing>>,
    /// The links that were followed, and their targets.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// When the walk began.
    pub(crate) at_ms: u64,
}

/// The maximum number of raw entries of one folder.
fn raw_cap(max_candidates: usize) -> usize {
    max_candidates.max(max_candidates.saturating_mul(10).clamp(1_000, 10_000))
}

/// Walks a root.
pub(crate) fn walk(
    root: &SkillRoot,
    rules: &WalkRules,
    at_ms: u64,
    saved: &CachedRecords,
) -> WalkResult {
    let mut found = WalkResult { at_ms, ..WalkResult::default() };
    let handle = match Dir::open_ambient_dir(&root.path, ambient_authority()) {
        Ok(handle) => Arc::new(handle),
        Err(error) => {
            found.reasons.push(unopened(root, &error));
            return found;
        }
    };
    let mut walk = RootWalker {
        root,
        rules,
        saved,
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

fn unopened(root: &SkillRoot, error: &io::Error) -> Reason {
    let (code, remedy) = match error.kind() {
        io::ErrorKind::NotFound => (ReasonCode::RootMissing, "create it to put skills there"),
        io::ErrorKind::NotADirectory => (ReasonCode::RootUnreadable, "it must be a folder"),
        _ => (ReasonCode::RootUnreadable, "check its permissions"),
    };
    Reason::new(code, format!("{}: {error}", path_text(&root.path)))
        .source(&root.source)
        .path(path_text(&root.path))
        .remedy(remedy)
}

/// Sorts candidates by relative path, so that a cap always leaves out the same ones.
fn order(candidates: &mut [DiscoveredSkill]) {
    candidates.sort_by(|a, b| {
        crate::collate::compare(&a.relative, &b.relative).then_with(|| a.relative.cmp(&b.relative))
    });
}

struct RootWalker<'a> {
    root: &'a SkillRoot,
    rules: &'a WalkRules,
    /// Listings saved by an earlier process.
    saved: &'a CachedRecords,
    real_root: PathBuf,
    seen_links: HashSet<PathBuf>,
    folders_left: usize,
    entries_left: usize,
    /// The number of entries that were not examined.
    cut: usize,
    found: WalkResult,
}

/// A folder to look at.
#[derive(Clone)]
struct WalkFolder {
    anchor: ReadAnchor,
    /// Below the anchor; empty for the anchor itself.
    inside: PathBuf,
    /// The path, with the root as it was named.
    shown: PathBuf,
    relative: String,
    depth: usize,
    /// Whether it is the root itself, whose own file is checked before the walk.
    is_top: bool,
    generated: bool,
}

/// An entry of a folder that may lead to a skill.
struct WalkChild<'a> {
    name: Cow<'a, str>,
    kind: FolderEntryKind,
}

/// The result of examining a folder.
enum FolderView {
    Listing(io::Result<FolderListing>),
    /// Deeper than the walk goes: only whether something is left out there.
    Beyond {
        holds_skill: bool,
    },
}

impl WalkFolder {
    /// The listing of an earlier process, if it is still current.
    fn cached_view(&self, saved: &CachedRecords) -> Option<FolderView> {
        let wake = |record: &[u8]| {
            FolderListing::from_record(record, &self.anchor, &self.inside, &self.shown)
        };
        saved.with_record(&self.shown, wake).map(|listed| FolderView::Listing(Ok(listed)))
    }

    fn look(&self, max_depth: usize, at_ms: u64) -> FolderView {
        if self.depth > max_depth {
            let skill = self.anchor.stamp(&self.inside.join(SKILL_FILE));
            return FolderView::Beyond { holds_skill: skill.is_ok() };
        }
        FolderView::Listing(FolderListing::of(&self.anchor, &self.inside, &self.shown, at_ms))
    }

    /// A subfolder of this one.
    fn child(&self, name: &str) -> Self {
        let relative = match self.relative.as_str() {
            "" => name.to_owned(),
            parent => format!("{parent}/{name}"),
        };
        // A `skills` folder directly below the root counts as the root itself.
        let is_nested_root = self.relative.is_empty() && self.depth == 0 && name == "skills";
        Self {
            anchor: self.anchor.clone(),
            inside: self.inside.join(name),
            shown: self.shown.join(name),
            relative,
            depth: if is_nested_root { 0 } else { self.depth + 1 },
            is_top: false,
            // Drafts are below `auto` in every profile.
            generated: self.generated || self.relative == DRAFTS,
        }
    }

    /// A file in this folder that may be a skill; `listed` is the folder if it belongs to the skill
    /// alone.
    fn candidate(self, file_name: String, listed: Option<Arc<FolderListing>>) -> DiscoveredSkill {
        let id = self.shown.file_name().map(|name| name.to_string_lossy().into_owned());
        DiscoveredSkill {
            file: self.shown.join(&file_name),
            dir: self.shown,
            relative: self.relative,
            id: id.unwrap_or_default(),
            generated: self.generated,
            anchor: self.anchor,
            inside: self.inside,
            file_name,
            folder: listed,
        }
    }
}

impl RootWalker<'_> {
    fn run(&mut self, handle: &Arc<Dir>) {
        let top = WalkFolder {
            anchor: ReadAnchor::Root(Arc::clone(handle)),
            inside: PathBuf::new(),
            shown: self.root.path.clone(),
            relative: String::new(),
            depth: 0,
            is_top: true,
            generated: false,
        };
        self.seen_links.insert(self.real_root.clone());
        match self.look(&top) {
            FolderView::Listing(Ok(listed))
                if self.root.shape == RootShape::Any && listed.holds(SKILL_FILE) =>
            {
                self.root_skill(top, listed, handle);
            }
            look => self.breadth_first(top, look),
        }
    }

    fn root_skill(&mut self, top: WalkFolder, listed: FolderListing, handle: &Dir) {
        let listed = Arc::new(listed);
        self.found.listed.push(Arc::clone(&listed));
        // The skills below matter too, in case the root's own file is broken.
        if handle.is_dir("skills") {
            let nested = WalkFolder {
                inside: PathBuf::from("skills"),
                shown: self.root.path.join("skills"),
                relative: "skills".to_owned(),
                ..top.clone()
            };
            let look = self.look(&nested);
            self.breadth_first(nested, look);
        }
        let root_skill = top.candidate(SKILL_FILE.to_owned(), Some(listed));
        self.found.below = std::mem::replace(&mut self.found.candidates, vec![root_skill]);
    }

    fn look(&self, folder: &WalkFolder) -> FolderView {
        let look = || folder.look(self.root.max_depth, self.found.at_ms);
        folder.cached_view(self.saved).unwrap_or_else(look)
    }

    /// One level after the other; the folders of a level are listed in parallel.
    fn breadth_first(&mut self, top: WalkFolder, look: FolderView) {
        let mut level = Vec::new();
        self.visit(top, look, &mut level);
        while !level.is_empty() {
            let looks = parallel::map(&level, |folder| self.look(folder));
            let mut next = Vec::new();
            for (folder, look) in level.into_iter().zip(looks) {
                self.visit(folder, look, &mut next);
            }
            level = next;
        }
        if self.cut > 0 {
            self.report(
                Reason::new(
                    ReasonCode::ScanTruncated,
                    format!(
                        "{} entries of {} were not examined",
                        self.cut,
                        path_text(&self.root.path)
                    ),
                )
                .remedy("raise skills.limits.maxCandidatesPerRoot, or name a smaller folder"),
            );
        }
    }

    fn visit(&mut self, folder: WalkFolder, look: FolderView, next: &mut Vec<WalkFolder>) {
        let listed = match look {
            FolderView::Listing(Ok(listed)) => Arc::new(listed),
            FolderView::Listing(Err(error)) => {
                self.report(
                    Reason::new(
                        ReasonCode::Unreadable,
                        format!("the folder cannot be listed: {error}"),
                    )
                    .path(path_text(&folder.shown))
                    .remedy("check its permissions"),
                );
                return;
            }
            FolderView::Beyond { holds_skill: true } => return self.too_deep(&folder),
            FolderView::Beyond { holds_skill: false } => return,
        };
        self.found.listed.push(Arc::clone(&listed));
        if !folder.is_top && listed.holds(SKILL_FILE) {
            self.found.candidates.push(folder.candidate(SKILL_FILE.to_owned(), Some(listed)));
        } else if self.folders_left == 0 {
            self.cut += 1;
        } else {
            self.folders_left -= 1;
            self.descend(folder, &listed, next);
        }
    }

    fn descend(
        &mut self,
        folder: WalkFolder,
        listed: &Arc<FolderListing>,
        next: &mut Vec<WalkFolder>,
    ) {
        let children = self.children(listed);
        if let Some(other_case) =
            children.iter().find(|child| is_skill_file_in_other_case(&child.name))
        {
            if self.rules.any_case {
                let name = other_case.name.clone().into_owned();
                self.found.candidates.push(folder.candidate(name, Some(Arc::clone(listed))));
                return;
            }
            self.report(
                Reason::new(
                    ReasonCode::FilenameCase,
                    format!("{} is not named {SKILL_FILE}", other_case.name),
                )
                .path(path_text(&folder.shown.join(&*other_case.name)))
                .remedy(format!("rename it to {SKILL_FILE}")),
            );
        }
        for child in children {
            match child.kind {
                FolderEntryKind::File => self.single_file(&folder, &child.name),
                FolderEntryKind::Folder => next.push(folder.child(&child.name)),
                FolderEntryKind::Link => next.extend(self.linked_folder(&folder, &child.name)),
            }
        }
    }

    /// The entries that may lead to a skill.
    fn children<'a>(&mut self, listed: &'a FolderListing) -> Vec<WalkChild<'a>> {
        let mut children: Vec<WalkChild<'_>> = listed
            .children
            .iter()
            .map(|child| WalkChild { name: child.name.to_string_lossy(), kind: child.kind })
            .filter(|child| !child.name.starts_with('.') && child.name != "node_modules")
            .collect();
        // Folders first, so that under a cap a heap of files does not push out skills.
        let is_file = |child: &WalkChild<'_>| matches!(child.kind, FolderEntryKind::File);
        children
            .sort_by(|a, b| (is_file(a), a.name.as_bytes()).cmp(&(is_file(b), b.name.as_bytes())));
        let cap = raw_cap(self.rules.max_candidates).min(self.entries_left);
        self.cut += children.len().saturating_sub(cap);
        children.truncate(cap);
        self.entries_left -= children.len();
        children
    }

    fn linked_folder(&mut self, folder: &WalkFolder, name: &str) -> Option<WalkFolder> {
        let link = folder.shown.join(name);
        let target = match fs::canonicalize(&link) {
            Ok(target) if target.is_dir() => target,
            Ok(_) => return None,
            Err(error) => {
                self.report(
                    Reason::new(ReasonCode::Unreadable, format!("the link is broken: {error}"))
                        .severity(sinew_settings::ReasonSeverity::Warn)
                        .path(path_text(&link))
                        .remedy("correct or remove the link"),
                );
                return None;
            }
        };
        if !self.may_link_to(&target) {
            let code = match self.root.tier {
                Tier::Bundled => ReasonCode::BundledRootEscape,
                _ => ReasonCode::SymlinkEscape,
            };
            self.report(
                Reason::new(code, format!("the link points to {}", path_text(&target)))
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
                Reason::new(ReasonCode::Shadowed, "another link points to the same folder")
                    .path(path_text(&link)),
            );
            return None;
        }
        let below = folder.child(name);
        Some(WalkFolder {
            anchor: ReadAnchor::Target(target.into()),
            inside: PathBuf::new(),
            ..below
        })
    }

    /// Whether the walk reaches a folder anyway, so that a link to it is only an alias.
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
            LinkPolicy::Free => true,
            LinkPolicy::Inside | LinkPolicy::None => false,
            LinkPolicy::Listed => {
                self.rules.link_targets.iter().any(|allowed| target.starts_with(allowed))
            }
        }
    }

    fn single_file(&mut self, folder: &WalkFolder, name: &str) {
        let rule = name.strip_suffix(RULE_ENDING).filter(|_| self.root.shape == RootShape::Rules);
        let single = || name.strip_suffix(".md").filter(|_| self.rules.single_files);
        let Some(stem) = rule.or_else(single) else { return };
        if stem.eq_ignore_ascii_case("readme") || stem.eq_ignore_ascii_case("skill") {
            return;
        }
        let mut candidate = folder.clone().candidate(name.to_owned(), None);
        candidate.id = stem.to_owned();
        candidate.generated |= folder.relative == DRAFTS;
        candidate.relative = match folder.relative.as_str() {
            "" => name.to_owned(),
            parent => format!("{parent}/{name}"),
        };
        self.found.candidates.push(candidate);
    }

    fn too_deep(&mut self, folder: &WalkFolder) {
        self.report(
            Reason::new(
                ReasonCode::DepthCapped,
                format!("the skill is more than {} folders deep", self.root.max_depth),
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
