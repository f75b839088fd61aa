//! Taking back: a whole skill or one version, and bringing it back as it was.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::json;
use sinew_store::{ExpectedVersion, StoreOp};

use super::TeamRegistry;
use super::caller::RegistryCaller;
use super::details::RegistrySkillQuery;
use super::lookup::SkillDocChange;
use super::model::{ALIASES, DeletionMark, RegistryAuditEntry, SkillDoc};
use super::refusal::{RefusalFormat, RegistryRefusal, RegistryReply, json_answer};

/// How long the name of a deleted skill stays reserved for its owner.
const RESERVED_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// The longest reason that is kept.
const MAX_REASON: usize = 1_000;

/// The body of these requests, which may be absent.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LifecycleBody {
    reason: Option<String>,
    owner_handle: Option<String>,
}

impl LifecycleBody {
    /// Nothing but whose skill is meant.
    pub(crate) fn of(owner_handle: Option<String>) -> Self {
        Self { reason: None, owner_handle }
    }
}

/// What a skill's document says once it is taken back.
pub(crate) fn deletion_mark(
    now: u64,
    caller: &RegistryCaller,
    reason: Option<String>,
) -> Result<DeletionMark, RegistryRefusal> {
    let by = caller.require_token()?.handle.clone();
    Ok(DeletionMark { at: now, by, reserved_until: now + RESERVED_MS, reason })
}

fn why(headers: &HeaderMap, body: &Bytes) -> Result<LifecycleBody, RegistryRefusal> {
    if body.is_empty() {
        return Ok(LifecycleBody::default());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/json") {
        let text = "Content-Type must be application/json";
        return Err(RegistryRefusal::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let mut why: LifecycleBody =
        serde_json::from_slice(body).map_err(|_| RegistryRefusal::bad("Invalid JSON body"))?;
    if let Some(reason) = &mut why.reason {
        *reason = reason.chars().take(MAX_REASON).collect();
    }
    Ok(why)
}

pub(crate) async fn delete(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    headers: HeaderMap,
    Path(slug): Path<String>,
    Query(query): Query<RegistrySkillQuery>,
    body: Bytes,
) -> RegistryReply {
    let why = why(&headers, &body)?;
    registry
        .work(move |registry| {
            let now = registry.now();
            let mine = |skill: &SkillDoc| skill.deleted.is_none();
            let skill = registry.own_skill(&caller, &slug, &query, &why, mine)?;
            let changed = registry.change(&skill.slug, &skill.owner, |skill| {
                if skill.deleted.is_some() {
                    return Ok(SkillDocChange::unchanged());
                }
                skill.deleted = Some(deletion_mark(now, &caller, why.reason.clone())?);
                let entry =
                    RegistryAuditEntry { note: why.reason.clone(), ..caller.audit_entry(skill) };
                Ok(SkillDocChange::with_audit("delete", entry))
            })?;
            let until = changed.deleted.map(|deleted| deleted.reserved_until);
            json_answer(&json!({ "ok": true, "slugReservedUntil": until }))
        })
        .await
}

pub(crate) async fn undelete(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    headers: HeaderMap,
    Path(slug): Path<String>,
    Query(query): Query<RegistrySkillQuery>,
    body: Bytes,
) -> RegistryReply {
    let why = why(&headers, &body)?;
    registry
        .work(move |registry| {
            let gone = |skill: &SkillDoc| skill.deleted.is_some();
            let skill = registry.own_skill(&caller, &slug, &query, &why, gone)?;
            registry.change(&skill.slug, &skill.owner, |skill| match skill.deleted.take() {
                Some(_) => {
                    let entry = RegistryAuditEntry {
                        note: why.reason.clone(),
                        ..caller.audit_entry(skill)
                    };
                    // A skill that was merged into another is on its own again.
                    let alone = StoreOp::delete(ALIASES, &skill.key(), ExpectedVersion::Any);
                    Ok(SkillDocChange::with_audit("undelete", entry).with(alone))
                }
                None => Ok(SkillDocChange::unchanged()),
            })?;
            json_answer(&json!({ "ok": true }))
        })
        .await
}

pub(crate) async fn withdraw(
    state: State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    headers: HeaderMap,
    path: Path<(String, String)>,
    query: Query<RegistrySkillQuery>,
    body: Bytes,
) -> RegistryReply {
    set_withdrawn(state, caller, headers, path, query, body, true).await
}

pub(crate) async fn restore(
    state: State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    headers: HeaderMap,
    path: Path<(String, String)>,
    query: Query<RegistrySkillQuery>,
    body: Bytes,
) -> RegistryReply {
    set_withdrawn(state, caller, headers, path, query, body, false).await
}

/// A withdrawn version is not served; its number stays taken, and its bytes do not change.
async fn set_withdrawn(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    headers: HeaderMap,
    Path((slug, version)): Path<(String, String)>,
    Query(query): Query<RegistrySkillQuery>,
    body: Bytes,
    withdrawn: bool,
) -> RegistryReply {
    let why = why(&headers, &body)?;
    registry
        .work(move |registry| {
            let present = |skill: &SkillDoc| skill.deleted.is_none();
            let skill = registry.own_skill(&caller, &slug, &query, &why, present)?;
            registry.change(&skill.slug, &skill.owner, |skill| {
                let mut entry = caller.audit_entry(skill);
                let line = skill.versions.iter_mut().find(|line| line.version == version);
                let line = line.ok_or_else(|| RegistryRefusal::not_found("Version not found"))?;
                if line.withdrawn == withdrawn {
                    return Ok(SkillDocChange::unchanged());
                }
                line.withdrawn = withdrawn;
                entry.version = Some(version.clone());
                let kind = if withdrawn { "withdraw-version" } else { "restore-version" };
                Ok(SkillDocChange::with_audit(kind, entry))
            })?;
            json_answer(&json!({ "ok": true }))
        })
        .await
}

impl TeamRegistry {
    /// The skill that the caller may change. Without an owner in the request, the caller's own comes
    /// before others of that name.
    pub(super) fn own_skill(
        &self,
        caller: &RegistryCaller,
        slug: &str,
        query: &RegistrySkillQuery,
        why: &LifecycleBody,
        fits: impl Fn(&SkillDoc) -> bool,
    ) -> Result<SkillDoc, RegistryRefusal> {
        let holder = caller.require_publisher()?;
        let named = why.owner_handle.as_deref().or(query.owner());
        let own = match named {
            Some(_) => Err(RegistryRefusal::skill_not_found()),
            None => self.find_any(caller, slug, Some(&holder.handle), RefusalFormat::Text, &fits),
        };
        let found = match own {
            Ok(found) => found,
            Err(_) => self.find_any(caller, slug, named, RefusalFormat::Text, &fits)?,
        };
        caller.require_owner(&found.value.owner)?;
        Ok(found.value)
    }
}
