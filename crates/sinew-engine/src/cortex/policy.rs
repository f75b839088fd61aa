//! From configuration words to a policy.

use sinew_catalog::config::Cortex as Settings;
use sinew_cortex::{DecayScope, Gate, Order, Policy, ReflexInstall, Shield};

/// The policy that a configuration describes. Words were checked when it was read; one that is not
/// known leaves the default.
pub(super) fn policy(settings: &Settings) -> Policy {
    let default = Policy::default();
    Policy {
        order: match settings.policy.as_deref() {
            Some("bayes") => Order::Bayes,
            _ => Order::Cortex,
        },
        decay: match settings.decay_scope.as_deref() {
            Some("candidate") => DecayScope::Candidate,
            _ => DecayScope::Region,
        },
        window_hours: settings.window_hours.unwrap_or(default.window_hours),
        gate: match settings.gate.as_deref() {
            Some("reference") => Some(Gate::Reference),
            Some("reference+bound") => Some(Gate::ReferenceAndBound),
            Some("bound") => Some(Gate::Bound),
            Some("off") => Some(Gate::Off),
            _ => None,
        },
        min_lb: settings.min_lb.unwrap_or(default.min_lb),
        install: match settings.install.as_deref() {
            Some("confirm") => ReflexInstall::Confirm,
            _ => ReflexInstall::Notify,
        },
        cancel_window_ms: settings.cancel_window_ms.map_or(default.cancel_window_ms, u64::from),
        shield: match settings.shield.as_deref() {
            Some("all") => Shield::All,
            Some("off") => Shield::Off,
            _ => Shield::Bayes,
        },
        lesson_decay: settings.lesson_decay,
    }
}
