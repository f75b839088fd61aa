//! A request about one skill: who asks, for which skill, and for which of its versions.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::TeamRegistry;
use super::caller::RegistryCaller;
use super::details::RegistrySkillQuery;
use super::lookup::VersionOrTag;
use super::model::{SkillDoc, VersionDoc};
use super::refusal::{RefusalFormat, RegistryRefusal, RegistryReply};

/// A request about one skill.
#[derive(Debug)]
pub(crate) struct RegistrySkillRequest {
    registry: Arc<TeamRegistry>,
    pub(crate) caller: RegistryCaller,
    pub(crate) query: RegistrySkillQuery,
    pub(crate) headers: HeaderMap,
    slug: Option<String>,
    which: VersionOrTag,
}

impl FromRequestParts<Arc<TeamRegistry>> for RegistrySkillRequest {
    type Rejection = RegistryRefusal;

    async fn from_request_parts(
        parts: &mut Parts,
        registry: &Arc<TeamRegistry>,
    ) -> Result<Self, RegistryRefusal> {
        let caller = RegistryCaller::from_request_parts(parts, registry).await?;
        let named = Path::<HashMap<String, String>>::from_request_parts(parts, registry).await;
        let Path(mut named) = named.map_err(|error| RegistryRefusal::bad(error.body_text()))?;
        let query = Query::<RegistrySkillQuery>::from_request_parts(parts, registry).await;
        let Query(query) = query.map_err(|error| RegistryRefusal::bad(error.body_text()))?;
        // The path takes precedence over the query.
        let which = match named.remove("version") {
            Some(version) => VersionOrTag { version: Some(version), tag: None },
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

impl RegistrySkillRequest {
    /// The version that is meant.
    pub(crate) fn which(&self) -> &VersionOrTag {
        &self.which
    }

    /// Finds the skill on a thread that may block, and answers there.
    pub(crate) async fn skill(
        self,
        shape: RefusalFormat,
        answer: impl FnOnce(&TeamRegistry, &Self, &SkillDoc) -> RegistryReply + Send + 'static,
    ) -> RegistryReply {
        let registry = Arc::clone(&self.registry);
        registry
            .work(move |registry| {
                let slug =
                    self.slug.as_deref().ok_or_else(|| RegistryRefusal::bad("Missing slug"))?;
                let found = registry.find(&self.caller, slug, self.query.owner(), shape)?;
                answer(registry, &self, &found.value)
            })
            .await
    }

    /// The same with the version that is meant.
    pub(crate) async fn version(
        self,
        answer: impl FnOnce(&TeamRegistry, &Self, &SkillDoc, &VersionDoc) -> RegistryReply
        + Send
        + 'static,
    ) -> RegistryReply {
        self.skill(RefusalFormat::Text, |registry, asked, skill| {
            let version = registry.version_of(skill, asked.which())?;
            answer(registry, asked, skill, &version)
        })
        .await
    }
}
