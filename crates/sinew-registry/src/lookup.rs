//! Finding and changing skills: what the routes share.

use std::sync::PoisonError;

use axum::http::StatusCode;
use serde::de::DeserializeOwned;
use sinew_store::{
    DocumentVersion, ExpectedVersion, JsonText, KeyRange, StoreError, StoreOp, StoredDocument,
};

use super::caller::RegistryCaller;
use super::model::{
    RegistryAuditEntry, SKILLS, STATS, SkillDoc, StatsDoc, VERSIONS, VersionDoc, skill_key,
    version_key,
};
use super::refusal::{RefusalFormat, RegistryRefusal};
use super::{TeamRegistry, audit, names};

/// How often a change is tried again when another caller changed the document first.
const TRIES: usize = 8;

/// A document and the version it was read at.
#[derive(Debug, Clone)]
pub(crate) struct LoadedDoc<T> {
    pub(crate) value: T,
    pub(crate) version: DocumentVersion,
}

/// Which version of a skill is meant.
#[derive(Debug, Clone, Default)]
pub(crate) struct VersionOrTag {
    pub(crate) version: Option<String>,
    pub(crate) tag: Option<String>,
}

impl TeamRegistry {
    /// The skill that a caller names; of any owner where none is named.
    pub(crate) fn find(
        &self,
        caller: &RegistryCaller,
        slug: &str,
        owner: Option<&str>,
        shape: RefusalFormat,
    ) -> Result<LoadedDoc<SkillDoc>, RegistryRefusal> {
        let look = || self.find_any(caller, slug, owner, shape, SkillDoc::is_visible);
        match look() {
            Ok(found) if found.value.mirrored.is_some() => {
                self.recheck_upstream(Some(caller), &found.value)?;
                look()
            }
            Err(refusal) if refusal.status == StatusCode::NOT_FOUND => {
                match self.fetch_missing(slug, owner) {
                    true => look(),
                    false => Err(refusal),
                }
            }
            looked => looked,
        }
    }

    /// The same among skills for which `fits` holds.
    pub(crate) fn find_any(
        &self,
        caller: &RegistryCaller,
        slug: &str,
        owner: Option<&str>,
        shape: RefusalFormat,
        fits: impl Fn(&SkillDoc) -> bool,
    ) -> Result<LoadedDoc<SkillDoc>, RegistryRefusal> {
        let slug = names::read_slug(slug).ok_or_else(RegistryRefusal::skill_not_found)?;
        if let Some(owner) = owner {
            let owner = names::handle(owner).ok_or_else(RegistryRefusal::skill_not_found)?;
            let found = match self.skill(&slug, &owner)?.filter(|found| fits(&found.value)) {
                Some(found) => Some(found),
                None => self.alias_target(&slug, Some(&owner), &fits)?,
            };
            return found.ok_or_else(RegistryRefusal::skill_not_found);
        }
        let mut all = self.owners_of(&slug)?;
        all.retain(|found| fits(&found.value));
        match all.len() {
            0 => {
                self.alias_target(&slug, None, &fits)?.ok_or_else(RegistryRefusal::skill_not_found)
            }
            1 => all.pop().ok_or_else(RegistryRefusal::skill_not_found),
            _ => {
                let owners: Vec<String> =
                    all.iter().map(|found| found.value.owner.clone()).collect();
                Err(RegistryRefusal::ambiguous(&slug, &owners, &caller.base, shape))
            }
        }
    }

    /// A skill, visible or hidden.
    pub(crate) fn skill(
        &self,
        slug: &str,
        owner: &str,
    ) -> Result<Option<LoadedDoc<SkillDoc>>, StoreError> {
        self.store.get(SKILLS, &skill_key(slug, owner))?.as_ref().map(read).transpose()
    }

    /// The skills of one slug.
    pub(crate) fn owners_of(&self, slug: &str) -> Result<Vec<LoadedDoc<SkillDoc>>, StoreError> {
        /// Owners of one slug that are listed; a longer message would not help.
        const MAX_OWNERS: usize = 50;
        let prefix = format!("{slug}/");
        let page = self.store.list(SKILLS, KeyRange::with_prefix(&prefix), MAX_OWNERS)?;
        page.iter().map(read).collect()
    }

