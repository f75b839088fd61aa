//! Following the skills over time.

use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew_catalog::watch::{CatalogWatch, RETRY, WatchWaitResult};
use sinew_catalog::{CatalogChange, RefreshCause};
use sinew_settings::{Reason, ReasonCode};

use crate::Engine;

/// How often the roots are looked at while they cannot be watched.
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

impl Engine {
    /// Reports changes until `report` has had enough.
    pub fn watch(&self, mut report: impl FnMut(WatchEvent) -> ControlFlow<()>) {
        let mut reread: Option<Engine> = None;
        let mut change = self.refresh(RefreshCause::Start);
        let mut watch = None;
        let mut retry_at = Instant::now();
        let mut started = false;
        loop {
            let engine = reread.as_ref().unwrap_or(self);
            if watch.is_none() && engine.config.load.watch && Instant::now() >= retry_at {
                match start(engine, &change) {
                    Ok(begun) => watch = Some(begun),
                    Err(reason) => {
                        retry_at = Instant::now() + RETRY;
                        let degraded = Reason::new(
                            ReasonCode::WatchDegraded,
                            "looking for changes every second instead",
                        );
                        for reason in [reason, degraded] {
                            if report(WatchEvent::Notice(reason)).is_break() {
                                return;
                            }
                        }
                    }
                }
            }
            if !started {
                started = true;
                let catalog = &change.snapshot.catalog;
                let begun = WatchEvent::Started {
                    skills: catalog.unshadowed().count(),
                    folders: sinew_catalog::watch::folders_to_watch(catalog).len(),
                };
                if report(begun).is_break() {
                    return;
                }
            }
            let cause = match &mut watch {
                None => {
                    thread::sleep(LOOK_EVERY);
                    RefreshCause::Files
                }
                Some(watch) => match watch.wait(RETRY) {
                    WatchWaitResult::Quiet => continue,
                    WatchWaitResult::Lost => RefreshCause::WatchLost,
                    WatchWaitResult::Changed(paths) => {
                        for path in paths.iter().filter(|path| path.ends_with("source-origin.json"))
                        {
                            let skill = path.parent().and_then(std::path::Path::parent);
                            engine.forget_below(skill.unwrap_or(path));
                        }
                        RefreshCause::Files
                    }
                },
            };
            let (cause, now) = match engine.reload_if_changed() {
                Ok(Some(now)) => (RefreshCause::Settings, Some(now)),
                // A configuration that makes no sense right now is being written, or reported.
                Ok(None) | Err(_) => (cause, None),
            };
            if now.is_some() {
                reread = now;
            }
            let engine = reread.as_ref().unwrap_or(self);
            let before = change.version;
            change = engine.refresh(cause);
            if let Some(open) = &mut watch
                && let Err(reason) = open.follow(&change.snapshot.catalog)
            {
                watch = None;
                retry_at = Instant::now() + RETRY;
                change = engine.refresh(RefreshCause::WatchLost);
                if report(WatchEvent::Notice(reason)).is_break() {
                    return;
                }
            }
            if change.version != before
                && !change.is_empty()
                && report(WatchEvent::Changed(change.clone())).is_break()
            {
                return;
            }
        }
    }
}

fn start(engine: &Engine, change: &CatalogChange) -> Result<CatalogWatch, Reason> {
    let debounce = Duration::from_millis(engine.config.load.debounce_ms);
    let mut watch = CatalogWatch::start(debounce)?;
    watch.add_file(engine.config_source().path.clone());
    watch.follow(&change.snapshot.catalog)?;
    Ok(watch)
}
