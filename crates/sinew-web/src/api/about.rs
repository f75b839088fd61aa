//! The server itself: version, configuration, numbers.

use std::path::Path;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sinew_catalog::{Catalog, EntryState};
use sinew_cortex::record::{RecordBody, UseResult};
use sinew_cortex::stored_body::from_stored;
use sinew_engine::{Engine, EngineError, PromptOptions};
use sinew_store::StreamTail;
use utoipa::ToSchema;

use super::Problem;
use super::extract::JsonReply;
use super::openapi::ProblemResponses;
use crate::access::WebCaller;
use crate::app::{WebApp, WebMetrics, family};

/// The program, and what it looks at
#[derive(Serialize, ToSchema)]
struct VersionReply<'a> {
    /// The program's version
    version: &'static str,
    /// Whose habits apply
    profile: &'static str,
    /// The agent's workspace
    #[schema(value_type = String)]
    workspace: &'a Path,
    /// The version of the catalog
    catalog: u64,
}

/// The program's version and what it looks at
#[utoipa::path(
    get, path = "/version", tag = "server", operation_id = "version",
    responses((status = 200, body = VersionReply<'static>), ProblemResponses)
)]
pub(crate) async fn version(
    State(app): State<WebApp>,
    _caller: WebCaller,
) -> Result<JsonReply, Problem> {
    app.ask(|look| {
        JsonReply::of(&VersionReply {
            version: env!("CARGO_PKG_VERSION"),
            profile: look.engine.profile().name,
            workspace: look.engine.workspace(),
            catalog: look.snapshot.version,
        })
    })
    .await
}

/// The configuration; secrets are shown as set or unset
#[utoipa::path(
    get, path = "/config", tag = "server", operation_id = "shown_config",
    responses((status = 200, body = sinew_engine::ConfigView<'static>), ProblemResponses)
)]
pub(crate) async fn config(
    State(app): State<WebApp>,
    _caller: WebCaller,
) -> Result<JsonReply, Problem> {
    app.ask(|look| JsonReply::of(&look.engine.settings().config_view())).await
}

/// Numbers for Prometheus.
pub(crate) async fn metrics(State(app): State<WebApp>) -> Result<Response, Problem> {
    let text = app
        .ask(|look| {
            let mut text = String::new();
            write_gauges(&mut text, &look.engine, &look.snapshot.catalog, look.app.metrics())?;
            look.app.metrics().read_hook_latencies(look.engine.environment());
            look.app.metrics().write(&mut text);
            Ok(text)
        })
        .await?;
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

fn write_gauges(
    text: &mut String,
    engine: &Engine,
    catalog: &Catalog,
    metrics: &WebMetrics,
) -> Result<(), EngineError> {
    let states = [
        EntryState::Ready,
        EntryState::NeedsSetup,
        EntryState::Disabled,
        EntryState::Blocked,
        EntryState::Excluded,
        EntryState::Shadowed,
        EntryState::Broken,
    ];
    let counts = engine.skills().state_counts(catalog);
    let rows = states.map(|state| {
        let count = counts.get(state.as_str()).copied().unwrap_or_default();
        (format!("state=\"{}\"", state.as_str()), count as f64)
    });
    family(text, "sinew_skills", "gauge", "Skills by state.", rows);
    let block = engine.skills().prompt(catalog, &PromptOptions::default());
    let used = [(String::new(), block.report.used as f64)];
    family(text, "sinew_prompt_chars", "gauge", "Length of the prompt block.", used);
    let rows =
        engine.quality().finding_counts(catalog).into_iter().map(|((rule, severity), count)| {
            (format!("rule=\"{rule}\",severity=\"{severity}\""), count as f64)
        });
    let help = "Findings in the catalog as it is now.";
    family(text, "sinew_scan_findings_total", "gauge", help, rows);
    let shop = engine.workshop().proposal_counts()?;
    let rows = [
        ("pending", shop.pending),
        ("quarantined", shop.quarantined),
        ("applied", shop.applied),
        ("rejected", shop.rejected),
        ("stale", shop.stale),
    ];
    let rows = rows.map(|(status, count)| (format!("status=\"{status}\""), count as f64));
    family(text, "sinew_proposals", "gauge", "Proposals by status.", rows);
    let waiting = [(String::new(), engine.approvals().list(true)?.len() as f64)];
    family(text, "sinew_approvals_pending", "gauge", "Approvals that wait.", waiting);
    if engine.config().cortex.enabled {
        write_outcomes(text, engine, metrics)?;
    }
    Ok(())
}

/// Outcomes by how they went. The log only grows, so that each scrape reads what is new.
fn write_outcomes(
    text: &mut String,
    engine: &Engine,
    metrics: &WebMetrics,
) -> Result<(), EngineError> {
    let store = engine.store()?;
    let counts = metrics.count_outcomes(|after, counts| {
        let mut through = after;
        for row in StreamTail::new(&*store, "outcomes", after) {
            let row = row?;
            through = row.seq;
            let Ok(RecordBody::Outcome(outcome)) = from_stored(&row.kind, row.body.as_str()) else {
                continue;
            };
            let key = match outcome.result {
                UseResult::Success => ("success", String::new()),
                UseResult::Failure => ("failure", outcome.failure_kind().to_string()),
                UseResult::Unknown => ("unknown", String::new()),
            };
            *counts.entry(key).or_default() += 1;
        }
        Ok::<_, EngineError>(through)
    })?;
    let rows = counts.into_iter().map(|((outcome, kind), count)| {
        (format!("outcome=\"{outcome}\",kind=\"{kind}\""), count as f64)
    });
    family(text, "sinew_outcomes_total", "counter", "Outcomes in the log.", rows);
    Ok(())
}
