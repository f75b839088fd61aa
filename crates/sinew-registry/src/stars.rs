//! Stars and installs: what users report about a skill.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_store::{ExpectedVersion, JsonText, StoreOp};

use super::TeamRegistry;
use super::caller::RegistryCaller;
use super::details::RegistrySkillQuery;
use super::lookup::SkillDocChange;
use super::model::{STARS, StatsDoc};
use super::refusal::{RefusalFormat, RegistryRefusal, RegistryReply, json_answer};

pub(crate) async fn star(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Path(slug): Path<String>,
    Query(query): Query<RegistrySkillQuery>,
    Json(_): Json<Value>,
) -> RegistryReply {
    let changed = registry.work(move |r| r.set_star(&caller, &slug, &query, true)).await?;
    json_answer(&json!({ "ok": true, "starred": true, "alreadyStarred": !changed }))
}

pub(crate) async fn unstar(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Path(slug): Path<String>,
    Query(query): Query<RegistrySkillQuery>,
) -> RegistryReply {
    let changed = registry.work(move |r| r.set_star(&caller, &slug, &query, false)).await?;
    json_answer(&json!({ "ok": true, "unstarred": true, "alreadyUnstarred": !changed }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstallNoticeBody {
    slug: Option<String>,
    owner_handle: Option<String>,
}

/// The client reports an install. Only skills that exist are counted.
pub(crate) async fn installed(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Json(told): Json<InstallNoticeBody>,
) -> RegistryReply {
    registry
        .work(move |registry| {
            if let Some(slug) = &told.slug
                && let Ok(found) =
                    registry.find(&caller, slug, told.owner_handle.as_deref(), RefusalFormat::Text)
            {
                registry.count(&found.value.key(), StatsDoc { downloads: 0, installs: 1 });
            }
            json_answer(&json!({ "ok": true }))
        })
        .await
}

impl TeamRegistry {
    /// Gives or takes the caller's star; says whether that changed anything.
    fn set_star(
        &self,
        caller: &RegistryCaller,
        slug: &str,
        query: &RegistrySkillQuery,
        on: bool,
    ) -> Result<bool, RegistryRefusal> {
        let handle = caller.require_token()?.handle.clone();
        let skill = self.find(caller, slug, query.owner(), RefusalFormat::Text)?.value;
        let key = format!("{}/{handle}", skill.key());
        let mut done = false;
        self.change(&skill.slug, &skill.owner, |skill| {
            let star = self.store.get(STARS, &key)?;
            done = star.is_some() != on;
            let op = match (star, on) {
                (None, true) => {
                    skill.stars += 1;
                    StoreOp::put(STARS, &key, ExpectedVersion::Absent, JsonText::of(&self.now())?)
                }
                (Some(star), false) => {
                    skill.stars = skill.stars.saturating_sub(1);
                    StoreOp::delete(STARS, &key, ExpectedVersion::Version(star.version))
                }
                _ => return Ok(SkillDocChange::unchanged()),
            };
            let kind = if on { "star" } else { "unstar" };
            Ok(SkillDocChange::with_audit(kind, caller.audit_entry(skill)).with(op))
        })?;
        Ok(done)
    }
}
