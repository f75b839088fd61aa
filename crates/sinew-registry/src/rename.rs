//! Names that change: a tag that moves to another version, a skill that gets another slug, and one that
//! is merged into another. A request for an old name gets the skill under its new one.
//!
//! **Must never happen here:** bytes that change. An archive keeps the name under which it was
//! published.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::json;
use sinew_store::{ExpectedVersion, JsonText, KeyRange, StoreError, StoreOp};

use super::caller::RegistryCaller;
use super::details::RegistrySkillQuery;
use super::lifecycle::{LifecycleBody, deletion_mark};
use super::lookup::{LoadedDoc, SkillDocChange};
use super::model::{
    ALIASES, AliasDoc, RegistryAuditEntry, SKILLS, STARS, STATS, SkillDoc, VERSIONS, skill_key,
    version_key,
};
use super::refusal::{RegistryRefusal, RegistryReply, json_answer};
use super::token::TokenRole;
use super::{TeamRegistry, audit, names};

/// The longest tag.
const MAX_TAG: usize = 64;
/// A user may not add a tag beyond this number; mirrored versions may bring more.
const MAX_TAGS: usize = 100;
/// Old names that are followed one after the other, for a skill that was renamed so often.
const MAX_HOPS: usize = 8;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RenameBody {
    #[serde(default)]
    version: String,
    #[serde(default)]
    new_slug: String,
    #[serde(default)]
    target_slug: String,
    owner_handle: Option<String>,
    target_owner_handle: Option<String>,
}

impl RenameBody {
    fn why(&self) -> LifecycleBody {
        LifecycleBody::of(self.owner_handle.clone())
    }
}

fn present(skill: &SkillDoc) -> bool {
    skill.deleted.is_none() && skill.mirrored.is_none()
}

pub(crate) async fn tag(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Path((slug, tag)): Path<(String, String)>,
    Query(query): Query<RegistrySkillQuery>,
    Json(wanted): Json<RenameBody>,
) -> RegistryReply {
    let shown = |c: char| (' '..='~').contains(&c);
    let fine = !tag.starts_with(['$', '_']) && tag.chars().all(shown) && tag.trim() == tag;
    if !fine || !(1..=MAX_TAG).contains(&tag.len()) {
        return Err(RegistryRefusal::bad("Valid tag required"));
    }
    registry
        .work(move |registry| {
            let skill = registry.own_skill(&caller, &slug, &query, &wanted.why(), present)?;
            registry.change(&skill.slug, &skill.owner, |skill| {
                let line = skill.version(&wanted.version);
                if line.is_none_or(|line| line.withdrawn) {
                    return Err(RegistryRefusal::not_found("Version not found"));
                }
                if !skill.tags.contains_key(&tag) && skill.tags.len() >= MAX_TAGS {
                    return Err(RegistryRefusal::bad("The skill has too many tags"));
                }
                let entry = RegistryAuditEntry {
                    version: Some(wanted.version.clone()),
                    note: Some(tag.clone()),
                    ..caller.audit_entry(skill)
                };
                match skill.tags.insert(tag.clone(), wanted.version.clone()) {
                    Some(known) if known == wanted.version => Ok(SkillDocChange::unchanged()),
                    _ => Ok(SkillDocChange::with_audit("tag", entry)),
                }
            })?;
            json_answer(&json!({
                "ok": true, "slug": skill.slug, "tag": tag, "version": wanted.version,
            }))
        })
        .await
}

pub(crate) async fn rename(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Path(slug): Path<String>,
    Query(query): Query<RegistrySkillQuery>,
    Json(wanted): Json<RenameBody>,
) -> RegistryReply {
    registry
        .work(move |registry| {
            let to = names::publish_slug(&wanted.new_slug).map_err(RegistryRefusal::bad)?;
            let skill = registry.own_skill(&caller, &slug, &query, &wanted.why(), present)?;
            if skill.slug == to {
                return Err(RegistryRefusal::bad("New slug must be different"));
            }
            if caller.require_publisher()?.role != TokenRole::Admin {
                registry.check_name(&to, &skill.owner)?;
            }
            if registry.skill(&to, &skill.owner)?.is_some() {
                return Err(RegistryRefusal::bad(format!("Slug \"{to}\" is taken")));
            }
            registry.move_to(&caller, &skill, &to)?;
            json_answer(&json!({ "ok": true, "slug": to, "previousSlug": skill.slug }))
        })
        .await
}

pub(crate) async fn merge(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Path(slug): Path<String>,
    Query(query): Query<RegistrySkillQuery>,
    Json(wanted): Json<RenameBody>,
) -> RegistryReply {
    registry
        .work(move |registry| {
            let source = registry.own_skill(&caller, &slug, &query, &wanted.why(), present)?;
            let target = LifecycleBody::of(wanted.target_owner_handle.clone());
            let none = RegistrySkillQuery::default();
            let target =
                registry.own_skill(&caller, &wanted.target_slug, &none, &target, present)?;
            if source.key() == target.key() {
                return Err(RegistryRefusal::bad("Target slug must be different"));
            }
            let (key, now) = (source.key(), registry.now());
            let alias = AliasDoc { slug: target.slug.clone(), owner: target.owner.clone() };
            let into = format!("merged into @{}/{}", target.owner, target.slug);
            registry.change(&source.slug, &source.owner, |skill| {
                skill.deleted = Some(deletion_mark(now, &caller, Some(into.clone()))?);
                let entry =
                    RegistryAuditEntry { note: Some(into.clone()), ..caller.audit_entry(skill) };
                let op = StoreOp::put(ALIASES, &key, ExpectedVersion::Any, JsonText::of(&alias)?);
                Ok(SkillDocChange::with_audit("merge", entry).with(op))
            })?;
            let (source, target) = (source.slug, target.slug);
            json_answer(&json!({ "ok": true, "sourceSlug": source, "targetSlug": target }))
        })
        .await
}

