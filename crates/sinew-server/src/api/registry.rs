//! Skills from elsewhere: searching for them, and what is installed.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sinew_engine::Error;
use sinew_engine::hub::{HubRecord, Matching, Place, Query as Wanted, Row, Said, Sources};
use utoipa::{IntoParams, ToSchema};

use super::extract::{Answer, Ask, At};
use super::openapi::Refusals;
use super::{Problem, records};
use crate::access::Caller;
use crate::app::{App, Look};

/// The longest search.
const MAX_WORDS: usize = 200;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// Words
    #[param(min_length = 1, max_length = 200)]
    q: String,
    /// Where: `all`, `clawhub`, `github`, `skills-sh`, or a name under `hub.registries`
    source: Option<String>,
    /// Rows of each source
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Open no connection; use what was fetched before
    #[serde(default)]
    offline: bool,
}

/// Search registries for skills; nothing is installed
#[utoipa::path(
    get, path = "/registry/search", tag = "registry", operation_id = "search_skills",
    params(SearchQuery),
    responses((status = 200, body = records::SearchReport), Refusals)
)]
pub(crate) async fn search(
    State(app): State<App>,
    _caller: Caller,
    Ask(query): Ask<SearchQuery>,
) -> Result<Answer, Problem> {
    if query.q.trim().is_empty() || query.q.chars().nth(MAX_WORDS).is_some() {
        return Err(Problem::bad("bad-search", "`q` is 1 to 200 characters"));
    }
    app.ask(move |look| {
        let hub = look.engine.hub(&Said { registry: None, offline: query.offline })?;
        let wanted = Wanted {
            words: query.q.clone(),
            sources: query.source.as_deref().map(Sources::parse).unwrap_or_default(),
            matching: Matching::Words,
            limit: query.limit.unwrap_or(10).clamp(1, 200),
        };
        Answer::of(&look.engine.search_skills(&hub, &wanted)?)
    })
    .await
}

/// What is installed, by place.
#[derive(Serialize)]
pub(crate) struct Listing {
    pub(crate) workspace: Vec<Row>,
    pub(crate) managed: Vec<Row>,
}

impl Listing {
    pub(crate) fn of(look: &Look) -> Result<Self, Error> {
        let hub = look.engine.hub(&Said { registry: None, offline: true })?;
        let rows = |place| hub.installed(&look.engine.workdir(place)).map_err(Error::from);
        Ok(Self { workspace: rows(Place::Workspace)?, managed: rows(Place::Managed)? })
    }
}

/// What is installed, and how it stands to the lock
#[utoipa::path(
    get, path = "/registry/installed", tag = "registry", operation_id = "installed",
    responses((status = 200, body = records::Installed), Refusals)
)]
pub(crate) async fn installed(State(app): State<App>, _caller: Caller) -> Result<Answer, Problem> {
    app.ask(|look| Answer::of(&Listing::of(look)?)).await
}

/// Where skills are installed
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlaceName {
    /// In the workspace
    #[default]
    Workspace,
    /// For every workspace
    Managed,
}

impl From<PlaceName> for Place {
    fn from(name: PlaceName) -> Self {
        match name {
            PlaceName::Workspace => Self::Workspace,
            PlaceName::Managed => Self::Managed,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PlaceQuery {
    /// Where it is installed
    #[serde(default)]
    #[param(inline)]
    place: PlaceName,
}

/// Remove an installed skill
#[utoipa::path(
    delete, path = "/registry/installed/{slug}", tag = "registry", operation_id = "uninstall",
    params(("slug" = String, Path, description = "The folder or slug"), PlaceQuery),
    responses((status = 200, body = records::HubRecord), Refusals)
)]
pub(crate) async fn uninstall(
    State(app): State<App>,
    _caller: Caller,
    At(slug): At<String>,
    Ask(query): Ask<PlaceQuery>,
) -> Result<Answer, Problem> {
    app.change(move |look| {
        let hub = look.engine.hub(&Said { registry: None, offline: true })?;
        let removed = hub.uninstall(&slug, &look.engine.workdir(query.place.into()))?;
        look.engine.snapshot();
        Answer::of(&HubRecord::removed(&removed))
    })
    .await
}
