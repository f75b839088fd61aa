//! A bar while skills are read for the first time: thousands of them, each scanned, take seconds.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sinew_catalog::reading_progress;

/// What is read faster than this is told of by its answer.
const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(100);

/// Where the notice stands.
#[derive(Debug)]
enum NoticeState {
    Waiting,
    Shown(ProgressBar),
    Over,
}

/// The bar, until something else is written.
#[derive(Debug)]
pub(crate) struct ReadingNotice(Arc<Mutex<NoticeState>>);

impl ReadingNotice {
    /// Shows the bar as soon as reading takes long; for a terminal.
    pub(crate) fn start() -> Self {
        let state = Arc::new(Mutex::new(NoticeState::Waiting));
        let shared = Arc::clone(&state);
        // Without a thread there is no bar, and nothing else is lost.
        let _ = thread::Builder::new().name("reading-notice".to_owned()).spawn(move || {
            thread::sleep(PATIENCE);
            while step(&shared) {
                thread::sleep(STEP);
            }
        });
        Self(state)
    }

    /// Takes the bar away, for good.
    pub(crate) fn end(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let NoticeState::Shown(bar) = &*state {
            bar.finish_and_clear();
        }
        *state = NoticeState::Over;
    }
}

/// Draws what was read until now; false when nothing is left to do.
fn step(shared: &Mutex<NoticeState>) -> bool {
    let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
    match (&*state, reading_progress()) {
        (NoticeState::Over, _) => return false,
        (NoticeState::Waiting, None) => {}
        (NoticeState::Waiting, Some((read, wanted))) => {
            let bar =
                ProgressBar::with_draw_target(Some(wanted as u64), ProgressDrawTarget::hidden());
            bar.set_message("reading and scanning skills");
            if let Ok(looks) = ProgressStyle::with_template("{msg} {bar:20} {pos}/{len}") {
                bar.set_style(looks);
            }
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_position(read as u64);
            *state = NoticeState::Shown(bar);
        }
        (NoticeState::Shown(bar), Some((read, wanted))) => {
            bar.set_length(wanted as u64);
            bar.set_position(read as u64);
        }
        (NoticeState::Shown(bar), None) => {
            bar.finish_and_clear();
            *state = NoticeState::Waiting;
        }
    }
    true
}