impl TeamRegistry {
    /// Where the skill with this name moved to, if it moved.
    pub(super) fn alias_target(
        &self,
        slug: &str,
        owner: Option<&str>,
        fits: &impl Fn(&SkillDoc) -> bool,
    ) -> Result<Option<LoadedDoc<SkillDoc>>, StoreError> {
        let mut alias: AliasDoc = match owner {
            Some(owner) => match self.store.get(ALIASES, &skill_key(slug, owner))? {
                Some(document) => document.body.read()?,
                None => return Ok(None),
            },
            None => {
                // Where several owners gave a name up, the caller has to say whose is meant.
                let page =
                    self.store.list(ALIASES, KeyRange::with_prefix(&format!("{slug}/")), 2)?;
                match page.as_slice() {
                    [one] => one.body.read()?,
                    _ => return Ok(None),
                }
            }
        };
        for _ in 0..MAX_HOPS {
            let found = self.skill(&alias.slug, &alias.owner)?;
            if let Some(found) = found.filter(|found| fits(&found.value)) {
                return Ok(Some(found));
            }
            match self.store.get(ALIASES, &skill_key(&alias.slug, &alias.owner))? {
                Some(document) => alias = document.body.read()?,
                None => break,
            }
        }
        Ok(None)
    }

    /// Refuses to publish under a name that redirects: it would be unclear which skill is meant.
    pub(super) fn check_not_moved(&self, slug: &str, owner: &str) -> Result<(), RegistryRefusal> {
        match self.alias_target(slug, Some(owner), &|_: &SkillDoc| true)? {
            None => Ok(()),
            Some(LoadedDoc { value, .. }) => {
                let text =
                    format!("Slug \"{slug}\" now redirects to @{}/{}", value.owner, value.slug);
                Err(RegistryRefusal::bad(text))
            }
        }
    }

    /// Gives a skill another slug: every document of it in one transaction.
    fn move_to(
        &self,
        caller: &RegistryCaller,
        skill: &SkillDoc,
        to: &str,
    ) -> Result<(), RegistryRefusal> {
        self.write_counts();
        let changed = || {
            RegistryRefusal::text(
                axum::http::StatusCode::CONFLICT,
                "The skill changed meanwhile; rename it again",
            )
        };
        let found = self.skill(&skill.slug, &skill.owner)?.ok_or_else(changed)?;
        let (old, new) = (skill.key(), skill_key(to, &skill.owner));
        let moved = SkillDoc { slug: to.to_owned(), ..found.value };
        let mut ops = vec![
            StoreOp::delete(SKILLS, &old, ExpectedVersion::Version(found.version)),
            StoreOp::put(SKILLS, &new, ExpectedVersion::Absent, JsonText::of(&moved)?),
        ];
        let mut carry = |collection: &str, from: &str, to: &str| -> Result<(), StoreError> {
            if let Some(document) = self.store.get(collection, from)? {
                ops.push(StoreOp::delete(
                    collection,
                    from,
                    ExpectedVersion::Version(document.version),
                ));
                ops.push(StoreOp::put(collection, to, ExpectedVersion::Absent, document.body));
            }
            Ok(())
        };
        for line in &moved.versions {
            let from = version_key(&skill.slug, &skill.owner, &line.version);
            carry(VERSIONS, &from, &version_key(to, &skill.owner, &line.version))?;
        }
        carry(STATS, &old, &new)?;
        let mut after = String::new();
        loop {
            let prefix = format!("{old}/");
            let page =
                self.store.list(STARS, KeyRange::with_prefix(&prefix).after(&after), 1_000)?;
            let Some(last) = page.last() else { break };
            after.clone_from(&last.key);
            for star in &page {
                carry(STARS, &star.key, &format!("{new}/{}", &star.key[prefix.len()..]))?;
            }
        }
        let alias = AliasDoc { slug: to.to_owned(), owner: skill.owner.clone() };
        ops.push(StoreOp::put(ALIASES, &old, ExpectedVersion::Any, JsonText::of(&alias)?));
        // The skill may have had this name before.
        ops.push(StoreOp::delete(ALIASES, &new, ExpectedVersion::Any));
        // One record for each name: other servers look both up.
        for (key, note) in [(&old, format!("to {new}")), (&new, format!("from {old}"))] {
            let entry = RegistryAuditEntry {
                skill: Some(key.clone()),
                note: Some(note),
                ..caller.audit_entry(&moved)
            };
            ops.push(audit::append_op("rename", &entry, self.now())?);
        }
        match self.transact(&ops, Some(&new)) {
            Err(StoreError::Conflict { .. }) => Err(changed()),
            other => {
                other?;
                Ok(self.refresh(&old)?)
            }
        }
    }
}
