//! A whole catalog as it was put together, kept for the next process and read entry by entry.
//!
//! The cost of a look at every file grows with the number of skills, and a question is about a few of
//! them. So a process that looked at everything leaves the result behind, and one that answers a single
//! question wakes the entries that matter, checks exactly their files, and the folders in which skills
//! come and go. What it does not wake may have changed meanwhile; a look at everything, in the
//! background, is due after [`CHECK_AFTER`].
//!
//! The bytes must be stored where only their owner can write: a forged entry would let a blocked skill
//! through.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use borsh::{BorshDeserialize, BorshSerialize};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sinew_guard::containment;
use sinew_settings::config::SecretSetting;
use sinew_settings::{Config, Environment, Reason};

use crate::catalog::{Catalog, CatalogBuilder, CatalogRequest};
use crate::catalog_cache::StampRecord;
use crate::commands::{CommandSpec, SlashCommands};
use crate::entry::{CatalogEntry, EntryState};
use crate::listing::{FolderListing, ReadAnchor, is_settled};
use crate::load::LoadedSkillFile;
use crate::memory::{CatalogInputs, RememberedWalk};
use crate::parallel;
use crate::roots;
use crate::snapshot::Snapshot;

/// Catalogs with fewer skills are looked at as a whole: that takes a fraction of a second, and misses
/// nothing.
pub const LARGE_CATALOG: usize = 10_000;

/// A look at every file is due so long after the last one.
pub const CHECK_AFTER: Duration = Duration::from_secs(60);

/// Folders, links and missing roots that are checked for every question. A catalog with more is looked
/// at as a whole.
const MAX_CHECKED: usize = 4_000;

/// Skills with `paths` that are always woken: touched files may bring them up. Beyond it, only those
/// that a message is about.
const MAX_WITH_PATHS: usize = 500;

/// Changed when the format changes.
const MAGIC: &[u8; 8] = b"sinewas1";

/// What lies before the sections: the magic, and the checksum and length of the head and the table.
const PREFIX: usize = 8 + 4 + 8 + 8;

/// Something on disk, as it was.
#[derive(BorshDeserialize, BorshSerialize)]
struct WatchedPlace {
    /// Number of the folder that it is below.
    anchor: u32,
    inside: String,
    stamp: StampRecord,
}

/// What belongs to no single entry.
#[derive(BorshDeserialize, BorshSerialize)]
struct AssembledHead {
    key: String,
    fingerprint: String,
    /// A digest of the documents that an index over this catalog holds.
    documents: String,
    variables: Vec<(String, Option<String>)>,
    anchors: Vec<String>,
    folders: Vec<WatchedPlace>,
    /// Roots that were not there.
    missing: Vec<String>,
    links: Vec<(String, String)>,
    issues: Vec<Reason>,
    skill_filter: Option<Vec<String>>,
    /// Entries with `paths`, by their place in the table.
    with_paths: Vec<u32>,
    /// The commands, which lie behind the entries.
    commands: (u64, u64),
}

/// One line of the table: where an entry is, and what is asked of all of them.
const LINE: usize = 8 + 6 * 4;
const VISIBLE: u32 = 1;
const USED: u32 = 2;

#[derive(BorshDeserialize, BorshSerialize)]
struct AssembledEntry {
    entry: CatalogEntry,
    places: Vec<WatchedPlace>,
}

#[derive(BorshDeserialize, BorshSerialize)]
struct AssembledCommands {
    specs: Vec<CommandSpec>,
    filtered: Vec<CommandSpec>,
}

/// A catalog of an earlier process, of which entries are woken by name.
pub struct AssembledCatalog {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    head: AssembledHead,
    table: Range<usize>,
}

impl fmt::Debug for AssembledCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssembledCatalog").field("count", &self.len()).finish_non_exhaustive()
    }
}

/// Entries that were woken.
#[derive(Debug, Default)]
pub struct CatalogExcerpt {
    entries: Vec<CatalogEntry>,
    /// Names whose files are not what they were.
    pub changed: Vec<String>,
}

impl CatalogBuilder {
    /// What the last catalog's bytes have to be marked with to be used for a request; `None` where a
    /// catalog depends on what cannot be checked.
    pub fn assembled_key(&self, request: &CatalogRequest<'_>, tag: &str) -> Option<String> {
        let inputs = CatalogInputs::of(request)?.for_keeping();
        let found =
            roots::resolve_roots(request.profile, &request.places, request.config, request.env);
        let text = format!("{inputs:?}\n{found:?}\n{:?}\n{tag}", self.bins.get(request.env));
        Some(sinew_skill::content_hash(text.as_bytes()))
    }