    /// The version that a caller means.
    pub(crate) fn version_of(
        &self,
        skill: &SkillDoc,
        which: &VersionOrTag,
    ) -> Result<VersionDoc, RegistryRefusal> {
        let gone = || RegistryRefusal::text(StatusCode::GONE, "Version not available");
        let missing = || RegistryRefusal::not_found("Version not found");
        let line = match (&which.version, &which.tag) {
            (Some(version), _) if skill.version(version).is_none() => {
                if !self.fetch_version(skill, version) {
                    return Err(missing());
                }
                let now = self.skill(&skill.slug, &skill.owner)?.ok_or_else(missing)?.value;
                now.version(version).is_some().then_some(()).ok_or_else(missing)?;
                return self.version_of(&now, which);
            }
            (Some(version), _) => skill.version(version).ok_or_else(missing)?,
            (None, Some(tag)) if tag != "latest" => {
                let version = skill.tags.get(tag).ok_or_else(missing)?;
                skill.version(version).ok_or_else(missing)?
            }
            _ => skill.latest().ok_or_else(missing)?,
        };
        if line.withdrawn {
            return Err(gone());
        }
        let key = version_key(&skill.slug, &skill.owner, &line.version);
        let document = self.store.get(VERSIONS, &key)?.ok_or_else(missing)?;
        Ok(document.body.read()?)
    }

    /// Changes a skill together with its record in the audit trail, and tells the index.
    ///
    /// `change` gets the skill as it is and says what to record; it runs again where another caller
    /// changed the skill first.
    pub(crate) fn change(
        &self,
        slug: &str,
        owner: &str,
        mut change: impl FnMut(&mut SkillDoc) -> Result<SkillDocChange, RegistryRefusal>,
    ) -> Result<SkillDoc, RegistryRefusal> {
        for _ in 0..TRIES {
            let mut found =
                self.skill(slug, owner)?.ok_or_else(RegistryRefusal::skill_not_found)?;
            let changed = change(&mut found.value)?;
            let Some(kind) = changed.kind else { return Ok(found.value) };
            let key = found.value.key();
            let mut ops = vec![
                StoreOp::put(
                    SKILLS,
                    &key,
                    ExpectedVersion::Version(found.version),
                    JsonText::of(&found.value)?,
                ),
                audit::append_op(kind, &changed.entry, self.now())?,
            ];
            ops.extend(changed.ops);
            match self.transact(&ops, Some(&key)) {
                Ok(()) => return Ok(found.value),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(RegistryRefusal::unavailable("The skill is being changed by other callers"))
    }

    /// Brings the index up to date about one skill.
    pub(crate) fn refresh(&self, key: &str) -> Result<(), StoreError> {
        // The thread that reads last must write last, or an older state would stay.
        let _turn = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let skill = self.store.get(SKILLS, key)?;
        let stats = self.stats_of(key)?;
        let mut index = self.index_mut();
        match skill {
            Some(document) => index.set(document.body.read()?, stats.downloads, stats.installs),
            None => index.remove(key),
        }
        Ok(())
    }

    /// How often a skill was fetched, with what is not written yet.
    pub(crate) fn stats_of(&self, key: &str) -> Result<StatsDoc, StoreError> {
        let written: StatsDoc = match self.store.get(STATS, key)? {
            Some(document) => document.body.read()?,
            None => StatsDoc::default(),
        };
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = counts.get(key).copied().unwrap_or_default();
        Ok(StatsDoc {
            downloads: written.downloads + waiting.downloads,
            installs: written.installs + waiting.installs,
        })
    }
}

/// What is stored along with a change of a skill.
#[derive(Debug)]
pub(crate) struct SkillDocChange {
    /// What the audit trail calls it; nothing where there is nothing to do.
    pub(crate) kind: Option<&'static str>,
    pub(crate) entry: RegistryAuditEntry,
    /// Further steps of the same transaction.
    pub(crate) ops: Vec<StoreOp>,
}

impl SkillDocChange {
    /// Nothing has to be done.
    pub(crate) fn unchanged() -> Self {
        Self { kind: None, entry: audit::empty_entry(), ops: Vec::new() }
    }

    pub(crate) fn with_audit(kind: &'static str, entry: RegistryAuditEntry) -> Self {
        Self { kind: Some(kind), entry, ops: Vec::new() }
    }

    #[must_use]
    pub(crate) fn with(mut self, op: StoreOp) -> Self {
        self.ops.push(op);
        self
    }
}

/// A document as a value.
pub(crate) fn read<T: DeserializeOwned>(
    document: &StoredDocument,
) -> Result<LoadedDoc<T>, StoreError> {
    Ok(LoadedDoc { value: document.body.read()?, version: document.version })
}
