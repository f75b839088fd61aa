//! Skills from elsewhere: searching for them, installing after a person's yes, and what is installed.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sinew_engine::approval::{ApprovalAnswer, ApprovalQuestion, Approver};
use sinew_engine::hub::{
    HubError, HubOverrides, HubRecord, InstallTarget, NameMatching, NeededRecord,
    RegistryQuery as Wanted, SearchReport, SearchSources, ShorthandMeaning, SkillInstallRequest,
    SkillReference, UpdateRequest, UpdateResult, WorkdirSkill,
};
use sinew_engine::{Engine, EngineError};
use sinew_settings::{Actor, ErrorCode};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlPath, UrlQuery};
use super::openapi::ProblemResponses;
use crate::access::WebCaller;
use crate::app::{PendingInstall, WebApp, WebContext};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HubSearchQuery {
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
    params(HubSearchQuery),
    responses((status = 200, body = SearchReport), ProblemResponses)
)]
pub(crate) async fn search(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlQuery(query): UrlQuery<HubSearchQuery>,
) -> Result<JsonReply, Problem> {
    if query.q.trim().is_empty() {
        return Err(Problem::new(ErrorCode::BadSearch, "`q` is blank"));
    }
    app.ask(move |look| {
        let hub =
            look.engine.hub().open(&HubOverrides { registry: None, offline: query.offline })?;
        let wanted = Wanted {
            words: query.q.clone(),
            keywords: None,
            sources: query.source.as_deref().map(SearchSources::parse).unwrap_or_default(),
            matching: NameMatching::Words,
            limit: query.limit.unwrap_or(10).clamp(1, 200),
        };
        JsonReply::of(&look.engine.hub().search(&hub, &wanted)?)
    })
    .await
}

/// What is installed, by place
#[derive(Serialize, ToSchema)]
pub(crate) struct InstalledSkills {
    /// In the workspace
    pub(crate) workspace: Vec<WorkdirSkill>,
    /// For every workspace
    pub(crate) managed: Vec<WorkdirSkill>,
}

impl InstalledSkills {
    pub(crate) fn of(look: &WebContext) -> Result<Self, EngineError> {
        let hub = look.engine.hub().open(&HubOverrides { registry: None, offline: true })?;
        let rows =
            |place| hub.installed(&look.engine.hub().workdir(place)).map_err(EngineError::from);
        Ok(Self {
            workspace: rows(InstallTarget::Workspace)?,
            managed: rows(InstallTarget::Managed)?,
        })
    }
}

/// What is installed, and how it stands to the lock
#[utoipa::path(
    get, path = "/registry/installed", tag = "registry", operation_id = "installed",
    responses((status = 200, body = InstalledSkills), ProblemResponses)
)]
pub(crate) async fn installed(
    State(app): State<WebApp>,
    _caller: WebCaller,
) -> Result<JsonReply, Problem> {
    app.ask(|look| JsonReply::of(&InstalledSkills::of(look)?)).await
}

/// Where skills are installed
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InstallTargetName {
    /// In the workspace
    #[default]
    Workspace,
    /// For every workspace
    Managed,
}

impl From<InstallTargetName> for InstallTarget {
    fn from(name: InstallTargetName) -> Self {
        match name {
            InstallTargetName::Workspace => Self::Workspace,
            InstallTargetName::Managed => Self::Managed,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UninstallQuery {
    /// Where it is installed
    #[serde(default)]
    #[param(inline)]
    place: InstallTargetName,
}

/// Remove an installed skill
#[utoipa::path(
    delete, path = "/registry/installed/{slug}", tag = "registry", operation_id = "uninstall",
    params(("slug" = String, Path, description = "The folder or slug"), UninstallQuery),
    responses((status = 200, body = HubRecord), ProblemResponses)
)]
pub(crate) async fn uninstall(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(slug): UrlPath<String>,
    UrlQuery(query): UrlQuery<UninstallQuery>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let hub = look.engine.hub().open(&HubOverrides { registry: None, offline: true })?;
        let workdir = look.engine.hub().workdir(query.place.into());
        let removed = hub.uninstall(&slug, &workdir, &caller.actor())?;
        look.engine.snapshot();
        JsonReply::of(&HubRecord::removed(&removed))
    })
    .await
}

/// Answers with what a person said to exactly these files; without that, the question waits.
pub(crate) struct DeferredApprover<'e> {
    engine: &'e Engine,
    actor: Actor,
    /// The approval that waits, once the question was kept.
    pub(crate) waits: Option<String>,
    /// Every approval that waits, with the reference of what it is about.
    waiting: Vec<(String, String)>,
}

