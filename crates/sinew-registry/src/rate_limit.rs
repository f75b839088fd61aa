//! How many requests somebody may send: fixed windows of a minute, for each kind of request.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use super::token::TokenRole;

/// The length of a window.
const WINDOW_MS: u64 = 60_000;
/// Callers that are counted at once. Beyond it old windows are dropped; a flood of addresses costs
/// no more memory than this.
const MAX_COUNTED: usize = 100_000;

/// What kind of request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RequestKind {
    Read,
    Write,
    Download,
    Export,
}

/// Limits of each kind for nobody in particular, for a token, and for an admin's.
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

/// Where a caller stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateStanding {
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    /// When the window ends, in seconds since 1970.
    pub(crate) reset_at: u64,
    /// Seconds until then.
    pub(crate) reset_in: u64,
    pub(crate) exceeded: bool,
}

/// Counts requests.
#[derive(Debug)]
pub(crate) struct RegistryRateLimiter {
    scale: u64,
    windows: Mutex<HashMap<(RateSubject, RequestKind), (u64, u64)>>,
}

impl RegistryRateLimiter {
    pub(crate) fn new(scale: u32) -> Self {
        Self { scale: u64::from(scale), windows: Mutex::default() }
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
        let window = now / WINDOW_MS;
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_COUNTED {
            windows.retain(|_, (at, _)| *at == window);
            if windows.len() >= MAX_COUNTED {
                windows.clear();
            }
        }
        let (at, count) = windows.entry((who, kind)).or_insert((window, 0));
        if *at != window {
            (*at, *count) = (window, 0);
        }
        *count += 1;
        let reset_ms = (window + 1) * WINDOW_MS;
        RateStanding {
            limit,
            remaining: limit.saturating_sub(*count),
            reset_at: reset_ms / 1000,
            reset_in: (reset_ms - now).div_ceil(1000),
            exceeded: *count > limit,
        }
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
