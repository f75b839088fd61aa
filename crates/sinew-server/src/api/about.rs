//! The server itself: version, configuration, numbers.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use sinew_catalog::{Catalog, State as SkillState};
use sinew_cortex::record::{Body as LogBody, Verdict};
use sinew_cortex::stored::from_stored;
use sinew_engine::{Engine, Error, PromptOptions};
use sinew_store::Tail;

use super::extract::Answer;
use super::openapi::Refusals;
use super::{Problem, records};
use crate::access::Caller;
use crate::app::{App, Metrics, family};

/// The program's version and what it looks at
#[utoipa::path(
    get, path = "/version", tag = "server", operation_id = "version",
    responses((status = 200, body = records::Version), Refusals)
)]
pub(crate) async fn version(State(app): State<App>, _caller: Caller) -> Result<Answer, Problem> {
    app.ask(|look| {
        Answer::of(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "profile": look.engine.profile().name,
            "workspace": look.engine.workspace(),
            "catalog": look.snapshot.version,
        }))
    })
    .await
}

/// The configuration; secrets are shown as set or unset
#[utoipa::path(
    get, path = "/config", tag = "server", operation_id = "shown_config",
    responses((status = 200, body = records::Config), Refusals)
)]
pub(crate) async fn config(State(app): State<App>, _caller: Caller) -> Result<Answer, Problem> {
    app.ask(|look| Answer::of(&look.engine.shown_config())).await
}

/// Numbers for Prometheus.
pub(crate) async fn metrics(State(app): State<App>) -> Result<Response, Problem> {
    let text = app
        .ask(|look| {
            let mut text = String::new();
            write_gauges(&mut text, &look.engine, &look.snapshot.catalog, look.app.metrics())?;
            look.app.metrics().look_at_hooks(look.engine.environment());
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
    metrics: &Metrics,
) -> Result<(), Error> {
    let states = [
        SkillState::Ready,
        SkillState::NeedsSetup,
        SkillState::Disabled,
        SkillState::Blocked,
        SkillState::Excluded,
        SkillState::Shadowed,
        SkillState::Broken,
    ];
    let counts = engine.state_counts(catalog);
    let rows = states.map(|state| {
        let count = counts.get(state.as_str()).copied().unwrap_or_default();
        (format!("state=\"{}\"", state.as_str()), count as f64)
    });
    family(text, "sinew_skills", "gauge", "Skills by state.", rows);
    let block = engine.prompt(catalog, &PromptOptions::default());
    let used = [(String::new(), block.report.used as f64)];
    family(text, "sinew_prompt_chars", "gauge", "Length of the prompt block.", used);
    let rows = engine.finding_counts(catalog).into_iter().map(|((rule, severity), count)| {
        (format!("rule=\"{rule}\",severity=\"{severity}\""), count as f64)
    });
    let help = "Findings in the catalog as it is now.";
    family(text, "sinew_scan_findings_total", "gauge", help, rows);
    let shop = engine.proposal_counts()?;
    let rows = [
        ("pending", shop.pending),
        ("quarantined", shop.quarantined),
        ("applied", shop.applied),
        ("rejected", shop.rejected),
        ("stale", shop.stale),
    ];
    let rows = rows.map(|(status, count)| (format!("status=\"{status}\""), count as f64));
    family(text, "sinew_proposals", "gauge", "Proposals by status.", rows);
    let waiting = [(String::new(), engine.approvals(true)?.len() as f64)];
    family(text, "sinew_approvals_pending", "gauge", "Approvals that wait.", waiting);
    if engine.config().cortex.enabled {
        write_outcomes(text, engine, metrics)?;
    }
    Ok(())
}

/// Outcomes by how they went. The log only grows, so that each scrape reads what is new.
fn write_outcomes(text: &mut String, engine: &Engine, metrics: &Metrics) -> Result<(), Error> {
    let store = engine.store()?;
    let counts = metrics.count_outcomes(|after, counts| {
        let mut through = after;
        for row in Tail::new(&*store, "outcomes", after) {
            let row = row?;
            through = row.seq;
            let Ok(LogBody::Outcome(outcome)) = from_stored(&row.kind, row.body.as_str()) else {
                continue;
            };
            let key = match outcome.result {
                Verdict::Success => ("success", String::new()),
                Verdict::Failure => ("failure", outcome.failure_kind().to_string()),
                Verdict::Unknown => ("unknown", String::new()),
            };
            *counts.entry(key).or_default() += 1;
        }
        Ok::<_, Error>(through)
    })?;
    let rows = counts.into_iter().map(|((outcome, kind), count)| {
        (format!("outcome=\"{outcome}\",kind=\"{kind}\""), count as f64)
    });
    family(text, "sinew_outcomes_total", "counter", "Outcomes in the log.", rows);
    Ok(())
}
