//! The workshop: changes to skills that wait for review.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sinew_workshop::{
    ApplyConsent, GateReport, ProposalPreview, ProposalRequest, ProposalRevision, UndoForce,
    UndoReport, UndoTarget, WorkshopCaller as ToolCaller,
};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlPath, UrlQuery};
use super::openapi::ProblemResponses;
use super::page::{CursorPage, PageRequest, newest_first};
use super::proposal_reply::{ProposalReply, ProposalUpdateReply, decided};
use crate::access::WebCaller;
use crate::app::WebApp;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProposalListQuery {
    /// Where they stand
    #[serde(default)]
    #[param(inline)]
    status: ProposalStatusFilter,
    /// One skill's
    skill: Option<String>,
    /// Entries of a page
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page begins: `next_cursor` of the page before
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ProposalStatusFilter {
    #[default]
    All,
    Pending,
    Quarantined,
    Applied,
    Rejected,
    Stale,
}

impl ProposalStatusFilter {
    fn takes(self, status: &str) -> bool {
        match self {
            Self::All => true,
            Self::Pending => status == "pending",
            Self::Quarantined => status == "quarantined",
            Self::Applied => status == "applied",
            Self::Rejected => status == "rejected",
            Self::Stale => status == "stale",
        }
    }
}

/// Proposals, newest first
#[utoipa::path(
    get, path = "/proposals", tag = "workshop", operation_id = "proposals", params(ProposalListQuery),
    responses((status = 200, body = CursorPage<ProposalReply>), ProblemResponses)
)]
pub(crate) async fn list(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlQuery(query): UrlQuery<ProposalListQuery>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let mut found = look.engine.workshop().proposals()?;
        found.retain(|proposal| {
            query.status.takes(proposal.status.as_str())
                && query.skill.as_ref().is_none_or(|skill| proposal.skill_name == *skill)
        });
        let keyed = found.into_iter().map(|proposal| {
            let at = i64::try_from(proposal.created_at).unwrap_or(i64::MAX);
            (newest_first(at, &proposal.id), ProposalReply::of(proposal, &caller))
        });
        let wanted = PageRequest { limit: query.limit, cursor: query.cursor.clone() };
        JsonReply::of(&CursorPage::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}

/// One proposal
#[utoipa::path(
    get, path = "/proposals/{id}", tag = "workshop", operation_id = "inspect",
    params(("id" = String, Path, description = "The proposal")),
    responses((status = 200, body = ProposalReply), ProblemResponses)
)]
pub(crate) async fn show(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(id): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let found = look.engine.workshop().with(|shop| shop.inspect(&id))?;
        JsonReply::of(&ProposalReply::of(found, &caller))
    })
    .await
}

/// What a proposal would change now
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProposalDiffReply {
    path: String,
    /// A unified diff
    diff: String,
    result_sha256: String,
    /// Why it cannot be written as it stands
    problem: Option<String>,
    gates: GateReport,
}

/// What a proposal would change now, as a unified diff
#[utoipa::path(
    get, path = "/proposals/{id}/diff", tag = "workshop", operation_id = "preview",
    params(("id" = String, Path, description = "The proposal")),
    responses((status = 200, body = ProposalDiffReply), ProblemResponses)
)]
pub(crate) async fn diff(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlPath(id): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let preview: ProposalPreview = look.engine.workshop().with(|shop| shop.preview(&id))?;
        JsonReply::of(&ProposalDiffReply {
            diff: preview.diff(),
            path: preview.path,
            result_sha256: preview.result_sha256,
            problem: preview.problem,
            gates: preview.gates,
        })
    })
    .await
}

/// A change to a skill
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ProposalBody {
    /// The skill
    #[schema(min_length = 1, max_length = 200)]
    skill_name: String,
    /// A line for lists
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Why it is proposed
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What the skill is for, in the words a user would use
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The text: imperative bullets
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The heading to add under
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<String>,
    /// Exact text to replace
    #[serde(skip_serializing_if = "Option::is_none")]
    old_text: Option<String>,
    /// What to put in its place
    #[serde(skip_serializing_if = "Option::is_none")]
    new_text: Option<String>,
    /// `false` queues it, whatever the policy says
    #[serde(skip_serializing_if = "Option::is_none")]
    apply: Option<bool>,
}

/// Propose a change to a skill
#[utoipa::path(
    post, path = "/proposals", tag = "workshop", operation_id = "suggest",
    request_body = ProposalBody,
    responses((status = 201, body = ProposalUpdateReply), ProblemResponses)
)]
pub(crate) async fn suggest(
    State(app): State<WebApp>,
    caller: WebCaller,
    JsonBody(suggestion): JsonBody<ProposalBody>,
) -> Result<(StatusCode, JsonReply), Problem> {
    app.change(move |look| {
        let who = ToolCaller { by: caller.actor(), agent_id: None, session_id: None };
        let (draft, origin) = ProposalRequest::from_parameters(&json!(suggestion), &who)?;
        let done = look.engine.workshop().with(|shop| shop.suggest(&draft, &origin))?;
        Ok((StatusCode::CREATED, decided(done, &caller)?))
    })
    .await
}

