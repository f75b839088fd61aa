//! How everything is: what was looked at, and the configuration that holds.

use askama::Template;
use axum::extract::State;
use sinew_engine::Health;

use super::frame::{Frame, Page, Shown, Visitor};
use super::text::{coded, line};
use crate::app::App;

#[derive(Template)]
#[template(path = "health.html")]
struct HealthPage {
    frame: Frame,
    version: &'static str,
    areas: Vec<(String, Vec<Probe>)>,
    issues: Vec<(String, String)>,
    config: String,
    config_exists: bool,
    values: Vec<(String, String, bool, &'static str)>,
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
        let mut areas: Vec<(String, Vec<Probe>)> = Vec::new();
        for probe in &diagnosis.probes {
            let (word, class) = match probe.health {
                Health::Good => ("good", "good"),
                Health::Absent => ("absent", ""),
                Health::Warn => ("worth a look", "warn"),
            };
            let shown = Probe {
                name: line(&probe.name),
                word,
                class,
                detail: coded(&probe.detail),
                remedy: probe.remedy.as_deref().map(coded),
            };
            match areas.last_mut().filter(|(area, _)| area == probe.area) {
                Some((_, probes)) => probes.push(shown),
                None => areas.push((probe.area.to_owned(), vec![shown])),
            }
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
            areas,
            issues: issues
                .iter()
                .filter(|issue| issue.severity > sinew_skill::Severity::Info)
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
