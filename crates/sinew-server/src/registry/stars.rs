//! Stars and installs: what people say and do about a skill.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_store::{Expect, Json as Body, Op};

use super::Registry;
use super::access::Caller;
use super::answer::{Answer, Refusal, Shape, json_answer};
use super::model::{STARS, StatsDoc};
use super::read::SkillQuery;
use super::shelf::Changed;

pub(crate) async fn star(
    State(registry): State<Arc<Registry>>,
    caller: Caller,
    Path(slug): Path<String>,
    Query(query): Query<SkillQuery>,
    Json(_): Json<Value>,
) -> Answer {
    let changed = registry.work(move |r| r.set_star(&caller, &slug, &query, true)).await?;
    json_answer(&json!({ "ok": true, "starred": true, "alreadyStarred": !changed }))
}

pub(crate) async fn unstar(
    State(registry): State<Arc<Registry>>,
    caller: Caller,
    Path(slug): Path<String>,
    Query(query): Query<SkillQuery>,
) -> Answer {
    let changed = registry.work(move |r| r.set_star(&caller, &slug, &query, false)).await?;
    json_answer(&json!({ "ok": true, "unstarred": true, "alreadyUnstarred": !changed }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Installed {
    slug: Option<String>,
    owner_handle: Option<String>,
}

/// The client says that it installed something. Only skills that there are count.
pub(crate) async fn installed(
    State(registry): State<Arc<Registry>>,
    caller: Caller,
    Json(told): Json<Installed>,
) -> Answer {
    registry
        .work(move |registry| {
            if let Some(slug) = &told.slug
                && let Ok(found) =
                    registry.find(&caller, slug, told.owner_handle.as_deref(), Shape::Text)
            {
                registry.count(&found.value.key(), StatsDoc { downloads: 0, installs: 1 });
            }
            json_answer(&json!({ "ok": true }))
        })
        .await
}

impl Registry {
    /// Gives or takes the caller's star; says whether that changed anything.
    fn set_star(
        &self,
        caller: &Caller,
        slug: &str,
        query: &SkillQuery,
        on: bool,
    ) -> Result<bool, Refusal> {
        let handle = caller.known()?.handle.clone();
        let skill = self.find(caller, slug, query.owner(), Shape::Text)?.value;
        let key = format!("{}/{handle}", skill.key());
        let mut done = false;
        self.change(&skill.slug, &skill.owner, |skill| {
            let star = self.store.get(STARS, &key)?;
            done = star.is_some() != on;
            let op = match (star, on) {
                (None, true) => {
                    skill.stars += 1;
                    Op::put(STARS, &key, Expect::Absent, Body::of(&self.now())?)
                }
                (Some(star), false) => {
                    skill.stars = skill.stars.saturating_sub(1);
                    Op::delete(STARS, &key, Expect::Version(star.version))
                }
                _ => return Ok(Changed::nothing()),
            };
            let kind = if on { "star" } else { "unstar" };
            Ok(Changed::by(kind, caller.entry(skill)).with(op))
        })?;
        Ok(done)
    }
}
