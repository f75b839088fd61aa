//! A request about one skill: who asks, for which skill, and for which of its versions.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::Registry;
use super::access::Caller;
use super::answer::{Answer, Refusal, Shape};
use super::model::{SkillDoc, VersionDoc};
use super::read::SkillQuery;
use super::shelf::Which;

/// A request about one skill.
#[derive(Debug)]
pub(crate) struct Asked {
    registry: Arc<Registry>,
    pub(crate) caller: Caller,
    pub(crate) query: SkillQuery,
    pub(crate) headers: HeaderMap,
    slug: Option<String>,
    which: Which,
}

impl FromRequestParts<Arc<Registry>> for Asked {
    type Rejection = Refusal;

    async fn from_request_parts(
        parts: &mut Parts,
        registry: &Arc<Registry>,
    ) -> Result<Self, Refusal> {
        let caller = Caller::from_request_parts(parts, registry).await?;
        let named = Path::<HashMap<String, String>>::from_request_parts(parts, registry).await;
        let Path(mut named) = named.map_err(|error| Refusal::bad(error.body_text()))?;
        let query = Query::<SkillQuery>::from_request_parts(parts, registry).await;
        let Query(query) = query.map_err(|error| Refusal::bad(error.body_text()))?;
        // What stands in the path says more than what comes with it.
        let which = match named.remove("version") {
            Some(version) => Which { version: Some(version), tag: None },
            None => query.which(),
        };
        Ok(Self {
            registry: Arc::clone(registry),
            caller,
            slug: named.remove("slug").or_else(|| query.slug.clone()),
            which,
            query,
            headers: parts.headers.clone(),
        })
    }
}

impl Asked {
    /// The version that is meant.
    pub(crate) fn which(&self) -> &Which {
        &self.which
    }

    /// Finds the skill on a thread that may wait, and answers there.
    pub(crate) async fn skill(
        self,
        shape: Shape,
        answer: impl FnOnce(&Registry, &Self, &SkillDoc) -> Answer + Send + 'static,
    ) -> Answer {
        let registry = Arc::clone(&self.registry);
        registry
            .work(move |registry| {
                let slug = self.slug.as_deref().ok_or_else(|| Refusal::bad("Missing slug"))?;
                let found = registry.find(&self.caller, slug, self.query.owner(), shape)?;
                answer(registry, &self, &found.value)
            })
            .await
    }

    /// The same with the version that is meant.
    pub(crate) async fn version(
        self,
        answer: impl FnOnce(&Registry, &Self, &SkillDoc, &VersionDoc) -> Answer + Send + 'static,
    ) -> Answer {
        self.skill(Shape::Text, |registry, asked, skill| {
            let version = registry.version_of(skill, asked.which())?;
            answer(registry, asked, skill, &version)
        })
        .await
    }
}
