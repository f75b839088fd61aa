//! How the use of skills went.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use sinew_cortex::acquire::Finish;
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::{Origin, Verdict};
use sinew_engine::NewOutcome;
use sinew_engine::acquire::Unattended;
use sinew_engine::hub::Said;
use utoipa::{IntoParams, ToSchema};

use super::extract::{Answer, Ask, Body};
use super::openapi::Refusals;
use super::page::{Page, Wanted, newest_first};
use super::{Problem, records};
use crate::access::Caller;
use crate::app::App;

/// Outcomes that pages can reach; more is an export.
const REACHED: usize = 5_000;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
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
    get, path = "/outcomes", tag = "cortex", operation_id = "outcomes", params(ListQuery),
    responses((status = 200, body = Page<records::Outcome>), Refusals)
)]
pub(crate) async fn list(
    State(app): State<App>,
    _caller: Caller,
    Ask(query): Ask<ListQuery>,
) -> Result<Answer, Problem> {
    app.ask(move |look| {
        let mut found = look.engine.cortex()?.outcomes(REACHED)?;
        found.retain(|record| match &record.body {
            sinew_cortex::record::Body::Outcome(outcome) => {
                query.skill.as_ref().is_none_or(|skill| outcome.slug == *skill)
                    && query.region.as_ref().is_none_or(|region| outcome.region == *region)
            }
            _ => false,
        });
        let keyed = found
            .into_iter()
            .map(|record| (newest_first(record.ts.ms(), &record.id.to_string()), record));
        let wanted = Wanted { limit: query.limit, cursor: query.cursor.clone() };
        Answer::of(&Page::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}

/// How the use of a skill went
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
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
    outcome: HowItWent,
    /// How it failed; needed with a failure
    failure: Option<Failure>,
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
enum HowItWent {
    Success,
    Failure,
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Failure {
    DependencyMissing,
    ApiError,
    AuthError,
    TaskMismatch,
    RuntimeError,
}

impl From<Failure> for FailureKind {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::DependencyMissing => Self::DependencyMissing,
            Failure::ApiError => Self::ApiError,
            Failure::AuthError => Self::AuthError,
            Failure::TaskMismatch => Self::TaskMismatch,
            Failure::RuntimeError => Self::RuntimeError,
        }
    }
}

/// Tell the cortex how the use of a skill went
#[utoipa::path(
    post, path = "/outcomes", tag = "cortex", operation_id = "record", request_body = Report,
    responses((status = 201, body = records::Recorded), Refusals)
)]
pub(crate) async fn report(
    State(app): State<App>,
    caller: Caller,
    Body(report): Body<Report>,
) -> Result<(StatusCode, Answer), Problem> {
    let worked = report.outcome == HowItWent::Success;
    if !worked && report.failure.is_none() {
        return Err(Problem::bad("bad-outcome", "a failure says how: `failure` is missing"));
    }
    if worked && report.failure.is_some() {
        return Err(Problem::bad("bad-outcome", "what worked has no `failure`"));
    }
    if report.run.is_none() && report.skill.is_none() {
        return Err(Problem::bad("bad-outcome", "name a `run`, or a `skill`"));
    }
    app.change(move |look| {
        let cortex = look.engine.cortex()?;
        let kind = report.failure.map(FailureKind::from);
        let origin = if caller.is_person() { Origin::User } else { Origin::Agent };
        if let Some(run) = &report.run {
            let result = if worked { Verdict::Success } else { Verdict::Failure };
            let (detail, key) = (report.detail.clone(), report.missing.clone());
            let side_effects = report.side_effects.clone().unwrap_or_default();
            let finish =
                Finish { result, kind, detail, key, origin, side_effects, ..Finish::success() };
            // The run goes on from here: to a question, to the next one, or to putting the skill back.
            let market = look.engine.market(&Said::default())?;
            let flow = look.engine.acquisition(&market);
            let run = flow.report(run, finish, &mut Unattended)?.run;
            let told = json!({"run": run.id, "state": run.state.name()});
            return Ok((StatusCode::CREATED, Answer::of(&told)?));
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
        Ok((StatusCode::CREATED, Answer::of(&recorded)?))
    })
    .await
}
