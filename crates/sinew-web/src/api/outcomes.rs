//! How the use of skills went.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use sinew_cortex::acquire::UseReport;
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::{OutcomeReporter, UseResult};
use sinew_engine::NewOutcome;
use sinew_engine::acquire::UnattendedHost;
use sinew_engine::hub::HubOverrides;
use sinew_settings::ErrorCode;
use utoipa::{IntoParams, ToSchema};

use super::extract::{JsonBody, JsonReply, UrlQuery};
use super::openapi::ProblemResponses;
use super::page::{CursorPage, PageRequest, newest_first};
use super::{Problem, records};
use crate::access::WebCaller;
use crate::app::WebApp;

/// Outcomes that pages can reach; more is an export.
const REACHED: usize = 5_000;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OutcomeListQuery {
    /// One skill's
    skill: Option<String>,
    /// One region's
    region: Option<String>,
    /// Entries of a page
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page begins: `next_cursor` of the page before
    cursor: Option<String>,
}

/// How skills did, newest first
#[utoipa::path(
    get, path = "/outcomes", tag = "cortex", operation_id = "outcomes", params(OutcomeListQuery),
    responses((status = 200, body = CursorPage<records::OutcomeRecord>), ProblemResponses)
)]
pub(crate) async fn list(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlQuery(query): UrlQuery<OutcomeListQuery>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let mut found = look.engine.cortex()?.outcomes(REACHED)?;
        found.retain(|record| match &record.body {
            sinew_cortex::record::RecordBody::Outcome(outcome) => {
                query.skill.as_ref().is_none_or(|skill| outcome.slug == *skill)
                    && query.region.as_ref().is_none_or(|region| outcome.region == *region)
            }
            _ => false,
        });
        let keyed = found
            .into_iter()
            .map(|record| (newest_first(record.ts.ms(), &record.id.to_string()), record));
        let wanted = PageRequest { limit: query.limit, cursor: query.cursor.clone() };
        JsonReply::of(&CursorPage::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}

/// How the use of a skill went
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeBody {
    /// The run that used it, instead of `skill`, `version` and `region`
    #[schema(max_length = 40)]
    run: Option<String>,
    /// The skill
    #[schema(min_length = 1, max_length = 128)]
    skill: Option<String>,
    /// Its version
    #[schema(max_length = 128)]
    version: Option<String>,
    /// The area of the task
    #[schema(max_length = 128)]
    region: Option<String>,
    /// How it went
    outcome: OutcomeResultName,
    /// How it failed; needed with a failure
    failure: Option<OutcomeFailureName>,
    /// What was seen
    #[schema(max_length = 500)]
    detail: Option<String>,
    /// The missing program or variable, by name
    #[schema(max_length = 100)]
    missing: Option<String>,
    /// What it did besides thinking: `read`, `write:files`, `shell:git` …
    #[schema(max_items = 20)]
    side_effects: Option<Vec<String>>,
    /// What the task was; it names the region where none is given, and is not stored
    #[schema(max_length = 300)]
    task: Option<String>,
    /// The session it happened in
    #[expect(dead_code, reason = "taken as `report_outcome` takes it, and not kept")]
    session: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum OutcomeResultName {
    Success,
    Failure,
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum OutcomeFailureName {
    DependencyMissing,
    ApiError,
    AuthError,
    TaskMismatch,
    RuntimeError,
}

impl From<OutcomeFailureName> for FailureKind {
    fn from(failure: OutcomeFailureName) -> Self {
        match failure {
            OutcomeFailureName::DependencyMissing => Self::DependencyMissing,
            OutcomeFailureName::ApiError => Self::ApiError,
            OutcomeFailureName::AuthError => Self::AuthError,
            OutcomeFailureName::TaskMismatch => Self::TaskMismatch,
            OutcomeFailureName::RuntimeError => Self::RuntimeError,
        }
    }
}

/// Tell the cortex how the use of a skill went
#[utoipa::path(
    post, path = "/outcomes", tag = "cortex", operation_id = "record", request_body = OutcomeBody,
    responses((status = 201, body = records::OutcomeReply), ProblemResponses)
)]
pub(crate) async fn report(
    State(app): State<WebApp>,
    caller: WebCaller,
    JsonBody(report): JsonBody<OutcomeBody>,
) -> Result<(StatusCode, JsonReply), Problem> {
    let worked = report.outcome == OutcomeResultName::Success;
    if !worked && report.failure.is_none() {
        return Err(Problem::new(
            ErrorCode::BadOutcome,
            "a failure says how: `failure` is missing",
        ));
    }
    if worked && report.failure.is_some() {
        return Err(Problem::new(ErrorCode::BadOutcome, "what worked has no `failure`"));
    }
    if report.run.is_none() && report.skill.is_none() {
        return Err(Problem::new(ErrorCode::BadOutcome, "name a `run`, or a `skill`"));
    }
    app.change(move |look| {
        let cortex = look.engine.cortex()?;
        let kind = report.failure.map(FailureKind::from);
        let origin =
            if caller.is_person() { OutcomeReporter::User } else { OutcomeReporter::Agent };
        if let Some(run) = &report.run {
            let result = if worked { UseResult::Success } else { UseResult::Failure };
            let (detail, key) = (report.detail.clone(), report.missing.clone());
            let side_effects = report.side_effects.clone().unwrap_or_default();
            let finish = UseReport {
                result,
                kind,
                detail,
                key,
                origin,
                side_effects,
                ..UseReport::success()
            };
            // The run goes on from here: to a question, to the next one, or to putting the skill back.
            let market = look.engine.hub().market(&HubOverrides::default())?;
            let flow = look.engine.hub().acquisition(&market);
            let run = flow.report(run, finish, &mut UnattendedHost)?.run;
            let told = json!({"run": run.id, "state": run.state.name()});
            return Ok((StatusCode::CREATED, JsonReply::of(&told)?));
        }
        let recorded = cortex.record(&NewOutcome {
            region: report.region,
            task: report.task,
            slug: report.skill.unwrap_or_default(),
            version: report.version.unwrap_or_else(|| "local".to_owned()),
            worked: Some(worked),
            kind,
            detail: report.detail,
            key: report.missing,
            side_effects: report.side_effects,
            origin,
            ..NewOutcome::default()
        })?;
        Ok((StatusCode::CREATED, JsonReply::of(&recorded)?))
    })
    .await
}
