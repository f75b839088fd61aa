//! `behavior_fingerprint`: OpenPocket's coarse hash of what was done where.

use sinew_skill::content_hash;

use crate::run::RunStep;

/// Steps that count, in the fingerprint and in a draft.
pub(crate) const STEPS: usize = 25;

/// Hexadecimal digits that are kept of it.
const DIGITS: usize = 12;

/// The fingerprint of a run's steps.
///
/// Coordinates, typed text, commands and results do not count: the same way through the same
/// applications is the same behaviour.
pub fn fingerprint(steps: &[RunStep]) -> String {
    let parts: Vec<String> = steps.iter().take(STEPS).map(part).collect();
    content_hash(parts.join("|").as_bytes())[..DIGITS].to_owned()
}

fn part(step: &RunStep) -> String {
    let app = if step.app.is_empty() { "?" } else { &step.app };
    let kind = &step.action.kind;
    match kind.as_str() {
        "launch_app" => format!("{app}:{kind}:{}", step.action.text("packageName")),
        "request_human_auth" => format!("{app}:{kind}:{}", step.action.text("capability")),
        _ => format!("{app}:{kind}"),
    }
}
