//! Skill Cortex's formulas, bit for bit.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::failure::FailureKind;
use crate::time::{HOUR_MS, UtcInstant};

/// The initial weight of a skill.
pub const NEW_WEIGHT: f64 = 0.5;
/// What the first success of a window adds, as a share of the distance to 1.
pub const GAIN: f64 = 0.15;
/// Days after which disuse would reduce the weight to nothing.
pub const DECAY_DAYS: f64 = 180.0;
/// The share that always remains.
pub const DECAY_FLOOR: f64 = 0.3;
/// A candidate with a lower effective weight is not offered.
pub const OFFER_MIN: f64 = 0.3;
/// A candidate with a lower effective weight is forgotten.
pub const KEEP_MIN: f64 = 0.1;

/// The weight after this many idle days. It is computed on reading and never stored.
///
/// ```
/// assert_eq!(sinew_cortex::weight::effective(0.5, 72), 0.3);
/// ```
pub fn effective(weight: f64, idle_days: u32) -> f64 {
    weight * (1.0 - f64::from(idle_days) / DECAY_DAYS).max(DECAY_FLOOR)
}

/// The weight after a success, with this many successes before it in the window.
///
/// ```
/// assert_eq!(sinew_cortex::weight::after_success(0.5, 0, 1.0), 0.575);
/// ```
pub fn after_success(weight: f64, recent: u32, blame: f64) -> f64 {
    let gain = (1.0 - weight) * GAIN * (1.0 / (1.0 + f64::from(recent))) * blame;
    (weight + gain).clamp(0.0, 1.0)
}

/// The weight after a failure.
pub fn after_failure(weight: f64, kind: FailureKind, blame: f64) -> f64 {
    let factor = kind.factor();
    // A power of exactly one is not exactly the factor on every machine.
    let factor = if blame < 1.0 { factor.powf(blame) } else { factor };
    (weight * factor).clamp(0.0, 1.0)
}

/// The idle days after which a reflex of this weight can no longer fire; `None` if it cannot fire
/// at all.
pub fn reflex_days(weight: f64) -> Option<f64> {
    (weight >= crate::reflex::MIN_WEIGHT)
        .then(|| DECAY_DAYS * (1.0 - crate::reflex::MIN_WEIGHT / weight))
}

/// The successes of the window, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentSuccesses {
    /// The time, and how many at that instant: imports add several at once.
    stamps: VecDeque<(i64, u32)>,
    total: u32,
}

impl RecentSuccesses {
    /// How many are less than `hours` before `now`.
    pub fn count(&self, now: UtcInstant, hours: u32) -> u32 {
        let from = Self::from(now, hours);
        let outside: u32 =
            self.stamps.iter().take_while(|(at, _)| *at <= from).map(|(_, n)| n).sum();
        self.total - outside
    }

    /// Adds successes, and drops those that have left the window.
    pub fn add(&mut self, at: UtcInstant, many: u32, hours: u32) {
        let from = Self::from(at, hours);
        while let Some((_, count)) = self.stamps.front().copied().filter(|(at, _)| *at <= from) {
            self.stamps.pop_front();
            self.total -= count;
        }
        if many == 0 {
            return;
        }
        self.total += many;
        match self.stamps.back_mut() {
            Some((last, count)) if *last == at.ms() => *count += many,
            _ => self.stamps.push_back((at.ms(), many)),
        }
    }

    /// A success at exactly this instant is outside the window, a later one inside.
    fn from(now: UtcInstant, hours: u32) -> i64 {
        now.ms() - i64::from(hours) * HOUR_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn blame_of_one_is_skill_cortexs_formula_to_the_bit() {
        for kind in FailureKind::ALL {
            assert_eq!(after_failure(0.5, kind, 1.0).to_bits(), (0.5 * kind.factor()).to_bits());
        }
        assert_eq!(after_success(0.5, 3, 1.0).to_bits(), (0.5 + 0.5 * 0.15 * 0.25_f64).to_bits());
    }

    #[test]
    fn disuse_takes_at_most_seven_tenths() {
        assert!(close(effective(1.0, 126), 0.3));
        assert!(close(effective(1.0, 100_000), 0.3));
        assert!(close(effective(0.8, 0), 0.8));
    }

    #[test]
    fn reflexes_end_after_the_days_that_skill_cortex_gives() {
        let days = |weight| (reflex_days(weight).unwrap() * 10.0).round() / 10.0;
        assert_eq!([0.90, 0.92, 0.95, 0.98, 1.0].map(days), [0.0, 3.9, 9.5, 14.7, 18.0]);
        assert_eq!(reflex_days(0.89), None);
    }

    #[test]
    fn the_window_is_half_open() {
        let start = UtcInstant::from_ms(1_000_000_000);
        let mut recent = RecentSuccesses::default();
        recent.add(start, 2, 168);
        assert_eq!(recent.count(start, 168), 2);
        assert_eq!(recent.count(start.plus_ms(168 * HOUR_MS - 1), 168), 2);
        assert_eq!(recent.count(start.plus_ms(168 * HOUR_MS), 168), 0);
        recent.add(start.plus_ms(168 * HOUR_MS), 1, 168);
        assert_eq!(recent.count(start.plus_ms(168 * HOUR_MS), 168), 1);
    }
}
