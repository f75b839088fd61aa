//! Who may ask a host, and when: few at a time, and nobody while it wants to be left alone.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Requests to one host at a time; more would meet its limits sooner, not its answers.
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
    /// Waits for a turn.
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

    /// Nobody asks for so long: one was told to wait, and that holds for all.
    pub(super) fn close_for(&self, wait: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now().checked_add(wait);
        state.closed_until = state.closed_until.max(until);
    }
}

/// A turn, until this is dropped.
pub(super) struct HostPermit<'a>(&'a HostGate);

impl Drop for HostPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.in_flight -= 1;
        self.0.freed.notify_one();
    }
}