    /// The last catalog, to be kept. `None` where it is not this request's, or where something is so
    /// young that a later change could carry the same time.
    pub fn assembled_bytes(
        &self,
        request: &CatalogRequest<'_>,
        snapshot: &Snapshot,
        key: &str,
        documents: &str,
    ) -> Option<Vec<u8>> {
        let memory = self.last.lock();
        let last = memory.as_ref()?;
        if !Arc::ptr_eq(&last.catalog, &snapshot.catalog) {
            return None;
        }
        let catalog = &*last.catalog;
        let mut anchors = AnchorTable::default();
        let files = self.files.read_files();
        let (mut folders, mut missing, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for walked in &last.walks {
            if walked.found.listed.is_empty() {
                missing.push(walked.root_path().to_str()?.to_owned());
            }
            let plain = walked.found.listed.iter().filter(|listed| !listed.is_skill());
            for listed in plain {
                folders.push(anchors.folder(listed, walked.root_path())?);
            }
            for (link, target) in &walked.found.links {
                links.push((link.to_str()?.to_owned(), target.to_str()?.to_owned()));
            }
            if folders.len() + missing.len() + links.len() > MAX_CHECKED {
                return None;
            }
        }
        let mut order: Vec<usize> = (0..catalog.entries.len()).collect();
        order.sort_by(|&a, &b| catalog.entries[a].name.cmp(&catalog.entries[b].name));
        let (mut table, mut blob) = (Vec::new(), Vec::new());
        let mut with_paths = Vec::new();
        for (place, &at) in order.iter().enumerate() {
            let entry = &catalog.entries[at];
            let places = match files.get(entry.file_path.as_path()) {
                Some(file) => anchors.file(file, &last.walks, entry)?,
                None => Vec::new(),
            };
            let is_used = entry.state != EntryState::Shadowed && entry.skill.is_some();
            if is_used && entry.model_visible && declares_paths(entry) {
                with_paths.push(u32::try_from(place).ok()?);
            }
            let mut flags = if is_used { USED } else { 0 };
            flags |= if entry.model_visible { VISIBLE } else { 0 };
            let name_start = blob.len();
            blob.extend_from_slice(entry.name.as_bytes());
            let start = blob.len();
            borsh::to_writer(&mut blob, &AssembledEntryRef { entry, places: &places }).ok()?;
            let sum = crc32fast::hash(&blob[start..]);
            table.extend_from_slice(&(name_start as u64).to_le_bytes());
            table.extend_from_slice(&u32::try_from(entry.name.len()).ok()?.to_le_bytes());
            table.extend_from_slice(&u32::try_from(blob.len() - start).ok()?.to_le_bytes());
            table.extend_from_slice(&flags.to_le_bytes());
            table.extend_from_slice(&sum.to_le_bytes());
            table.extend_from_slice(&u32::try_from(at).ok()?.to_le_bytes());
            table.extend_from_slice(&[0; 4]);
        }
        let start = blob.len();
        let (specs, filtered) = catalog.commands.parts();
        borsh::to_writer(&mut blob, &(specs, filtered)).ok()?;
        let commands = (start as u64, (blob.len() - start) as u64);
        if with_paths.len() > MAX_WITH_PATHS {
            with_paths.clear();
        }
        let head = borsh::to_vec(&AssembledHead {
            key: key.to_owned(),
            fingerprint: snapshot.fingerprint.clone(),
            documents: documents.to_owned(),
            variables: relevant_variables(catalog, request.config, request.env),
            anchors: anchors.paths,
            folders,
            missing,
            links,
            issues: catalog.issues.clone(),
            skill_filter: catalog.skill_filter.clone(),
            with_paths,
            commands,
        })
        .ok()?;
        let mut bytes = Vec::with_capacity(PREFIX + head.len() + table.len() + blob.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&(head.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(table.len() as u64).to_le_bytes());
        bytes.extend(head);
        bytes.extend(table);
        let sum = crc32fast::hash(&bytes[12..]);
        bytes[8..12].copy_from_slice(&sum.to_le_bytes());
        bytes.extend(blob);
        Some(bytes)
    }
}

/// An entry as it is written, without a copy.
#[derive(BorshSerialize)]
struct AssembledEntryRef<'a> {
    entry: &'a CatalogEntry,
    places: &'a Vec<WatchedPlace>,
}

fn declares_paths(entry: &CatalogEntry) -> bool {
    entry.skill.as_ref().is_some_and(|skill| skill.frontmatter.get("paths").is_some())
}

/// The variables that the gate asked for, and digests of their values.
fn relevant_variables(
    catalog: &Catalog,
    config: &Config,
    env: &Environment,
) -> Vec<(String, Option<String>)> {
    let mut names: BTreeSet<&str> = BTreeSet::from(["PATHEXT"]);
    for entry in &catalog.entries {
        let needs = &entry.requirements;
        names.extend(needs.env.iter().chain(&needs.any_env).map(String::as_str));
        names.extend(entry.primary_env.as_deref());
    }
    for entry in config.entries.values() {
        for secret in entry.api_key.iter().chain(entry.env.values()) {
            if let SecretSetting::Reference { source, id } = secret
                && source == "env"
            {
                names.insert(id);
            }
        }
        names.extend(entry.env.keys().map(String::as_str));
    }
    names.into_iter().map(|name| (name.to_owned(), variable_digest(env, name))).collect()
}

fn variable_digest(env: &Environment, name: &str) -> Option<String> {
    env.var(name).map(|value| sinew_skill::content_hash(value.as_bytes()))
}

/// The folders that places are below, each once.
#[derive(Default)]
struct AnchorTable {
    paths: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl AnchorTable {
    fn number(&mut self, path: &Path) -> Option<u32> {
        let path = path.to_str()?;
        if let Some(known) = self.numbers.get(path) {
            return Some(*known);
        }
        let number = u32::try_from(self.paths.len()).ok()?;
        self.paths.push(path.to_owned());
        self.numbers.insert(path.to_owned(), number);
        Some(number)
    }

    fn place(
        &mut self,
        anchor: &ReadAnchor,
        root: &Path,
        inside: &Path,
        stamp: &containment::FileStamp,
        looked_at_ms: u64,
    ) -> Option<WatchedPlace> {
        if !is_settled(stamp, looked_at_ms) {
            return None;
        }
        let anchor = match anchor {
            ReadAnchor::Root(_) => self.number(root)?,
            ReadAnchor::Target(path) => self.number(path)?,
        };
        Some(WatchedPlace {
            anchor,
            inside: inside.to_str()?.to_owned(),
            stamp: StampRecord::of(stamp),
        })
    }

    fn folder(&mut self, listed: &FolderListing, root: &Path) -> Option<WatchedPlace> {
        self.place(&listed.anchor, root, &listed.inside, &listed.stamp, listed.at_ms)
    }

    /// Everything that a skill was read from; nothing for a file that could not be opened.
    fn file(
        &mut self,
        file: &LoadedSkillFile,
        walks: &[Arc<RememberedWalk>],
        entry: &CatalogEntry,
    ) -> Option<Vec<WatchedPlace>> {
        let Some(((anchor, inside), stamp)) = file.place.as_ref().zip(file.stamp.as_ref()) else {
            return Some(Vec::new());
        };
        let holds = |walked: &&Arc<RememberedWalk>| entry.file_path.starts_with(walked.root_path());
        let longest = |walked: &&Arc<RememberedWalk>| walked.root_path().as_os_str().len();
        let root = match anchor {
            ReadAnchor::Root(_) => walks.iter().filter(holds).max_by_key(longest)?.root_path(),
            ReadAnchor::Target(path) => &**path,
        };
        let mut places = vec![self.place(anchor, root, inside, stamp, file.read_at_ms)?];
        if let Some(folder) = &file.folder {
            places.push(self.folder(folder, root)?);
        }
        if let Some(judgement) = &file.judgement {
            let survey = &judgement.survey;
            for folder in &survey.folders {
                places.push(self.folder(folder, root)?);
            }
            for (path, stamp) in &survey.files {
                places.push(self.place(anchor, root, path, stamp.as_ref()?, survey.at_ms)?);
            }
        }
        Some(places)
    }
}

impl AssembledCatalog {
    /// Opens the bytes of an earlier process, if they are for this key and these variables.
    pub fn open(
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        key: &str,
        env: &Environment,
    ) -> Option<Self> {
        let shared: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::new(bytes);
        let bytes = (*shared).as_ref();
        let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let size = |at: usize| usize::try_from(number(at)?).ok();
        let sum = u32::from_le_bytes(*bytes.strip_prefix(MAGIC)?.first_chunk()?);
        let head_end = PREFIX.checked_add(size(12)?)?;
        let table = head_end..head_end.checked_add(size(20)?)?;
        if crc32fast::hash(bytes.get(12..table.end)?) != sum || table.len() % LINE != 0 {
            return None;
        }
        let head: AssembledHead = borsh::from_slice(bytes.get(PREFIX..head_end)?).ok()?;
        let same =
            |(name, digest): &(String, Option<String>)| variable_digest(env, name) == *digest;
        let fits = head.key == key && head.variables.iter().all(same);
        fits.then(|| Self { bytes: Arc::clone(&shared), head, table })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.table.len() / LINE
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The digest of the documents that an index over it holds.
    pub fn documents(&self) -> &str {
        &self.head.documents
    }

    /// The fingerprint of the snapshot that it was.
    pub fn fingerprint(&self) -> &str {
        &self.head.fingerprint
    }

    fn line(&self, at: usize) -> AssembledLine {
        let start = self.table.start + at * LINE;
        let bytes = (*self.bytes).as_ref();
        let number = |offset: usize| {
            let four = bytes.get(start + offset..).and_then(|rest| rest.first_chunk());
            u32::from_le_bytes(four.copied().unwrap_or_default())
        };
        let low = u64::from(number(0)) | u64::from(number(4)) << 32;
        let name_start = usize::try_from(low).unwrap_or(usize::MAX).saturating_add(self.table.end);
        let name_end = name_start.saturating_add(number(8) as usize);
        AssembledLine {
            name: name_start..name_end,
            record: name_end..name_end.saturating_add(number(12) as usize),
            flags: number(16),
            sum: number(20),
            position: number(24),
        }
    }

    fn name(&self, line: &AssembledLine) -> &str {
        let name = (*self.bytes).as_ref().get(line.name.clone()).unwrap_or_default();
        std::str::from_utf8(name).unwrap_or_default()
    }

    /// The names of skills that are used but not shown to models.
    pub fn hidden_names(&self) -> impl Iterator<Item = &str> {
        let lines = (0..self.len()).map(|at| self.line(at));
        let hidden = lines.filter(|line| line.flags & USED != 0 && line.flags & VISIBLE == 0);
        hidden.map(|line| self.name(&line))
    }

    /// The names of all entries.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.name(&self.line(at)))
    }

