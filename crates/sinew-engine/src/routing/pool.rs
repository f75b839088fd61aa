//! Routers that stay open between questions, and the vectors that are computed behind the answers.
//!
//! One computation runs at a time. Where it fails, the answers say why, and a later question starts it
//! again, after a pause that doubles with each failure: a server that is down for an hour is asked a
//! few times, and one that is back soon has its vectors soon. Skills that change soon after a computation
//! began wait for the end of its window (`skills.load.reloadWindowMs`) and are computed then together,
//! whether there is a question or not.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use sinew_catalog::Snapshot;
use sinew_settings::config::ModelChoice;

use super::CatalogRouter;
use crate::Engine;

/// How long the next vector waits for questions at most: under constant load, vectors still come.
const GIVE_WAY: Duration = Duration::from_millis(100);
/// How often it is seen whether they are answered.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The pause after the first failure: a server that restarts is back within it.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause: a server that came back is used again while its users still wonder.
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// Choices of models that are kept open; few callers use more than one.
const MAX_OPEN: usize = 3;

/// Routers that stay open between questions.
#[derive(Debug, Default)]
pub(crate) struct RouterPool {
    open: Mutex<Vec<PooledRouter>>,
    fill: Mutex<FillState>,
    /// Whether missing vectors are computed behind the answers.
    in_background: AtomicBool,
    /// Questions that are being answered now.
    questions: AtomicUsize,
}

#[derive(Debug)]
struct PooledRouter {
    version: u64,
    choice: ModelChoice,
    router: Arc<CatalogRouter>,
}

/// Where the computation of vectors stands.
#[derive(Debug, Default)]
struct FillState {
    running: bool,
    /// Failures in a row.
    failures: u32,
    /// Before this moment it is not started again.
    not_before: Option<Instant>,
    /// Whether a thread waits for that moment.
    gathering: bool,
    /// Whether more is wanted than the one that runs computes.
    again: bool,
}

/// A question that is being answered: as long as it is held, what is computed behind the answers
/// gives way.
#[derive(Debug)]
pub struct QuestionGuard(Arc<RouterPool>);

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Ordering::AcqRel);
    }
}

impl RouterPool {
    pub(super) fn begin_question(self: &Arc<Self>) -> QuestionGuard {
        self.questions.fetch_add(1, Ordering::AcqRel);
        QuestionGuard(Arc::clone(self))
    }

    pub(super) fn fill_in_background(&self) {
        self.in_background.store(true, Ordering::Release);
    }

    /// Whether this process stays up.
    pub(crate) fn is_in_background(&self) -> bool {
        self.in_background.load(Ordering::Acquire)
    }

    /// Takes earlier failures for past: the configuration says something else now.
    pub(crate) fn forget_failures(&self) {
        let mut fill = lock(&self.fill);
        fill.failures = 0;
        fill.not_before = None;
    }

