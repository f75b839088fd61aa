//! How the use of skills went.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sinew_cortex::acquire::UseReport;
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::{OutcomeReporter, RecordBody, SkillOutcome, UseResult};
use sinew_cortex::{Ulid, UtcInstant};
use sinew_engine::acquire::UnattendedHost;
use sinew_engine::hub::HubOverrides;
use sinew_engine::{NewOutcome, OutcomeEffect, OutcomeReport};
use sinew_settings::ErrorCode;
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlQuery};
use super::openapi::ProblemResponses;
use super::page::{CursorPage, PageRequest, newest_first};
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

/// One recorded use
#[derive(Serialize, ToSchema)]
struct OutcomeRow {
    /// The record
    id: Ulid,
    /// When
    ts: UtcInstant,
    /// What kind of record it is: `outcome`
    #[serde(rename = "type")]
    record: &'static str,
    #[serde(flatten)]
    outcome: SkillOutcome,
}

/// How skills did, newest first
#[utoipa::path(
    get, path = "/outcomes", tag = "cortex", operation_id = "outcomes", params(OutcomeListQuery),
    responses((status = 200, body = CursorPage<OutcomeRow>), ProblemResponses)
)]
pub(crate) async fn list(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlQuery(query): UrlQuery<OutcomeListQuery>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let taken = |outcome: &SkillOutcome| {
            query.skill.as_ref().is_none_or(|skill| outcome.slug == *skill)
                && query.region.as_ref().is_none_or(|region| outcome.region == *region)
        };
        let found = look.engine.cortex()?.outcomes(REACHED)?;
        let keyed = found.into_iter().filter_map(|record| match record.body {
            RecordBody::Outcome(outcome) if taken(&outcome) => {
                let key = newest_first(record.ts.ms(), &record.id.to_string());
                let (id, ts) = (record.id, record.ts);
                Some((key, OutcomeRow { id, ts, record: "outcome", outcome: *outcome }))
            }
            _ => None,
        });
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
    /// Its version; the installed one's where absent
    #[schema(max_length = 128)]
    version: Option<String>,
    /// The area of the task
    #[schema(max_length = 128)]
    region: Option<String>,
    /// How it went
    outcome: OutcomeResultName,
    /// How it failed; needed with a failure
    failure: Option<FailureKind>,
    /// What was seen
    #[schema(max_length = 500)]
    detail: Option<String>,
    /// A point of the skill's description: misleading with a mismatch, right with a success
    #[schema(max_length = 300)]
    point: Option<String>,
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

/// What an outcome did to the memory, or where the run stands that it was reported for
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum OutcomeReply {
    Recorded(Box<OutcomeEffect>),
    Run(OutcomeRunState),
    Ticket(OutcomeTicket),
}

/// A report that waits for the database
#[derive(Serialize, ToSchema)]
struct OutcomeTicket {
    /// Its id, under which it is recorded once when the database answers
    waiting: String,
}

/// Where a run stands
#[derive(Serialize, ToSchema)]
struct OutcomeRunState {
    /// The run
    run: String,
    /// Its state
    state: &'static str,
}

/// Tell the cortex how the use of a skill went
#[utoipa::path(
    post, path = "/outcomes", tag = "cortex", operation_id = "record", request_body = OutcomeBody,
    responses(
        (status = 201, body = OutcomeReply),
        (status = 202, description = "Kept until the database answers", body = OutcomeReply),
        ProblemResponses
    )
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
        let kind = report.failure;
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
                point: report.point.clone(),
                key,
                origin,
                side_effects,
                ..UseReport::success()
            };
            // The run goes on from here: to a question, to the next one, or to putting the skill back.
            let market = look.engine.hub().market(&HubOverrides::default())?;
            let flow = look.engine.hub().acquisition(&market);
            let run = flow.report(run, finish, &mut UnattendedHost)?.run;
            let state = OutcomeRunState { state: run.state.name(), run: run.id };
            return Ok((StatusCode::CREATED, JsonReply::of(&OutcomeReply::Run(state))?));
        }
        let outcome = NewOutcome {
            region: report.region,
            task: report.task,
            slug: report.skill.unwrap_or_default(),
            version: report.version.unwrap_or_default(),
            worked: Some(worked),
            kind,
            detail: report.detail,
            point: report.point,
            key: report.missing,
            side_effects: report.side_effects,
            origin,
            ..NewOutcome::default()
        };
        let outcome = look.engine.identified(&look.snapshot.catalog, outcome);
        let (status, reply) = match look.engine.report_outcome(&outcome)? {
            OutcomeReport::Recorded(effect) => {
                (StatusCode::CREATED, OutcomeReply::Recorded(effect))
            }
            OutcomeReport::Waiting { id, .. } => {
                let waiting = id.to_string();
                (StatusCode::ACCEPTED, OutcomeReply::Ticket(OutcomeTicket { waiting }))
            }
        };
        Ok((status, JsonReply::of(&reply)?))
    })
    .await
}