    /// The places in the table of entries with a name.
    fn find(&self, name: &str) -> Range<usize> {
        let part = |before: &dyn Fn(&str) -> bool| {
            let (mut low, mut high) = (0, self.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if before(self.name(&self.line(middle))) { low = middle + 1 } else { high = middle }
            }
            low
        };
        part(&|one| one < name)..part(&|one| one <= name)
    }

    /// Whether there is a skill of that name.
    pub fn holds(&self, name: &str) -> bool {
        !self.find(name).is_empty()
    }

    /// Whether skills came or went since: the folders between them, missing roots and links.
    pub fn has_same_folders(&self) -> bool {
        let watch = PlaceWatch::new(&self.head.anchors);
        let leads_there = |(link, target): &(String, String)| {
            std::fs::canonicalize(link).is_ok_and(|now| now == Path::new(target))
        };
        self.head.folders.iter().all(|place| watch.is_unchanged(place))
            && !self.head.missing.iter().any(|root| Path::new(root).exists())
            && self.head.links.iter().all(leads_there)
    }

    /// Whether every file is as it was: what a look at everything asks before it leaves these bytes as
    /// they are.
    pub fn has_same_files(&self) -> bool {
        self.has_same_folders() && self.entries(false).is_some()
    }

    /// Every entry, as lists show them: in order, and without what only routing reads of a skill. `None`
    /// where anything differs from what was looked at.
    pub fn listing(self: &Arc<Self>, request: &CatalogRequest<'_>) -> Option<Snapshot> {
        if !self.has_same_folders() {
            return None;
        }
        let entries = self.entries(true)?;
        Some(self.snapshot(request, CatalogExcerpt { entries, changed: Vec::new() }, ""))
    }

