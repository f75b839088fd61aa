//! Snapshots: one immutable version of the catalog, cheap to share.
//!
//! Readers hold an [`Arc`] and never wait for the builder. A version number only ever grows, even
//! across restarts and when the clock is set back, so that a stored old one can be recognised as
//! old.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use serde::Serialize;
use sinew_settings::Reason;

use crate::assembled_catalog::AssembledCatalog;
use crate::catalog::{Catalog, CatalogBuilder, CatalogRequest};
use crate::entry::CatalogEntry;
use crate::filter::SessionOverrides;

/// Increased when the format of the prompt block changes, so that stored blocks are not reused.
pub const PROMPT_FORMAT_VERSION: u32 = 1;

/// One version of the catalog.
#[derive(Debug)]
pub struct Snapshot {
    /// Grows with every change.
    pub version: u64,
    /// The profile that applied.
    pub profile: &'static str,
    /// The platform it was built for.
    pub platform: String,
    /// One digest over names, keys, sources, paths and contents.
    pub fingerprint: String,
    /// The session's switches.
    pub overrides: SessionOverrides,
    /// The skills.
    pub catalog: Arc<Catalog>,
    /// What else the result depends on: states, commands, limits.
    inputs: u64,
    /// The catalog that this is an excerpt of.
    whole: Option<Arc<AssembledCatalog>>,
}

/// A snapshot with the fields of OpenClaw's own snapshots, plus sinew's.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotRecord<'a> {
    /// Grows with every change.
    pub version: u64,
    /// The format of the prompt block.
    pub prompt_format_version: u32,
    /// The profile that applied.
    pub profile: &'a str,
    /// The platform it was built for.
    pub platform: &'a str,
    /// One digest over names, keys, sources, paths and contents.
    pub fingerprint: &'a str,
    /// The skills an agent may use.
    pub skills: Vec<SnapshotSkill<'a>>,
    /// The agent's list, if one applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_filter: Option<&'a [String]>,
    /// The session's switches.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skill_overrides: &'a SessionOverrides,
    /// Issues that belong to no single skill.
    pub issues: &'a [Reason],
}

/// One skill of a snapshot.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SnapshotSkill<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its key under `skills.entries`.
    pub skill_key: &'a str,
    /// The variable that receives the configured API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_env: Option<&'a str>,
    /// Variables it needs.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub required_env: &'a [String],
    /// Changes with any file of the skill, even if the version stays the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support_revision: Option<&'a str>,
}

impl Snapshot {
    /// A snapshot with some entries of a catalog. Its version is older than any other, so that it never
    /// stands in the way of a whole one.
    pub(crate) fn excerpt(
        request: &CatalogRequest<'_>,
        catalog: Catalog,
        whole: Arc<AssembledCatalog>,
    ) -> Self {
        Self {
            version: 0,
            profile: request.profile.name,
            platform: request.env.os.clone(),
            fingerprint: whole.fingerprint().to_owned(),
            overrides: request.overrides.clone(),
            catalog: Arc::new(catalog),
            inputs: 0,
            whole: Some(whole),
        }
    }

    /// The catalog that this is an excerpt of, where it does not hold every skill.
    pub fn whole(&self) -> Option<&Arc<AssembledCatalog>> {
        self.whole.as_ref()
    }

    /// Whether there is a skill of that name, be it in this excerpt or not.
    pub fn holds(&self, name: &str) -> bool {
        self.catalog.unshadowed().any(|entry| entry.name == name)
            || self.whole.as_ref().is_some_and(|whole| whole.holds(name))
    }

    /// The snapshot as other programs read it.
    pub fn record(&self) -> SnapshotRecord<'_> {
        SnapshotRecord {
            version: self.version,
            prompt_format_version: PROMPT_FORMAT_VERSION,
            profile: self.profile,
            platform: &self.platform,
            fingerprint: &self.fingerprint,
            skills: self
                .catalog
                .unshadowed()
                .filter(|entry| entry.eligible && !entry.blocked_by_agent_filter)
                .map(|entry| SnapshotSkill {
                    name: &entry.name,
                    skill_key: &entry.skill_key,
                    primary_env: entry.primary_env.as_deref(),
                    required_env: &entry.requirements.env,
                    support_revision: entry.scan.as_ref().map(|scan| scan.digest.as_str()),
                })
                .collect(),
            skill_filter: self.catalog.skill_filter.as_deref(),
            skill_overrides: &self.overrides,
            issues: &self.catalog.issues,
        }
    }
}

/// Why a snapshot was refreshed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefreshCause {
    /// The first one.
    Start,
    /// A refresh was requested; files may have changed.
    Files,
    /// The configuration, an agent's list, the roots or an installation changed.
    Settings,
    /// Watching failed: changes may have been missed.
    WatchLost,
}

/// The result of a refresh.
#[derive(Debug, Clone, Serialize)]
pub struct CatalogChange {
    /// The version after it.
    pub version: u64,
    /// Skills that were not there before.
    pub added: Vec<String>,
    /// Skills that are gone.
    pub removed: Vec<String>,
    /// Skills that differ from before.
    pub changed: Vec<String>,
    /// Why it was refreshed.
    pub cause: RefreshCause,
    /// The current snapshot.
    #[serde(skip)]
    pub snapshot: Arc<Snapshot>,
}

