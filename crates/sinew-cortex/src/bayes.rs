//! The second policy: reliability as discounted counts, an optimistic order and a cautious bound.

use serde::{Deserialize, Serialize};

use crate::failure::FailureKind;

/// What each use leaves of a candidate's counts: a memory of about fifty uses.
pub const DISCOUNT: f64 = 0.98;
/// The prior for the order: three successes and one failure.
pub const PRIOR: (f64, f64) = (3.0, 1.0);
/// The share of the counts that a new version keeps.
pub const VERSION_SHARE: f64 = 0.25;
/// One-sided 95 %.
pub const Z: f64 = 1.645;
/// A candidate with a lower mean is a last resort.
pub const LAST_RESORT: f64 = 0.3;
/// Days between two offers of a last resort.
pub const LAST_RESORT_DAYS: u32 = 30;

/// Discounted successes and failures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct BayesCounts {
    /// Successes.
    pub a: f64,
    /// Failures, by severity.
    pub b: f64,
}

impl BayesCounts {
    /// After a success.
    #[must_use]
    pub fn success(self, blame: f64) -> Self {
        Self { a: self.a * DISCOUNT + blame, b: self.b * DISCOUNT }
    }

    /// After a failure.
    #[must_use]
    pub fn failure(self, kind: FailureKind, blame: f64) -> Self {
        Self { a: self.a * DISCOUNT, b: self.b * DISCOUNT + kind.severity() * blame }
    }

    /// The counts of another version, or after an alarm.
    #[must_use]
    pub fn quartered(self) -> Self {
        Self { a: self.a * VERSION_SHARE, b: self.b * VERSION_SHARE }
    }

    /// Their sum.
    pub fn sum(self) -> f64 {
        self.a + self.b
    }

    /// The expected reliability.
    pub fn mean(self) -> f64 {
        (PRIOR.0 + self.a) / (PRIOR.0 + PRIOR.1 + self.sum())
    }

    /// The bonus for uncertainty: `known` is the sum of all counts of the region.
    pub fn bonus(self, known: f64) -> f64 {
        let tried = 1.0 + known;
        (0.25 * (tried + 1.0).ln() / (PRIOR.0 + PRIOR.1 + self.sum())).sqrt()
    }

    /// The score that candidates are ordered by.
    pub fn score(self, known: f64) -> f64 {
        self.mean() + self.bonus(known)
    }

    /// The lower bound of the reliability, one-sided 95 %, without the prior.
    pub fn lower_bound(self) -> f64 {
        wilson(self.a, self.sum(), Z)
    }
}

/// Wilson's lower bound for `successes` of `n`; 0 if there is no evidence.
///
/// ```
/// assert!((sinew_cortex::bayes::wilson(5.0, 5.0, 1.645) - 0.6488).abs() < 1e-4);
/// ```
pub fn wilson(successes: f64, n: f64, z: f64) -> f64 {
    if n <= 0.0 {
        return 0.0;
    }
    let share = successes / n;
    let spread = (share * (1.0 - share) / n + z * z / (4.0 * n * n)).max(0.0).sqrt();
    ((share + z * z / (2.0 * n) - z * spread) / (1.0 + z * z / n)).max(0.0)
}
