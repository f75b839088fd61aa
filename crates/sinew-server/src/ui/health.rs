//! How everything is: what was looked at, and the configuration that holds.

use askama::Template;
use axum::extract::State;
use sinew_engine::Health;

use super::agent::Row;
use super::frame::{Frame, Page, Shown, Visitor};
use super::text::{coded, line};
use crate::app::App;

/// Issues shown; the rest is what `sinew doctor` prints.
const ISSUES: usize = 40;

#[derive(Template)]
#[template(path = "health.html")]
struct HealthPage {
    frame: Frame,
    version: &'static str,
    agents: Vec<Row>,
    areas: Vec<Area>,
    issues: Vec<(String, String)>,
    config: String,
    config_exists: bool,
    values: Vec<(String, String, bool, &'static str)>,
}

struct Area {
    name: String,
    probes: Vec<Probe>,
    /// What is not here, and need not be.
    absent: Vec<String>,
}

struct Probe {
    name: String,
    word: &'static str,
    class: &'static str,
    detail: String,
    remedy: Option<String>,
}

pub(super) async fn show(State(app): State<App>, visitor: Visitor) -> Shown {
    let page = app.ask(move |look| {
        let (engine, catalog) = (&look.engine, &look.snapshot.catalog);
        let diagnosis = engine.doctor(catalog);
        let mut areas: Vec<Area> = Vec::new();
        for probe in &diagnosis.probes {
            if areas.last().is_none_or(|area| area.name != probe.area) {
                let name = probe.area.to_owned();
                areas.push(Area { name, probes: Vec::new(), absent: Vec::new() });
            }
            let Some(area) = areas.last_mut() else { continue };
            if probe.health == Health::Absent && probe.remedy.is_none() {
                area.absent.push(line(&probe.name));
                continue;
            }
            let (word, class) = match probe.health {
                Health::Good => ("good", "good"),
                Health::Absent => ("absent", ""),
                Health::Warn => ("worth a look", "warn"),
            };
            area.probes.push(Probe {
                name: line(&probe.name),
                word,
                class,
                detail: coded(&probe.detail),
                remedy: probe.remedy.as_deref().map(coded),
            });
        }
        let config = engine.shown_config();
        let values = config.values.iter().map(|value| {
            let shown = match &value.value {
                serde_json::Value::String(text) => line(text),
                other => line(&other.to_string()),
            };
            (line(&value.key), shown, value.set, value.doc)
        });
        let issues = engine.issues(catalog);
        Page::of(&HealthPage {
            frame: visitor.frame(look, "health", "Health"),
            version: diagnosis.version,
            agents: engine.connections()?.iter().map(Row::of).collect(),
            areas,
            issues: issues
                .iter()
                .filter(|issue| issue.severity > sinew_skill::Severity::Info)
                .take(ISSUES)
                .map(|issue| {
                    let remedy = issue.remedy.as_deref().map(coded).unwrap_or_default();
                    (coded(&issue.to_string()), remedy)
                })
                .collect(),
            config: line(&config.source.path.to_string_lossy()),
            config_exists: config.source.exists,
            values: values.collect(),
        })
    });
    Ok(page.await?)
}
