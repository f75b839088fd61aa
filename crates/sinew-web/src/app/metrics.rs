//! Counters for Prometheus. No label carries text from a user or a skill.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use sinew_engine::hook;
use sinew_settings::Environment;
use sinew_store::RecordSeq;

use super::WebApp;

/// Upper bounds of the buckets, in seconds: from a warm answer without the model to a stuck one.
const BUCKETS: [f64; 9] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];

/// Everything that is counted while the server runs.
#[derive(Debug)]
pub(crate) struct WebMetrics {
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    route: LatencyHistogram,
    look: LatencyHistogram,
    outcomes: Mutex<(RecordSeq, OutcomeCounts)>,
    hooks: Mutex<HookLatencies>,
}

/// How long hooks took, by agent and moment, and how far their log was read.
#[derive(Debug, Default)]
struct HookLatencies {
    read: u64,
    took: BTreeMap<(&'static str, &'static str), LatencyHistogram>,
}

/// Outcomes by result and kind of failure.
pub(crate) type OutcomeCounts = BTreeMap<(&'static str, String), u64>;

#[derive(Debug, Default)]
struct LatencyHistogram {
    buckets: [AtomicU64; BUCKETS.len()],
    count: AtomicU64,
    micros: AtomicU64,
}

impl LatencyHistogram {
    fn add(&self, took: Duration) {
        for (bucket, end) in self.buckets.iter().zip(BUCKETS) {
            if took.as_secs_f64() <= end {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The rows of a family, under these labels.
    fn write(&self, text: &mut String, name: &str, labels: &str) {
        let comma = if labels.is_empty() { "" } else { "," };
        for (bucket, end) in self.buckets.iter().zip(BUCKETS) {
            let count = bucket.load(Ordering::Relaxed);
            let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"{end}\"}} {count}");
        }
        let count = self.count.load(Ordering::Relaxed);
        let seconds = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        let own = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{name}_sum{own} {seconds}\n{name}_count{own} {count}");
    }
}

fn histogram(text: &mut String, name: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
}

impl Default for WebMetrics {
    fn default() -> Self {
        let outcomes = Mutex::new((RecordSeq::START, OutcomeCounts::new()));
        let (requests, route, look, hooks) = Default::default();
        Self { requests, route, look, outcomes, hooks }
    }
}

impl WebMetrics {
    pub(crate) fn record_route(&self, took: Duration) {
        self.route.add(took);
    }

    pub(crate) fn record_snapshot(&self, took: Duration) {
        self.look.add(took);
    }

    fn answered(&self, route: &str, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        match requests.get_mut(&(route.to_owned(), status)) {
            Some(count) => *count += 1,
            None => drop(requests.insert((route.to_owned(), status), 1)),
        }
    }

    /// The outcomes so far; `more` adds those after a place, and says how far it came.
    pub(crate) fn count_outcomes<E>(
        &self,
        more: impl FnOnce(RecordSeq, &mut OutcomeCounts) -> Result<RecordSeq, E>,
    ) -> Result<OutcomeCounts, E> {
        let mut known = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut through, mut counts) = known.clone();
        through = more(through, &mut counts)?;
        *known = (through, counts.clone());
        Ok(counts)
    }

    /// Reads what hooks have logged since the last call. They are other processes.
    pub(crate) fn read_hook_latencies(&self, env: &Environment) {
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        let (timings, read) = hook::timings(env, hooks.read);
        hooks.read = read;
        for timing in timings {
            hooks.took.entry((timing.agent, timing.event)).or_default().add(timing.took);
        }
    }

    /// What was counted, in Prometheus' text format.
    pub(crate) fn write(&self, text: &mut String) {
        let families = [
            ("sinew_route_seconds", "Time to route a message.", &self.route),
            ("sinew_catalog_reload_seconds", "Time to look at the skills.", &self.look),
        ];
        for (name, help, times) in families {
            histogram(text, name, help);
            times.write(text, name, "");
        }
        let name = "sinew_hook_seconds";
        histogram(text, name, "Time that agents waited for a hook.");
        let hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        for ((agent, event), times) in &hooks.took {
            times.write(text, name, &format!("agent=\"{agent}\",event=\"{event}\""));
        }
        drop(hooks);
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = requests.iter().map(|((route, status), count)| {
            (format!("route=\"{route}\",status=\"{status}\""), *count as f64)
        });
        family(text, "sinew_http_requests_total", "counter", "Requests answered.", rows);
    }
}

/// One family of numbers, with its labels.
pub(crate) fn family(
    text: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    rows: impl IntoIterator<Item = (String, f64)>,
) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in rows {
        let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}

/// Counts each answer under the route pattern, never under the path that was requested.
pub(crate) async fn count(State(app): State<WebApp>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    app.metrics().answered(route, response.status().as_u16());
    response
}