    /// The entries if they are as they were; where they are not to be kept, an empty list says so.
    fn entries(&self, keep: bool) -> Option<Vec<CatalogEntry>> {
        let watch = PlaceWatch::new(&self.head.anchors);
        let mut order: Vec<(u32, usize)> =
            (0..self.len()).map(|at| (self.line(at).position, at)).collect();
        order.sort_unstable();
        let woken = parallel::map(&order, |&(_, at)| {
            let AssembledEntry { mut entry, places } = self.entry(&self.line(at))?;
            if !places.iter().all(|place| watch.is_unchanged(place)) {
                return None;
            }
            entry.skill = None;
            Some(keep.then_some(entry))
        });
        let mut entries = Vec::with_capacity(if keep { woken.len() } else { 0 });
        for one in woken {
            entries.extend(one?);
        }
        Some(entries)
    }

    fn entry(&self, line: &AssembledLine) -> Option<AssembledEntry> {
        let record = (*self.bytes).as_ref().get(line.record.clone())?;
        let is_sound = crc32fast::hash(record) == line.sum;
        is_sound.then(|| borsh::from_slice(record).ok()).flatten()
    }

    /// Wakes the entries of some names, and those with `paths`. One whose files are not what they were
    /// is named instead.
    pub fn wake<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> CatalogExcerpt {
        let mut wanted: BTreeSet<usize> =
            names.into_iter().flat_map(|name| self.find(name)).collect();
        wanted.extend(self.head.with_paths.iter().map(|&at| at as usize));
        let watch = PlaceWatch::new(&self.head.anchors);
        let mut excerpt = CatalogExcerpt::default();
        for at in wanted.into_iter().filter(|&at| at < self.len()) {
            let line = self.line(at);
            let woken = self.entry(&line);
            match woken.filter(|woken| woken.places.iter().all(|place| watch.is_unchanged(place))) {
                Some(woken) => excerpt.entries.push(woken.entry),
                None => excerpt.changed.push(self.name(&line).to_owned()),
            }
        }
        excerpt
    }