    fn give_way(&self) {
        let began = Instant::now();
        while self.questions.load(Ordering::Acquire) > 0 && began.elapsed() < GIVE_WAY {
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// The router over a snapshot, with what was learned since it was opened.
    pub(super) fn get(
        self: &Arc<Self>,
        engine: &Engine,
        snapshot: &Arc<Snapshot>,
        choice: ModelChoice,
        until: Option<Instant>,
    ) -> Arc<CatalogRouter> {
        let known = lock(&self.open).iter().find_map(|open| {
            let fits = open.version == snapshot.version && open.choice == choice;
            fits.then(|| Arc::clone(&open.router))
        });
        let router = match known {
            Some(known) => match known.with_new_outcomes(engine, &snapshot.catalog) {
                Some(newer) => self.keep(snapshot.version, choice, newer),
                None => known,
            },
            None => {
                let opened = CatalogRouter::open(engine, &snapshot.catalog, choice, until);
                self.keep(snapshot.version, choice, opened)
            }
        };
        if self.in_background.load(Ordering::Acquire) && router.pending_vectors() > 0 {
            let window = Duration::from_millis(engine.config.load.reload_window_ms);
            self.start_fill(snapshot.version, choice, &router, window);
        }
        router
    }

    /// Computes missing vectors on a thread of its own, unless that is being done or has just failed.
    /// What changes within the window after a computation began is gathered for the next one.
    fn start_fill(
        self: &Arc<Self>,
        version: u64,
        choice: ModelChoice,
        router: &CatalogRouter,
        window: Duration,
    ) {
        let mut fill = lock(&self.fill);
        if fill.running {
            fill.again = true;
            return;
        }
        if let Some(moment) = fill.not_before.filter(|moment| Instant::now() < *moment) {
            // After a failure, a question is what starts it again.
            if fill.failures == 0 && !fill.gathering {
                fill.gathering = true;
                let pool = Arc::downgrade(self);
                thread::spawn(move || gather_until(moment, window, &pool));
            }
            return;
        }
        fill.running = true;
        fill.again = false;
        drop(fill);
        let next = Instant::now() + window;
        let mut run = FillRun { pool: Arc::clone(self), succeeded: false, next, window };
        let mut router = router.clone();
        thread::spawn(move || {
            let filled = router.fill_vectors_in_background(&|| {
                run.pool.give_way();
                true
            });
            if let Err(error) = &filled {
                tracing::warn!(error = %error.message, "skill vectors could not be computed");
            }
            run.succeeded = filled.is_ok();
            // Also after a failure: it knows why it failed, and what was done before stays done.
            run.pool.keep(version, choice, router);
        });
    }

    /// Starts what was gathered.
    fn resume(self: &Arc<Self>, window: Duration) {
        lock(&self.fill).gathering = false;
        let newest = lock(&self.open).iter().find_map(|open| {
            let waits = open.router.pending_vectors() > 0;
            waits.then(|| (open.version, open.choice, Arc::clone(&open.router)))
        });
        if let Some((version, choice, router)) = newest {
            self.start_fill(version, choice, &router, window);
        }
    }

    /// Keeps a router open, unless one over a newer version is.
    pub(super) fn keep(
        &self,
        version: u64,
        choice: ModelChoice,
        router: CatalogRouter,
    ) -> Arc<CatalogRouter> {
        let router = Arc::new(router);
        let mut open = lock(&self.open);
        if open.iter().any(|open| open.choice == choice && open.version > version) {
            return router;
        }
        open.retain(|open| open.choice != choice);
        open.truncate(MAX_OPEN - 1);
        open.insert(0, PooledRouter { version, choice, router: Arc::clone(&router) });
        router
    }
}

/// Waits for a moment, and lets what was gathered until then be computed, if the pool is still there.
fn gather_until(moment: Instant, window: Duration, pool: &Weak<RouterPool>) {
    thread::sleep(moment.saturating_duration_since(Instant::now()));
    if let Some(pool) = pool.upgrade() {
        pool.resume(window);
    }
}

/// One computation. However it ends, the next one may begin.
struct FillRun {
    pool: Arc<RouterPool>,
    succeeded: bool,
    /// When the next one may begin after this one succeeded.
    next: Instant,
    window: Duration,
}

impl Drop for FillRun {
    fn drop(&mut self) {
        let mut fill = lock(&self.pool.fill);
        fill.running = false;
        fill.failures = if self.succeeded { 0 } else { fill.failures.saturating_add(1) };
        fill.not_before = Some(match self.succeeded {
            true => self.next,
            false => Instant::now() + pause(fill.failures),
        });
        if self.succeeded && fill.again && !fill.gathering {
            fill.gathering = true;
            let (next, window, pool) = (self.next, self.window, Arc::downgrade(&self.pool));
            thread::spawn(move || gather_until(next, window, &pool));
        }
    }
}

/// How long to wait after so many failures in a row.
fn pause(failures: u32) -> Duration {
    let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end_somewhere() {
        assert_eq!(pause(1), FIRST_PAUSE);
        assert_eq!(pause(3), 4 * FIRST_PAUSE);
        assert_eq!(pause(100), LONGEST_PAUSE);
    }

    #[test]
    fn a_computation_that_breaks_off_lets_the_next_one_begin() {
        let pool = Arc::new(RouterPool::default());
        lock(&pool.fill).running = true;
        let (next, window) = (Instant::now(), Duration::ZERO);
        drop(FillRun { pool: Arc::clone(&pool), succeeded: false, next, window });
        let fill = lock(&pool.fill);
        assert!(!fill.running && fill.failures == 1 && fill.not_before.is_some());
    }

    #[test]
    fn what_changes_within_the_window_waits_for_its_end() {
        let pool = Arc::new(RouterPool::default());
        let next = Instant::now() + Duration::from_secs(3600);
        let window = Duration::from_secs(3600);
        drop(FillRun { pool: Arc::clone(&pool), succeeded: true, next, window });
        assert_eq!(lock(&pool.fill).not_before, Some(next));
        pool.forget_failures();
        assert_eq!(lock(&pool.fill).not_before, None, "a change of the configuration ends it");
    }
}
