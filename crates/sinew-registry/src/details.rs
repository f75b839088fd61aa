//! Reading: who am I, details, versions, and which version a folder is.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::caller::RegistryCaller;
use super::lookup::VersionOrTag;
use super::model::{SkillDoc, VersionDoc, VersionSummary};
use super::refusal::{RefusalFormat, RegistryRefusal, RegistryReply, json_answer};
use super::skill_request::RegistrySkillRequest;
use super::token::TokenRole;
use super::verdict;

/// The query that most routes of one skill take.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegistrySkillQuery {
    owner_handle: Option<String>,
    owner: Option<String>,
    version: Option<String>,
    tag: Option<String>,
    pub(crate) slug: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) preview: Option<String>,
    hash: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

impl RegistrySkillQuery {
    pub(crate) fn owner(&self) -> Option<&str> {
        let named = |owner: &Option<String>| owner.as_deref().is_some_and(|text| !text.is_empty());
        [&self.owner_handle, &self.owner].into_iter().find(|owner| named(owner))?.as_deref()
    }

    pub(crate) fn which(&self) -> VersionOrTag {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        VersionOrTag { version: given(&self.version), tag: given(&self.tag) }
    }
}

pub(crate) async fn whoami(caller: RegistryCaller) -> RegistryReply {
    let holder = caller.require_token()?;
    let role = if holder.role == TokenRole::Admin { "admin" } else { "user" };
    json_answer(&json!({
        "user": {
            "handle": holder.handle,
            "displayName": holder.handle,
            "image": null,
            "role": role,
        },
    }))
}

pub(crate) async fn detail(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .skill(RefusalFormat::Json, |registry, _, skill| {
            let mut shown = list_item(skill, registry.stats_of(&skill.key())?.into());
            if let Some(fields) = shown.as_object_mut() {
                fields.insert("icon".to_owned(), Value::Null);
                fields.remove("latestVersion");
                fields.remove("metadata");
            }
            json_answer(&json!({
                "skill": shown,
                "latestVersion": skill.latest().map(latest_version),
                "metadata": metadata(skill),
                "owner": owner(skill),
                "moderation": verdict::moderation_of(skill),
            }))
        })
        .await
}

pub(crate) async fn versions(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .skill(RefusalFormat::Text, |_, asked, skill| {
            let limit = asked.query.limit.unwrap_or(25).clamp(1, 200);
            let from: usize = match asked.query.cursor.as_deref() {
                None | Some("") => 0,
                Some(cursor) => {
                    cursor.parse().map_err(|_| RegistryRefusal::bad("Invalid cursor"))?
                }
            };
            let open = skill.versions.iter().rev().filter(|line| !line.withdrawn);
            let mut rest = open.skip(from);
            let items: Vec<Value> = rest
                .by_ref()
                .take(limit)
                .map(|line| {
                    json!({
                        "version": line.version,
                        "createdAt": line.created_at,
                        "changelog": line.changelog,
                        "changelogSource": "user",
                    })
                })
                .collect();
            let next = rest.next().map(|_| (from + items.len()).to_string());
            json_answer(&json!({ "items": items, "nextCursor": next }))
        })
        .await
}

pub(crate) async fn version(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .version(|_, _, skill, version| {
            json_answer(&json!({
                "skill": { "slug": skill.slug, "displayName": skill.display_name },
                "version": version_body(skill, version),
            }))
        })
        .await
}

/// Which version has a fingerprint: of the files as published or as installed, in either order.
pub(crate) async fn resolve(asked: RegistrySkillRequest) -> RegistryReply {
    let (Some(_), Some(hash)) = (&asked.query.slug, asked.query.hash.clone()) else {
        return Err(RegistryRefusal::bad("Missing slug or hash"));
    };
    let is_hash =
        hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hash {
        return Err(RegistryRefusal::bad("Invalid hash"));
    }
    asked
        .skill(RefusalFormat::Text, move |_, _, skill| {
            let has = |line: &&VersionSummary| !line.withdrawn && line.fingerprints.contains(&hash);
            let found = skill.versions.iter().rev().find(has);
            let version = |line: &VersionSummary| json!({ "version": line.version });
            json_answer(&json!({
                "slug": skill.slug,
                "match": found.map(version),
                "latestVersion": skill.latest().map(version),
            }))
        })
        .await
}

/// How often a skill was fetched, for answers that show it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FetchCounts {
    pub(crate) downloads: u64,
    pub(crate) installs: u64,
}

impl From<super::model::StatsDoc> for FetchCounts {
    fn from(stats: super::model::StatsDoc) -> Self {
        Self { downloads: stats.downloads, installs: stats.installs }
    }
}

/// A skill in a list.
pub(crate) fn list_item(skill: &SkillDoc, counts: FetchCounts) -> Value {
    let mut item = json!({
        "slug": skill.slug,
        "displayName": skill.display_name,
        "summary": skill.summary,
        "description": skill.summary,
        "topics": skill.topics,
        "tags": skill.tags,
        "stats": {
            "downloads": counts.downloads,
            "stars": skill.stars,
            "versions": skill.versions.len(),
            "comments": 0,
            "installsCurrent": counts.installs,
            "installsAllTime": counts.installs,
        },
        "ownerHandle": skill.owner,
        "createdAt": skill.created_at,
        "updatedAt": skill.updated_at,
        "metadata": metadata(skill),
    });
    // The client accepts an absent version, but not a null.
    if let (Some(line), Some(fields)) = (skill.latest(), item.as_object_mut()) {
        fields.insert("latestVersion".to_owned(), latest_version(line));
    }
    if let (Some(mirrored), Some(fields)) = (&skill.mirrored, item.as_object_mut()) {
        fields.insert("mirroredFrom".to_owned(), json!(mirrored.upstream));
    }
    item
}

fn latest_version(line: &VersionSummary) -> Value {
    json!({
        "version": line.version,
        "createdAt": line.created_at,
        "changelog": line.changelog,
        "license": platform_license(line.spdx.as_deref()),
        "spdx": line.spdx,
    })
}

/// The one licence that the upstream client knows; it fails on any other.
fn platform_license(spdx: Option<&str>) -> Option<&'static str> {
    const PLATFORM: &str = "MIT-0";
    spdx.filter(|spdx| *spdx == PLATFORM).map(|_| PLATFORM)
}

fn metadata(skill: &SkillDoc) -> Value {
    let os = (!skill.os.is_empty()).then_some(&skill.os);
    json!({ "setup": skill.setup, "os": os, "systems": null })
}

/// The publisher of a skill, as a person.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegistryOwnerWire<'a> {
    handle: &'a str,
    user_id: &'a str,
    display_name: &'a str,
    image: (),
}

pub(crate) fn owner(skill: &SkillDoc) -> RegistryOwnerWire<'_> {
    let handle = &*skill.owner;
    RegistryOwnerWire { handle, user_id: handle, display_name: handle, image: () }
}

fn version_body(skill: &SkillDoc, version: &VersionDoc) -> Value {
    json!({
        "version": version.version,
        "createdAt": version.created_at,
        "changelog": version.changelog,
        "changelogSource": "user",
        "license": platform_license(version.spdx.as_deref()),
        "spdx": version.spdx,
        "files": version.files,
        "treeSha256": version.tree,
        "security": verdict::security(skill, version),
    })
}