    /// A snapshot that holds the woken entries alone. Commands are read where a message may name one.
    pub fn snapshot(
        self: &Arc<Self>,
        request: &CatalogRequest<'_>,
        excerpt: CatalogExcerpt,
        message: &str,
    ) -> Snapshot {
        let may_name = message.trim_start().starts_with('/') || message.contains('$');
        let catalog = Catalog {
            entries: excerpt.entries,
            issues: self.head.issues.clone(),
            roots: roots::resolve_roots(
                request.profile,
                &request.places,
                request.config,
                request.env,
            )
            .0,
            skill_filter: self.head.skill_filter.clone(),
            commands: if may_name { self.commands() } else { SlashCommands::default() },
            folders: Vec::new(),
            merged_by_id: false,
        };
        Snapshot::excerpt(request, catalog, Arc::clone(self))
    }

    fn commands(&self) -> SlashCommands {
        let (start, len) = self.head.commands;
        let start = usize::try_from(start).unwrap_or(usize::MAX).saturating_add(self.table.end);
        let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        let bytes = (*self.bytes).as_ref().get(start..end).unwrap_or_default();
        match borsh::from_slice::<AssembledCommands>(bytes) {
            Ok(commands) => SlashCommands::from_specs(commands.specs, commands.filtered),
            Err(_) => SlashCommands::default(),
        }
    }
}

/// A line of the table.
struct AssembledLine {
    name: Range<usize>,
    record: Range<usize>,
    flags: u32,
    sum: u32,
    /// Its place in the order in which skills are shown.
    position: u32,
}

/// More folders than this are opened for each use: a library of links has one for each skill.
const MAX_OPEN: usize = 64;

/// Checks places; the folders that they are below stay open while there are few.
struct PlaceWatch<'a> {
    anchors: &'a [String],
    open: Vec<Option<Dir>>,
}

impl<'a> PlaceWatch<'a> {
    fn new(anchors: &'a [String]) -> Self {
        let few = if anchors.len() <= MAX_OPEN { anchors } else { &[] };
        Self { anchors, open: few.iter().map(|path| open(path)).collect() }
    }

    fn is_unchanged(&self, place: &WatchedPlace) -> bool {
        let at = place.anchor as usize;
        let inside = if place.inside.is_empty() { "." } else { place.inside.as_str() };
        let is_same = |dir: &Dir| {
            let now = containment::stamp_of(dir, Path::new(inside));
            now.is_ok_and(|now| now == place.stamp.stamp())
        };
        match self.open.get(at) {
            Some(dir) => dir.as_ref().is_some_and(is_same),
            None => self.anchors.get(at).and_then(|path| open(path)).as_ref().is_some_and(is_same),
        }
    }
}

fn open(folder: &str) -> Option<Dir> {
    Dir::open_ambient_dir(folder, ambient_authority()).ok()
}
