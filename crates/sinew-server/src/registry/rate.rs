//! How many requests somebody may send: fixed windows of a minute, for each kind of request.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use super::token::Role;

/// The length of a window.
const WINDOW_MS: u64 = 60_000;
/// Callers that are counted at once. Beyond it old windows are dropped; a flood of addresses costs
/// no more memory than this.
const MAX_COUNTED: usize = 100_000;

/// What kind of request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Read,
    Write,
    Download,
    Export,
}

/// Limits of each kind for nobody in particular, for a token, and for an admin's.
const LIMITS: [(Kind, [u64; 3]); 4] = [
    (Kind::Read, [3_000, 12_000, 120_000]),
    (Kind::Write, [300, 3_000, 30_000]),
    (Kind::Download, [1_200, 6_000, 60_000]),
    (Kind::Export, [10, 60, 60]),
];

/// Who is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Address(IpAddr),
    Token(String, Role),
}

/// Where a caller stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
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
pub(crate) struct Rates {
    scale: u64,
    windows: Mutex<HashMap<(Who, Kind), (u64, u64)>>,
}

impl Rates {
    pub(crate) fn new(scale: u32) -> Self {
        Self { scale: u64::from(scale), windows: Mutex::default() }
    }

    /// Counts one request.
    pub(crate) fn count(&self, who: Who, kind: Kind, now: u64) -> Standing {
        let column = match &who {
            Who::Address(_) => 0,
            Who::Token(_, Role::Admin) => 2,
            Who::Token(..) => 1,
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
        Standing {
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
        let rates = Rates::new(1);
        let who = || Who::Address(IpAddr::from([127, 0, 0, 1]));
        for _ in 0..300 {
            assert!(!rates.count(who(), Kind::Write, 1_000).exceeded);
        }
        let full = rates.count(who(), Kind::Write, 1_000);
        assert_eq!((full.exceeded, full.remaining, full.reset_in), (true, 0, 59));
        assert!(!rates.count(who(), Kind::Read, 1_000).exceeded, "kinds are counted apart");
        assert!(!rates.count(who(), Kind::Write, 61_000).exceeded);
    }
}