impl<'e> DeferredApprover<'e> {
    pub(crate) fn new(engine: &'e Engine, actor: Actor) -> Self {
        Self { engine, actor, waits: None, waiting: Vec::new() }
    }
}

impl Approver for DeferredApprover<'_> {
    /// A risk is answered in a terminal, where it has a flag of its own.
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        let ApprovalQuestion::Install(review) = question else { return ApprovalAnswer::ABSENT };
        // A question that cannot be stored cannot be answered either.
        let answer = self.engine.hub().answer_from_approvals(review, &self.actor);
        let answer = answer.unwrap_or(ApprovalAnswer::ABSENT);
        if let ApprovalAnswer::Absent { waits } = &answer {
            self.waits.clone_from(waits);
            let about = waits.iter().map(|id| (id.clone(), review.source.requested.clone()));
            self.waiting.extend(about);
        }
        answer
    }
}

/// Installs a skill that a person agreed to, or keeps the question.
pub(crate) fn install_with_approval(
    look: &WebContext,
    reference: &str,
    place: InstallTarget,
    approver: &mut DeferredApprover<'_>,
) -> Result<HubRecord, EngineError> {
    let engine = &look.engine;
    let parsed =
        SkillReference::parse(reference, ShorthandMeaning::Registry).map_err(HubError::from)?;
    let hub = engine.hub().open(&HubOverrides::default())?;
    let request = SkillInstallRequest::new(parsed, &approver.actor.to_string());
    let workdir = engine.hub().workdir(place);
    let installed = hub.install(&request, &workdir, approver)?;
    let skip = Default::default();
    let needed = hub.install_needs(&installed.key, &workdir, &request, &skip, approver);
    // A page that approves one of them goes on with it.
    for (approval, reference) in approver.waiting.drain(..) {
        look.app.install_later(approval, PendingInstall::New { reference, place });
    }
    engine.snapshot();
    let needed = needed.into_iter().map(NeededRecord::from).collect();
    Ok(HubRecord { needed, ..HubRecord::installed(reference, &installed) })
}

/// Brings an installed skill up to date once a person agreed, or keeps the question.
pub(crate) fn update_with_approval(
    look: &WebContext,
    key: &str,
    place: InstallTarget,
    dry_run: bool,
    approver: &mut DeferredApprover<'_>,
) -> Result<UpdateResult, EngineError> {
    let engine = &look.engine;
    let hub = engine.hub().open(&HubOverrides::default())?;
    let how = UpdateRequest {
        dry_run,
        overwrite: false,
        accepted: Default::default(),
        acceptance: Vec::new(),
        wanted: Default::default(),
        by: approver.actor.to_string(),
        neighbours: Vec::new(),
    };
    let done = hub.update(key, &how, &engine.hub().workdir(place), approver)?;
    if !dry_run {
        engine.snapshot();
    }
    Ok(done)
}

/// A skill to install
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstallBody {
    /// What: `slug`, `@owner/slug@version`, `github:owner/repo@skill` …
    #[schema(min_length = 1, max_length = 300)]
    reference: String,
    /// Where it goes
    #[serde(default)]
    place: InstallTargetName,
}

/// Install a skill; without a person's yes to exactly these files the question waits
#[utoipa::path(
    post, path = "/registry/install", tag = "registry", operation_id = "install_skill",
    request_body = InstallBody,
    responses((status = 200, body = HubRecord), ProblemResponses)
)]
pub(crate) async fn install(
    State(app): State<WebApp>,
    caller: WebCaller,
    JsonBody(wanted): JsonBody<InstallBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let mut approver = DeferredApprover::new(&look.engine, caller.actor());
        let done =
            install_with_approval(look, &wanted.reference, wanted.place.into(), &mut approver)?;
        JsonReply::of(&done)
    })
    .await
}

/// An installed skill to bring up to date
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct UpdateBody {
    /// The folder or slug
    #[schema(min_length = 1, max_length = 200)]
    slug: String,
    /// Where it is installed
    #[serde(default)]
    place: InstallTargetName,
    /// Only say what would change
    #[serde(default)]
    dry_run: bool,
}

/// Bring an installed skill up to date; changed files need a new yes
#[utoipa::path(
    post, path = "/registry/update", tag = "registry", operation_id = "update_skill",
    request_body = UpdateBody,
    responses((status = 200, body = HubRecord), ProblemResponses)
)]
pub(crate) async fn update(
    State(app): State<WebApp>,
    caller: WebCaller,
    JsonBody(wanted): JsonBody<UpdateBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let mut approver = DeferredApprover::new(&look.engine, caller.actor());
        let place = wanted.place.into();
        let done = update_with_approval(look, &wanted.slug, place, wanted.dry_run, &mut approver)?;
        JsonReply::of(&HubRecord::updated(&done))
    })
    .await
}
