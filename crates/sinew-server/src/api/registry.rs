//! Skills from elsewhere: searching for them, installing after a person's yes, and what is installed.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sinew_engine::hub::{
    Answer as Reply, Ask as InstallAsk, Concern, Gate, HubError, HubRecord, Matching, Place,
    Proposal, Query as Wanted, Reading, Reference, Row, Said, Sources, UpdateAsk, Updated,
};
use sinew_engine::{Actor, Engine, Error};
use utoipa::{IntoParams, ToSchema};

use super::extract::{Answer, Ask, At, Body};
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
    caller: Caller,
    At(slug): At<String>,
    Ask(query): Ask<PlaceQuery>,
) -> Result<Answer, Problem> {
    app.change(move |look| {
        let hub = look.engine.hub(&Said { registry: None, offline: true })?;
        let workdir = look.engine.workdir(query.place.into());
        let removed = look.engine.uninstall_skill(&hub, &slug, &workdir, &caller.actor())?;
        look.engine.snapshot();
        Answer::of(&HubRecord::removed(&removed))
    })
    .await
}

/// Answers with what a person said to exactly these files; without that, the question waits.
pub(crate) struct Kept<'e> {
    engine: &'e Engine,
    actor: Actor,
    /// The approval that waits, once the question was kept.
    pub(crate) waits: Option<String>,
}

impl<'e> Kept<'e> {
    pub(crate) fn new(engine: &'e Engine, actor: Actor) -> Self {
        Self { engine, actor, waits: None }
    }
}

impl Gate for Kept<'_> {
    /// What gives pause is answered in a terminal, where it has a flag of its own.
    fn concern(&mut self, _: &Concern) -> Reply {
        Reply::Nobody { id: None }
    }

    fn approve(&mut self, proposal: &Proposal) -> Reply {
        match self.engine.kept_answer(proposal, &self.actor) {
            Ok(Reply::Nobody { id }) => {
                self.waits.clone_from(&id);
                Reply::Nobody { id }
            }
            Ok(reply) => reply,
            // A question that cannot be kept is one that nobody answers.
            Err(_) => Reply::Nobody { id: None },
        }
    }
}

/// Installs a skill that a person agreed to, or keeps the question.
pub(crate) fn install_kept(
    look: &Look,
    reference: &str,
    place: Place,
    gate: &mut Kept<'_>,
) -> Result<HubRecord, Error> {
    let engine = &look.engine;
    let parsed = Reference::parse(reference, Reading::Registry).map_err(HubError::from)?;
    let hub = engine.hub(&Said::default())?;
    let ask = InstallAsk::new(parsed, &gate.actor.to_string());
    let installed =
        engine.install_skill(&hub, &ask, &engine.workdir(place), gate, &mut |_, _| {})?;
    engine.snapshot();
    Ok(HubRecord::installed(reference, &installed))
}

/// Brings an installed skill up to date once a person agreed, or keeps the question.
pub(crate) fn update_kept(
    look: &Look,
    key: &str,
    place: Place,
    dry_run: bool,
    gate: &mut Kept<'_>,
) -> Result<Updated, Error> {
    let engine = &look.engine;
    let hub = engine.hub(&Said::default())?;
    let how = UpdateAsk {
        dry_run,
        overwrite: false,
        accepted: Default::default(),
        acceptance: Vec::new(),
        wanted: Default::default(),
        by: gate.actor.to_string(),
        neighbours: Vec::new(),
    };
    let done =
        engine.update_skill(&hub, key, &how, &engine.workdir(place), gate, &mut |_, _| {})?;
    if !dry_run {
        engine.snapshot();
    }
    Ok(done)
}

/// A skill to install
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Install {
    /// What: `slug`, `@owner/slug@version`, `github:owner/repo@skill` …
    #[schema(min_length = 1, max_length = 300)]
    reference: String,
    /// Where it goes
    #[serde(default)]
    place: PlaceName,
}

/// Install a skill; without a person's yes to exactly these files the question waits
#[utoipa::path(
    post, path = "/registry/install", tag = "registry", operation_id = "install_skill",
    request_body = Install,
    responses((status = 200, body = records::HubRecord), Refusals)
)]
pub(crate) async fn install(
    State(app): State<App>,
    caller: Caller,
    Body(wanted): Body<Install>,
) -> Result<Answer, Problem> {
    app.change(move |look| {
        let mut gate = Kept::new(&look.engine, caller.actor());
        let done = install_kept(look, &wanted.reference, wanted.place.into(), &mut gate)?;
        Answer::of(&done)
    })
    .await
}

/// An installed skill to bring up to date
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Update {
    /// The folder or slug
    #[schema(min_length = 1, max_length = 200)]
    slug: String,
    /// Where it is installed
    #[serde(default)]
    place: PlaceName,
    /// Only say what would change
    #[serde(default)]
    dry_run: bool,
}

/// Bring an installed skill up to date; changed files need a new yes
#[utoipa::path(
    post, path = "/registry/update", tag = "registry", operation_id = "update_skill",
    request_body = Update,
    responses((status = 200, body = records::HubRecord), Refusals)
)]
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    Body(wanted): Body<Update>,
) -> Result<Answer, Problem> {
    app.change(move |look| {
        let mut gate = Kept::new(&look.engine, caller.actor());
        let place = wanted.place.into();
        let done = update_kept(look, &wanted.slug, place, wanted.dry_run, &mut gate)?;
        Answer::of(&HubRecord::updated(&done))
    })
    .await
}
