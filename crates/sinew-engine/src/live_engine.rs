//! One engine for a surface that stays up: MCP, the HTTP API, the dashboard, `sinew watch`.
//!
//! A [`LiveEngine`] opens the engine anew when the configuration changed, keeps digests from one
//! question to the next, lets missing vectors be computed behind the answers, and follows the skills on one thread for any number of observers.

use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::thread;
use std::time::SystemTime;

use sinew_catalog::{RefreshCause, Snapshot};

use crate::watch::{self, WatchEvent};
use crate::{DigestCache, Engine, QuestionGuard, RouteAnswer, RouteRequest};

/// The one engine of a process that stays up.
pub struct LiveEngine {
    engine: RwLock<Arc<Engine>>,
    /// The stamp of the configuration file when it was read.
    config: Mutex<Option<ConfigStamp>>,
    digests: DigestCache,
    observers: Mutex<WatchObservers>,
    /// Whether a thread follows the skills. Changed only while `observers` is held.
    followed: AtomicBool,
    /// Whether that thread has read the catalog.
    loaded: AtomicBool,
}

/// Identifies a version of a configuration file without reading it: modification time and size.
type ConfigStamp = (SystemTime, u64);

/// Is called with events about the skills, until it returns `Break`.
type WatchObserver = Box<dyn FnMut(&WatchEvent) -> ControlFlow<()> + Send>;

/// All observers of the skills.
#[derive(Default)]
struct WatchObservers {
    all: Vec<WatchObserver>,
    /// Skills and folders when watching began; absent until the catalog was read.
    started: Option<(usize, usize)>,
}

/// The engine and the skills, as one question sees them.
#[derive(Debug, Clone)]
pub struct LiveView {
    live: Arc<LiveEngine>,
    /// The engine, under the configuration as it was when the question came.
    pub engine: Arc<Engine>,
    /// The skills.
    pub snapshot: Arc<Snapshot>,
}

impl fmt::Debug for LiveEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LiveEngine")
    }
}

impl LiveEngine {
    /// Keeps an engine up to date from now on.
    pub fn new(engine: Engine) -> Arc<Self> {
        let config = stamp(&engine);
        engine.routing().fill_in_background();
        Arc::new(Self {
            engine: RwLock::new(Arc::new(engine)),
            config: Mutex::new(config),
            digests: DigestCache::default(),
            observers: Mutex::default(),
            followed: AtomicBool::new(false),
            loaded: AtomicBool::new(false),
        })
    }

    /// The engine, opened anew where the configuration file is not the one that was read.
    pub fn engine(&self) -> Arc<Engine> {
        let mut known = lock(&self.config);
        // Taken only now: the last holder of the lock may have opened a newer one.
        let engine = self.held();
        let now = stamp(&engine);
        if *known == now {
            return engine;
        }
        *known = now;
        self.reload_from(engine)
    }

    /// The engine under what the configuration file says now, even if the file looks the same.
    pub(crate) fn reloaded(&self) -> Arc<Engine> {
        let mut known = lock(&self.config);
        let engine = self.held();
        *known = stamp(&engine);
        self.reload_from(engine)
    }

    fn held(&self) -> Arc<Engine> {
        self.engine.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reload_from(&self, engine: Arc<Engine>) -> Arc<Engine> {
        // A file that is invalid right now is being written; the next change reads it again.
        let Ok(Some(newer)) = engine.reload_if_changed() else { return engine };
        newer.refresh(RefreshCause::Settings);
        let newer = Arc::new(newer);
        *self.engine.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&newer);
        newer
    }

    /// The engine and the skills as they are now; reads the folders first.
    pub fn fresh_view(self: &Arc<Self>) -> LiveView {
        let engine = self.engine();
        let snapshot = engine.snapshot();
        LiveView { live: Arc::clone(self), engine, snapshot }
    }

    /// The engine and the skills as they were last seen, where a thread follows them; as they are
    /// now, where none does.
    pub fn view(self: &Arc<Self>) -> LiveView {
        let engine = self.engine();
        let snapshot = match self.followed.load(Ordering::Acquire) {
            true => engine.current(),
            false => engine.snapshot(),
        };
        LiveView { live: Arc::clone(self), engine, snapshot }
    }

    /// Says that a question is being answered, until what it gives is dropped: vectors that are
    /// computed meanwhile give way.
    pub fn begin_question(&self) -> QuestionGuard {
        self.held().routing().begin_question()
    }

    /// Whether the skills are followed, and the catalog was not read yet.
    pub fn is_loading(&self) -> bool {
        self.followed.load(Ordering::Acquire) && !self.loaded.load(Ordering::Acquire)
    }

    /// Tells `observer` what happens to the skills, on a thread that all observers share. An observer
    /// that comes late is told at once that watching began; none may call this.
    pub fn follow(
        self: &Arc<Self>,
        mut observer: impl FnMut(&WatchEvent) -> ControlFlow<()> + Send + 'static,
    ) {
        let mut observers = lock(&self.observers);
        if let Some((skills, folders)) = observers.started
            && observer(&WatchEvent::Started { skills, folders }).is_break()
        {
            return;
        }
        observers.all.push(Box::new(observer));
        if !self.followed.swap(true, Ordering::AcqRel) {
            let live = Arc::downgrade(self);
            thread::spawn(move || {
                watch::follow(&|| live.upgrade(), &mut |event| tell(&live, &event));
            });
        }
    }

    /// Reports what happens to the skills, on this thread, until `report` has had enough.
    pub fn watch(self: &Arc<Self>, mut report: impl FnMut(WatchEvent) -> ControlFlow<()>) {
        watch::follow(&|| Some(Arc::clone(self)), &mut report);
    }
}

impl LiveView {
    /// The right skills of these for a message, or none.
    pub fn route(&self, request: &RouteRequest) -> RouteAnswer {
        self.engine.routing().route(&self.snapshot, request)
    }

    /// Digests of files that are known from before.
    pub fn digests(&self) -> &DigestCache {
        &self.live.digests
    }
}

/// Passes an event to all observers; ends when none is left.
fn tell(live: &Weak<LiveEngine>, event: &WatchEvent) -> ControlFlow<()> {
    let Some(live) = live.upgrade() else { return ControlFlow::Break(()) };
    match event {
        WatchEvent::Started { skills, folders } => {
            tracing::info!(skills, folders, "watching the skills");
        }
        WatchEvent::Changed(change) => {
            tracing::info!(version = change.snapshot.version, "the skills changed");
        }
        WatchEvent::Notice(reason) => {
            tracing::warn!(code = %reason.code, detail = reason.detail, "watching is impaired");
        }
    }
    let mut observers = lock(&live.observers);
    if let WatchEvent::Started { skills, folders } = event {
        observers.started = Some((*skills, *folders));
        live.loaded.store(true, Ordering::Release);
    }
    observers.all.retain_mut(|observer| observer(event).is_continue());
    if observers.all.is_empty() {
        observers.started = None;
        live.loaded.store(false, Ordering::Release);
        live.followed.store(false, Ordering::Release);
        return ControlFlow::Break(());
    }
    ControlFlow::Continue(())
}

fn stamp(engine: &Engine) -> Option<ConfigStamp> {
    let metadata = fs::metadata(&engine.settings().config_source().path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
