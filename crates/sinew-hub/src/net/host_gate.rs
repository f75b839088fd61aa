//! Limits requests to one host: only a few at a time, and none while the host asks clients to wait.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Concurrent requests to one host; more would only hit its rate limit sooner.
const MAX_IN_FLIGHT: usize = 6;

/// The gate of one host.
#[derive(Debug, Default)]
pub(super) struct HostGate {
    state: Mutex<HostGateState>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct HostGateState {
    in_flight: usize,
    closed_until: Option<Instant>,
}

impl HostGate {
    /// Waits until a request may be sent.
    pub(super) fn enter(&self) -> HostPermit<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let closed = state.closed_until.and_then(|until| {
                let left = until.saturating_duration_since(Instant::now());
                (!left.is_zero()).then_some(left)
            });
            let left = match closed {
                None if state.in_flight < MAX_IN_FLIGHT => break,
                None => Duration::from_secs(1),
                Some(left) => left,
            };
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.in_flight += 1;
        HostPermit(self)
    }

    /// Holds back every request for this long: when the host tells one client to wait, all of them
    /// wait.
    pub(super) fn close_for(&self, wait: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now().checked_add(wait);
        state.closed_until = state.closed_until.max(until);
    }
}

/// Permission to send one request, until this is dropped.
pub(super) struct HostPermit<'a>(&'a HostGate);

impl Drop for HostPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.in_flight -= 1;
        self.0.freed.notify_one();
    }
}
