//! The bench of activation: is the right skill's text in the request when the model answers, what does
//! it cost, and does a message that needs no skill stay as it was? `integrations/bench/README.md` says
//! how it is run and what it measures.

mod agents;
mod hook;
mod library;
mod library_mode;

use std::time::Duration;

/// Whether the long run was asked for.
fn is_long() -> bool {
    std::env::var_os("SINEW_LONG").is_some_and(|value| value == "1")
}

/// What came of some messages.
#[derive(Debug, Default)]
struct ActivationFigures {
    /// Messages that have a skill.
    with_skill: usize,
    /// Of these: the skill's text came along, or at least its name.
    text: usize,
    named: usize,
    /// Messages that have none, and those among them to which nothing was added.
    without_skill: usize,
    untouched: usize,
    /// Characters that each message got, and how long the hook took.
    chars: Vec<usize>,
    times: Vec<Duration>,
    /// Messages that missed, and what they got instead.
    misses: Vec<String>,
}

/// The value that this share of the values does not exceed.
fn percentile(values: &[Duration], share: f64) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort();
    let at = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
    sorted.get(at).copied().unwrap_or_default()
}

impl ActivationFigures {
    fn mean_chars(&self) -> usize {
        self.chars.iter().sum::<usize>() / self.chars.len().max(1)
    }

    /// One line for BENCHMARKS.md.
    #[allow(clippy::print_stderr, reason = "a bench prints its figures")]
    fn print(&self, what: &str) {
        eprintln!(
            "{what}: text {} and name {} of {}; untouched {} of {}; {} characters a message; hook p50 {} ms, p95 {} ms",
            self.text,
            self.named,
            self.with_skill,
            self.untouched,
            self.without_skill,
            self.mean_chars(),
            percentile(&self.times, 0.5).as_millis(),
            percentile(&self.times, 0.95).as_millis(),
        );
        for miss in &self.misses {
            eprintln!("  {miss}");
        }
    }
}
