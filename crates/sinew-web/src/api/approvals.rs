//! What waits for a person, and a person's answer.

use axum::extract::State;
use serde::Deserialize;
use sinew_engine::approval::{
    Approval, ApprovalDecision, ConsentAnswer, ConsentChannel, ConsentScope,
};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlPath, UrlQuery};
use super::openapi::ProblemResponses;
use super::page::{CursorPage, PageRequest, newest_first};
use crate::access::WebCaller;
use crate::app::WebApp;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApprovalListQuery {
    /// Those that wait, or all of the last months
    #[serde(default)]
    #[param(inline)]
    state: ApprovalStateFilter,
    /// Entries of a page
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page begins: `next_cursor` of the page before
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ApprovalStateFilter {
    #[default]
    Pending,
    All,
}

/// What waits for a person, newest first
#[utoipa::path(
    get, path = "/approvals", tag = "approvals", operation_id = "approvals", params(ApprovalListQuery),
    responses((status = 200, body = CursorPage<Approval>), ProblemResponses)
)]
pub(crate) async fn list(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlQuery(query): UrlQuery<ApprovalListQuery>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let found = look.engine.approvals().list(query.state == ApprovalStateFilter::Pending)?;
        let keyed = found
            .into_iter()
            .map(|approval| (newest_first(approval.asked_at.ms(), &approval.id), approval));
        let wanted = PageRequest { limit: query.limit, cursor: query.cursor.clone() };
        JsonReply::of(&CursorPage::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}

/// One approval
#[utoipa::path(
    get, path = "/approvals/{id}", tag = "approvals", operation_id = "approval",
    params(("id" = String, Path, description = "The approval")),
    responses((status = 200, body = Approval), ProblemResponses)
)]
pub(crate) async fn show(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlPath(id): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| JsonReply::of(&look.engine.approvals().get(&id)?)).await
}

/// A person's answer
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalDecisionBody {
    /// Yes or no
    decision: ApprovalDecisionName,
    /// Whether a yes covers only the first candidate
    #[serde(default)]
    only_this: bool,
    /// Whether a yes to installing or to a plan holds for exactly this content from now on
    #[serde(default)]
    remember: bool,
    /// What there is to say about it
    #[schema(max_length = 300)]
    comment: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ApprovalDecisionName {
    Approve,
    Reject,
}

/// Answer as the person at this browser; a program is refused
#[utoipa::path(
    post, path = "/approvals/{id}/decision", tag = "approvals", operation_id = "decide_approval",
    params(("id" = String, Path, description = "The approval")),
    request_body = ApprovalDecisionBody,
    responses((status = 200, body = Approval), ProblemResponses)
)]
pub(crate) async fn decide(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(id): UrlPath<String>,
    JsonBody(given): JsonBody<ApprovalDecisionBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let decision = ApprovalDecision {
            said: match given.decision {
                ApprovalDecisionName::Approve if given.only_this => {
                    ConsentAnswer::Yes(ConsentScope::OnlyThis)
                }
                ApprovalDecisionName::Approve => ConsentAnswer::Yes(ConsentScope::Listed),
                ApprovalDecisionName::Reject => ConsentAnswer::No,
            },
            by: caller.actor(),
            channel: ConsentChannel::Dashboard,
            can_elicit: false,
            via: None,
            quote: None,
            comment: given.comment,
            remember: given.remember,
        };
        JsonReply::of(&look.engine.approvals().decide(&id, &decision)?)
    })
    .await
}
