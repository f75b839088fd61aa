//! From configuration words to a policy.

use sinew_catalog::config::CortexSection;
use sinew_cortex::{
    CandidateOrder, CortexPolicy, DecayScope, ReflexGate, ReflexInstall, ShieldScope,
};

/// The policy that a configuration describes. Words were checked when it was read; one that is not
/// known leaves the default.
pub(super) fn policy(settings: &CortexSection) -> CortexPolicy {
    let default = CortexPolicy::default();
    CortexPolicy {
        order: match settings.policy.as_deref() {
            Some("bayes") => CandidateOrder::Bayes,
            _ => CandidateOrder::Cortex,
        },
        decay: match settings.decay_scope.as_deref() {
            Some("candidate") => DecayScope::Candidate,
            _ => DecayScope::Region,
        },
        window_hours: settings.window_hours.unwrap_or(default.window_hours),
        gate: match settings.gate.as_deref() {
            Some("reference") => Some(ReflexGate::Reference),
            Some("reference+bound") => Some(ReflexGate::ReferenceAndBound),
            Some("bound") => Some(ReflexGate::Bound),
            Some("off") => Some(ReflexGate::Off),
            _ => None,
        },
        min_lb: settings.min_lb.unwrap_or(default.min_lb),
        install: match settings.install.as_deref() {
            Some("confirm") => ReflexInstall::Confirm,
            _ => ReflexInstall::Notify,
        },
        cancel_window_ms: settings.cancel_window_ms.map_or(default.cancel_window_ms, u64::from),
        shield: match settings.shield.as_deref() {
            Some("all") => ShieldScope::All,
            Some("off") => ShieldScope::Off,
            _ => ShieldScope::Bayes,
        },
        lesson_decay: settings.lesson_decay,
    }
}