/// What the caller who applies a proposal has seen
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct ProposalApplyBody {
    /// SHA-256 of the result that was shown; anything else is not written
    result_sha256: Option<String>,
    /// The messages that other skills would lose were shown, and that is fine
    accept_stolen: bool,
    /// The nearest skill is another one, now and later
    not_a_duplicate: bool,
}

/// Write a proposal; a person's call is the approval
#[utoipa::path(
    post, path = "/proposals/{id}/apply", tag = "workshop", operation_id = "apply",
    params(("id" = String, Path, description = "The proposal")),
    request_body = ProposalApplyBody,
    responses((status = 200, body = ProposalUpdateReply), ProblemResponses)
)]
pub(crate) async fn apply(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(id): UrlPath<String>,
    JsonBody(seen): JsonBody<ProposalApplyBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let consent = ApplyConsent {
            result_sha256: seen.result_sha256,
            accept_stolen: seen.accept_stolen,
            not_a_duplicate: seen.not_a_duplicate,
        };
        let done =
            look.engine.workshop().with(|shop| shop.apply(&id, &caller.actor(), &consent))?;
        decided(done, &caller)
    })
    .await
}

/// Why a proposal is turned down
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProposalRejectBody {
    /// Why
    #[schema(max_length = 300)]
    reason: Option<String>,
}

/// Turn a proposal down
#[utoipa::path(
    post, path = "/proposals/{id}/reject", tag = "workshop", operation_id = "reject",
    params(("id" = String, Path, description = "The proposal")),
    request_body = ProposalRejectBody,
    responses((status = 200, body = ProposalUpdateReply), ProblemResponses)
)]
pub(crate) async fn reject(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(id): UrlPath<String>,
    JsonBody(why): JsonBody<ProposalRejectBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let why = why.reason.as_deref();
        let done = look.engine.workshop().with(|shop| shop.reject(&id, why, &caller.actor()))?;
        decided(done, &caller)
    })
    .await
}

/// New content for a proposal; what is absent stays
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct ProposalReviseBody {
    /// Another skill
    skill_name: Option<String>,
    /// Another title
    title: Option<String>,
    /// Another description
    description: Option<String>,
    /// Another body
    body: Option<String>,
    /// A section; a new skill becomes an addition to it
    section: Option<String>,
    /// Another text to replace
    old_text: Option<String>,
    /// What to replace it with
    new_text: Option<String>,
    /// Cut every flagged line to a placeholder
    redact: bool,
}

/// Give a proposal new content, which is scanned again
#[utoipa::path(
    post, path = "/proposals/{id}/revise", tag = "workshop", operation_id = "revise",
    params(("id" = String, Path, description = "The proposal")),
    request_body = ProposalReviseBody,
    responses((status = 200, body = ProposalUpdateReply), ProblemResponses)
)]
pub(crate) async fn revise(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(id): UrlPath<String>,
    JsonBody(new): JsonBody<ProposalReviseBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let revision = ProposalRevision {
            skill_name: new.skill_name,
            title: new.title,
            description: new.description,
            body: new.body,
            section: new.section,
            old_text: new.old_text,
            new_text: new.new_text,
            redact: new.redact,
        };
        let done =
            look.engine.workshop().with(|shop| shop.revise(&id, &revision, &caller.actor()))?;
        decided(done, &caller)
    })
    .await
}

/// Findings that a person has seen and accepts
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposalRestoreBody {
    /// The rules
    #[schema(max_items = 100)]
    rules: Vec<String>,
    /// Why they are fine
    #[schema(min_length = 1, max_length = 300)]
    reason: String,
}

/// Take a proposal out of quarantine; a person alone can
#[utoipa::path(
    post, path = "/proposals/{id}/restore", tag = "workshop", operation_id = "restore",
    params(("id" = String, Path, description = "The proposal")),
    request_body = ProposalRestoreBody,
    responses((status = 200, body = ProposalUpdateReply), ProblemResponses)
)]
pub(crate) async fn restore(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(id): UrlPath<String>,
    JsonBody(given): JsonBody<ProposalRestoreBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let done = look
            .engine
            .workshop()
            .with(|shop| shop.restore(&id, &given.rules, &given.reason, &caller.actor()))?;
        decided(done, &caller)
    })
    .await
}

/// How a write is taken back
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProposalUndoBody {
    /// Also where the file was changed by hand; what it holds is kept as a version first
    force: bool,
}

/// Take back what a proposal wrote
#[utoipa::path(
    post, path = "/proposals/{id}/undo", tag = "workshop", operation_id = "undo",
    params(("id" = String, Path, description = "The proposal")),
    request_body = ProposalUndoBody,
    responses((status = 200, body = UndoReport), ProblemResponses)
)]
pub(crate) async fn undo(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(id): UrlPath<String>,
    JsonBody(wish): JsonBody<ProposalUndoBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let force = if wish.force { UndoForce::Yes } else { UndoForce::No };
        let by = caller.actor();
        let done = look
            .engine
            .workshop()
            .with(|shop| shop.undo(&UndoTarget::Id(id.clone()), force, &by))?;
        JsonReply::of(&done)
    })
    .await
}
