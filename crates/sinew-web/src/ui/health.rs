//! The state of the machine: what was checked, and the configuration in effect.

use askama::Template;
use axum::extract::State;
use sinew_engine::ProbeHealth;

use super::agent::AgentRow;
use super::frame::{HtmlPage, PageFrame, PageResult, PageVisitor};
use super::text::{line, line_html};
use crate::app::WebApp;

/// Issues shown; the rest is what `sinew doctor` prints.
const ISSUES: usize = 40;

#[derive(Template)]
#[template(path = "health.html")]
struct HealthPage {
    frame: PageFrame,
    version: &'static str,
    agents: Vec<AgentRow>,
    areas: Vec<HealthArea>,
    issues: Vec<(String, String)>,
    config: String,
    config_exists: bool,
    values: Vec<(String, String, bool, &'static str)>,
}

struct HealthArea {
    name: String,
    probes: Vec<HealthProbe>,
    /// What is not here, and need not be.
    absent: Vec<String>,
}

struct HealthProbe {
    name: String,
    word: &'static str,
    class: &'static str,
    detail: String,
    remedy: Option<String>,
}

pub(super) async fn show(State(app): State<WebApp>, visitor: PageVisitor) -> PageResult {
    let page = app.ask(move |look| {
        let (engine, catalog) = (&look.engine, &look.snapshot.catalog);
        let diagnosis = engine.status().doctor(catalog);
        let mut areas: Vec<HealthArea> = Vec::new();
        for probe in &diagnosis.probes {
            if areas.last().is_none_or(|area| area.name != probe.area) {
                let name = probe.area.to_owned();
                areas.push(HealthArea { name, probes: Vec::new(), absent: Vec::new() });
            }
            let Some(area) = areas.last_mut() else { continue };
            if probe.health == ProbeHealth::Absent && probe.remedy.is_none() {
                area.absent.push(line(&probe.name));
                continue;
            }
            let (word, class) = match probe.health {
                ProbeHealth::Good => ("good", "good"),
                ProbeHealth::Absent => ("absent", ""),
                ProbeHealth::Warn => ("worth a look", "warn"),
                ProbeHealth::Fault => ("must be mended", "bad"),
            };
            area.probes.push(HealthProbe {
                name: line(&probe.name),
                word,
                class,
                detail: line_html(&probe.detail),
                remedy: probe.remedy.as_deref().map(line_html),
            });
        }
        let config = engine.settings().config_view();
        let values = config.values.iter().map(|value| {
            let shown = match &value.value {
                serde_json::Value::String(text) => line(text),
                other => line(&other.to_string()),
            };
            (line(&value.key), shown, value.set, value.doc)
        });
        let issues = engine.status().issues(catalog);
        HtmlPage::of(&HealthPage {
            frame: visitor.frame(look, "health", "Health"),
            version: diagnosis.version,
            agents: engine.connect().connections()?.iter().map(AgentRow::of).collect(),
            areas,
            issues: issues
                .iter()
                .filter(|issue| issue.severity > sinew_settings::ReasonSeverity::Info)
                .take(ISSUES)
                .map(|issue| {
                    let remedy = issue.remedy.as_deref().map(line_html).unwrap_or_default();
                    (line_html(&issue.to_string()), remedy)
                })
                .collect(),
            config: line(&config.source.path.to_string_lossy()),
            config_exists: config.source.exists,
            values: values.collect(),
        })
    });
    Ok(page.await?)
}
