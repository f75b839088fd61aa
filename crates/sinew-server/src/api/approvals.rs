//! What waits for a person, and a person's answer.

use axum::extract::State;
use serde::Deserialize;
use sinew_engine::approval::{Channel, Decision, Said, Scope};
use utoipa::{IntoParams, ToSchema};

use super::extract::{Answer, Ask, At, Body};
use super::openapi::Refusals;
use super::page::{Page, Wanted, newest_first};
use super::{Problem, records};
use crate::access::Caller;
use crate::app::App;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Those that wait, or all of the last months
    #[serde(default)]
    #[param(inline)]
    state: StateFilter,
    /// Entries of a page
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page begins: `next_cursor` of the page before
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum StateFilter {
    #[default]
    Pending,
    All,
}

/// What waits for a person, newest first
#[utoipa::path(
    get, path = "/approvals", tag = "approvals", operation_id = "approvals", params(ListQuery),
    responses((status = 200, body = Page<records::Approval>), Refusals)
)]
pub(crate) async fn list(
    State(app): State<App>,
    _caller: Caller,
    Ask(query): Ask<ListQuery>,
) -> Result<Answer, Problem> {
    app.ask(move |look| {
        let found = look.engine.approvals(query.state == StateFilter::Pending)?;
        let keyed = found
            .into_iter()
            .map(|approval| (newest_first(approval.asked_at.ms(), &approval.id), approval));
        let wanted = Wanted { limit: query.limit, cursor: query.cursor.clone() };
        Answer::of(&Page::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}

/// One approval
#[utoipa::path(
    get, path = "/approvals/{id}", tag = "approvals", operation_id = "approval",
    params(("id" = String, Path, description = "The approval")),
    responses((status = 200, body = records::Approval), Refusals)
)]
pub(crate) async fn show(
    State(app): State<App>,
    _caller: Caller,
    At(id): At<String>,
) -> Result<Answer, Problem> {
    app.ask(move |look| Answer::of(&look.engine.approval(&id)?)).await
}

/// A person's answer
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Given {
    /// Yes or no
    decision: YesNo,
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
enum YesNo {
    Approve,
    Reject,
}

/// Answer as the person at this browser; a program is refused
#[utoipa::path(
    post, path = "/approvals/{id}/decision", tag = "approvals", operation_id = "decide_approval",
    params(("id" = String, Path, description = "The approval")),
    request_body = Given,
    responses((status = 200, body = records::Approval), Refusals)
)]
pub(crate) async fn decide(
    State(app): State<App>,
    caller: Caller,
    At(id): At<String>,
    Body(given): Body<Given>,
) -> Result<Answer, Problem> {
    app.change(move |look| {
        let decision = Decision {
            said: match given.decision {
                YesNo::Approve if given.only_this => Said::Yes(Scope::OnlyThis),
                YesNo::Approve => Said::Yes(Scope::Listed),
                YesNo::Reject => Said::No,
            },
            by: caller.actor(),
            channel: Channel::Dashboard,
            can_elicit: false,
            quote: None,
            comment: given.comment,
            remember: given.remember,
        };
        Answer::of(&look.engine.decide_approval(&id, &decision)?)
    })
    .await
}
