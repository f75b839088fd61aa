//! The drift alarm: a running sum that failures raise and successes lower.

use crate::failure::FailureKind;

/// What each use subtracts from the sum: a skill that fails less than this, in severities, never
/// raises the alarm.
pub const SLACK: f64 = 0.3;
/// The sum that raises the alarm.
pub const ALARM: f64 = 2.5;

/// The sum after a use; `None` for a success.
pub fn sum_after(sum: f64, failure: Option<FailureKind>) -> f64 {
    let raised = failure.map_or(0.0, FailureKind::severity);
    (sum + raised - SLACK).max(0.0)
}

/// Whether the sum raises the alarm.
pub fn raises_alarm(sum: f64) -> bool {
    sum >= ALARM
}