impl CatalogChange {
    /// What differs between two looks at the roots.
    pub fn between(
        before: Option<&Arc<Snapshot>>,
        after: &Arc<Snapshot>,
        cause: RefreshCause,
    ) -> Self {
        let mut change = Self {
            version: after.version,
            added: Vec::new(),
            removed: Vec::new(),
            changed: Vec::new(),
            cause,
            snapshot: Arc::clone(after),
        };
        let Some(before) = before.filter(|before| !Arc::ptr_eq(before, after)) else {
            return change;
        };
        let old: BTreeMap<&str, u64> = by_name(&before.catalog);
        let new: BTreeMap<&str, u64> = by_name(&after.catalog);
        let gone = |name: &&str| !new.contains_key(*name);
        change.removed =
            old.keys().filter(|name| gone(name)).map(|name| (*name).to_owned()).collect();
        for (name, digest) in &new {
            match old.get(name) {
                None => change.added.push((*name).to_owned()),
                Some(before) if before != digest => change.changed.push((*name).to_owned()),
                Some(_) => {}
            }
        }
        change
    }

    /// Whether any skill differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// The catalog over time.
#[derive(Debug, Default)]
pub struct LiveCatalog {
    builder: CatalogBuilder,
    current: ArcSwapOption<Snapshot>,
    /// Held while building, so that versions are in order.
    building: Mutex<u64>,
}

impl LiveCatalog {
    /// The current snapshot, if one was built.
    pub fn current(&self) -> Option<Arc<Snapshot>> {
        self.current.load_full()
    }

    /// The builder of the snapshots, for saving and loading its cache.
    pub fn builder(&self) -> &CatalogBuilder {
        &self.builder
    }

    /// Drops what was cached below a folder, before a refresh that must not rely on it.
    pub fn forget_below(&self, folder: &std::path::Path) {
        self.builder.forget_below(folder);
    }

    /// Refreshes the catalog. The version grows if something differs, or if the cause requires it.
    pub fn refresh(&self, request: &CatalogRequest<'_>, cause: RefreshCause) -> CatalogChange {
        let mut version = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        let catalog = self.builder.build(request);
        let before = self.current();
        let may_stay = matches!(cause, RefreshCause::Files | RefreshCause::Start);
        if let Some(before) = &before
            && may_stay
            && Arc::ptr_eq(&before.catalog, &catalog)
        {
            return CatalogChange::between(Some(before), before, cause);
        }
        let fingerprint = fingerprint(&catalog);
        let inputs = inputs(&catalog, request);
        let same = before.as_ref().is_some_and(|before| {
            may_stay && before.fingerprint == fingerprint && before.inputs == inputs
        });
        if !same {
            *version = (*version + 1).max(request.env.clock.now_ms());
        }
        // A snapshot of the same version is replaced too: its reasons may be newer.
        let snapshot = Arc::new(Snapshot {
            version: *version,
            profile: request.profile.name,
            platform: request.env.os.clone(),
            fingerprint,
            overrides: request.overrides.clone(),
            catalog,
            inputs,
            whole: None,
        });
        self.current.store(Some(Arc::clone(&snapshot)));
        CatalogChange::between(before.as_ref(), &snapshot, cause)
    }
}

fn by_name(catalog: &Catalog) -> BTreeMap<&str, u64> {
    let mut digests = BTreeMap::new();
    // A broken copy beside a good one of the same name does not count for it.
    let broken_first = catalog.unshadowed().filter(|entry| entry.skill.is_none());
    let loaded = catalog.unshadowed().filter(|entry| entry.skill.is_some());
    for entry in broken_first.chain(loaded) {
        digests.insert(entry.name.as_str(), digest(entry));
    }
    digests
}

/// A digest over everything that can differ in an entry.
fn digest(entry: &CatalogEntry) -> u64 {
    let mut hasher = DefaultHasher::new();
    entry.content_hash.hash(&mut hasher);
    entry.file_path.hash(&mut hasher);
    entry.skill_key.hash(&mut hasher);
    entry.state.hash(&mut hasher);
    entry.via_machine.hash(&mut hasher);
    entry.model_visible.hash(&mut hasher);
    entry.command_name.hash(&mut hasher);
    hasher.finish()
}

fn fingerprint(catalog: &Catalog) -> String {
    let parts = catalog.entries.iter().flat_map(|entry| {
        let path = entry.file_path.as_os_str().as_encoded_bytes();
        let texts = [&entry.name, &entry.skill_key, &entry.source, &entry.content_hash];
        texts.map(String::as_bytes).into_iter().chain([path, b"\n"])
    });
    sinew_skill::content_hash_of(parts.flat_map(|part| [part, b"\0"]))
}

fn inputs(catalog: &Catalog, request: &CatalogRequest<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.profile.name.hash(&mut hasher);
    request.overrides.hash(&mut hasher);
    request.config.limits.max_skills_in_prompt.hash(&mut hasher);
    request.config.prompt_chars(request.agent).hash(&mut hasher);
    let mut filter = catalog.skill_filter.clone();
    if let Some(filter) = &mut filter {
        filter.sort();
    }
    filter.hash(&mut hasher);
    for entry in &catalog.entries {
        digest(entry).hash(&mut hasher);
    }
    hasher.finish()
}
