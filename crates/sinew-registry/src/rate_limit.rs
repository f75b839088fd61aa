//! How many requests a caller may send: fixed windows of a minute, for each kind of request.

use std::net::IpAddr;
use std::time::Duration;

use sinew_listener::{RateLimiter, RateStanding};

use super::token::TokenRole;

/// The length of a window.
const WINDOW: Duration = Duration::from_secs(60);

/// What kind of request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RequestKind {
    Read,
    Write,
    Download,
    Export,
}

/// Limits of each kind: without a token, with a token, and with an admin's.
const LIMITS: [(RequestKind, [u64; 3]); 4] = [
    (RequestKind::Read, [3_000, 12_000, 120_000]),
    (RequestKind::Write, [300, 3_000, 30_000]),
    (RequestKind::Download, [1_200, 6_000, 60_000]),
    (RequestKind::Export, [10, 60, 60]),
];

/// Who is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RateSubject {
    Address(IpAddr),
    Token(String, TokenRole),
}

/// Counts requests against the limit of each kind.
#[derive(Debug)]
pub(crate) struct RegistryRateLimiter {
    scale: u64,
    windows: RateLimiter<(RateSubject, RequestKind)>,
}

impl RegistryRateLimiter {
    pub(crate) fn new(scale: u32) -> Self {
        Self { scale: u64::from(scale), windows: RateLimiter::new(WINDOW) }
    }

    /// Counts one request.
    pub(crate) fn count(&self, who: RateSubject, kind: RequestKind, now: u64) -> RateStanding {
        let column = match &who {
            RateSubject::Address(_) => 0,
            RateSubject::Token(_, TokenRole::Admin) => 2,
            RateSubject::Token(..) => 1,
        };
        let row = LIMITS.iter().find(|(known, _)| *known == kind);
        let limit = row.map_or(0, |(_, limits)| limits[column]) * self.scale;
        self.windows.count((who, kind), limit, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_fills_and_starts_again() {
        let rates = RegistryRateLimiter::new(1);
        let who = || RateSubject::Address(IpAddr::from([127, 0, 0, 1]));
        for _ in 0..300 {
            assert!(!rates.count(who(), RequestKind::Write, 1_000).exceeded);
        }
        let full = rates.count(who(), RequestKind::Write, 1_000);
        assert_eq!((full.exceeded, full.remaining, full.reset_in), (true, 0, 59));
        assert!(!rates.count(who(), RequestKind::Read, 1_000).exceeded, "kinds are counted apart");
        assert!(!rates.count(who(), RequestKind::Write, 61_000).exceeded);
    }
}
