//! Following the skills over time.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew_catalog::watch::{CatalogWatch, RETRY, WatchWaitResult};
use sinew_catalog::{CatalogChange, RefreshCause, Snapshot};
use sinew_settings::{Reason, ReasonCode};

use crate::{Engine, LiveEngine};

/// How often the roots are read while they cannot be watched.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What happened to the skills, or to watching them.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum WatchEvent {
    /// Watching began.
    Started {
        /// Skills at that time.
        skills: usize,
        /// Folders that are watched.
        folders: usize,
    },
    /// Skills changed.
    Changed(CatalogChange),
    /// Something about watching itself.
    Notice(Reason),
}

/// Receives events, until it returns `Break`.
type Report<'r> = &'r mut dyn FnMut(WatchEvent) -> ControlFlow<()>;

/// Reports changes until `report` has had enough or the engine is gone.
pub(crate) fn follow(live: &dyn Fn() -> Option<Arc<LiveEngine>>, report: Report<'_>) {
    let Some(begun) = live() else { return };
    let mut follower = CatalogFollower::new(&begun.engine());
    drop(begun);
    while let Some(now) = live() {
        let engine = now.engine();
        // While it waits, the follower must not be what keeps the engine alive.
        drop(now);
        let stepped = follower.begin(&engine, report);
        drop(engine);
        if stepped.is_break() {
            return;
        }
        let Some(woken) = follower.wait() else { continue };
        let Some(now) = live() else { return };
        if follower.refresh(&now, woken, report).is_break() {
            return;
        }
    }
}

/// What a follower remembers from one refresh to the next.
struct CatalogFollower {
    /// The engine of the last refresh: another one means that the configuration changed.
    engine: Weak<Engine>,
    /// The skills as last reported.
    told: Arc<Snapshot>,
    /// Absent while the folders cannot be watched.
    watch: Option<CatalogWatch>,
    retry_at: Instant,
    /// How long it may wait: what is told of a connected machine counts for a time.
    patience: Duration,
    started: bool,
}

/// Why it is time to refresh.
enum WakeReason {
    /// The folders are not watched and are read regularly, or a machine's time may be over.
    Time,
    /// Something may have been missed.
    Lost,
    /// These paths changed.
    Paths(Vec<PathBuf>),
}

impl CatalogFollower {
    fn new(engine: &Arc<Engine>) -> Self {
        Self {
            told: engine.refresh(RefreshCause::Start).snapshot,
            engine: Arc::downgrade(engine),
            watch: None,
            retry_at: Instant::now(),
            patience: RETRY,
            started: false,
        }
    }

    /// Watches the folders where that is wanted and not done yet, and reports that it began.
    fn begin(&mut self, engine: &Engine, report: Report<'_>) -> ControlFlow<()> {
        // A clock of milliseconds: the moment itself still counts.
        let expiry = engine.next_remote_expiry().map(|left| left + Duration::from_millis(1));
        self.patience = expiry.map_or(RETRY, |left| left.min(RETRY));
        if self.watch.is_none() && engine.config.load.watch && Instant::now() >= self.retry_at {
            match start(engine, &self.told) {
                Ok(begun) => self.watch = Some(begun),
                Err(reason) => {
                    self.retry_at = Instant::now() + RETRY;
                    report(WatchEvent::Notice(reason))?;
                    report(WatchEvent::Notice(Reason::new(
                        ReasonCode::WatchDegraded,
                        "looking for changes every second instead",
                    )))?;
                }
            }
        }
        if self.started {
            return ControlFlow::Continue(());
        }
        self.started = true;
        let catalog = &self.told.catalog;
        report(WatchEvent::Started {
            skills: catalog.unshadowed().count(),
            folders: sinew_catalog::watch::folders_to_watch(catalog).len(),
        })
    }

    /// Waits until it is time to refresh; `None` after a while in which nothing happened.
    fn wait(&mut self) -> Option<WakeReason> {
        match &mut self.watch {
            None => {
                thread::sleep(LOOK_EVERY);
                Some(WakeReason::Time)
            }
            Some(watch) => match watch.wait(self.patience) {
                WatchWaitResult::Quiet if self.patience < RETRY => Some(WakeReason::Time),
                WatchWaitResult::Quiet => None,
                WatchWaitResult::Lost => Some(WakeReason::Lost),
                WatchWaitResult::Changed(paths) => {
                    Some(WakeReason::Paths(paths.into_iter().collect()))
                }
            },
        }
    }

    /// Reads the configuration and the folders again, and reports what differs from the last report.
    fn refresh(
        &mut self,
        live: &LiveEngine,
        woken: WakeReason,
        report: Report<'_>,
    ) -> ControlFlow<()> {
        let engine = live.reloaded();
        let cause = match woken {
            WakeReason::Time => RefreshCause::Files,
            WakeReason::Lost => RefreshCause::WatchLost,
            WakeReason::Paths(paths) => {
                for path in paths.iter().filter(|path| path.ends_with("source-origin.json")) {
                    let skill = path.parent().and_then(std::path::Path::parent);
                    engine.forget_below(skill.unwrap_or(path));
                }
                RefreshCause::Files
            }
        };
        let mut snapshot = engine.refresh(cause).snapshot;
        if let Some(open) = &mut self.watch
            && let Err(reason) = open.follow(&snapshot.catalog)
        {
            self.watch = None;
            self.retry_at = Instant::now() + RETRY;
            snapshot = engine.refresh(RefreshCause::WatchLost).snapshot;
            report(WatchEvent::Notice(reason))?;
        }
        let cause = match std::ptr::eq(self.engine.as_ptr(), Arc::as_ptr(&engine)) {
            true => cause,
            false => RefreshCause::Settings,
        };
        self.engine = Arc::downgrade(&engine);
        // Compared with the last report: a question may have read the folders first.
        let change = CatalogChange::between(Some(&self.told), &snapshot, cause);
        self.told = snapshot;
        match change.is_empty() {
            true => ControlFlow::Continue(()),
            false => report(WatchEvent::Changed(change)),
        }
    }
}

fn start(engine: &Engine, snapshot: &Snapshot) -> Result<CatalogWatch, Reason> {
    let debounce = Duration::from_millis(engine.config.load.debounce_ms);
    let mut watch = CatalogWatch::start(debounce)?;
    watch.add_file(engine.settings().config_source().path.clone());
    watch.add_file(engine.told_remotes_file());
    watch.follow(&snapshot.catalog)?;
    Ok(watch)
}
