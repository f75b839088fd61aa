//! Ctrl-C and the other ways to end a program, taken note of: what was made must be removed first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the demo was asked to end.
#[derive(Debug, Clone)]
pub(super) struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Takes note of signals from now on, for as long as the program runs.
    pub(super) fn watch() -> Self {
        let interruption = Self(Arc::default());
        #[cfg(unix)]
        for signal in
            [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            // Without a handler the signal ends us at once, as it always did.
            let _ = signal_hook::flag::register(signal, Arc::clone(&interruption.0));
        }
        interruption
    }

    /// Whether one came.
    pub(super) fn came(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
