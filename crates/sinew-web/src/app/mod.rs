//! What all routes share: one engine that is kept up to date, the event bus, and who may call.

mod change_follower;
mod event_bus;
mod metrics;

use std::collections::HashMap;
use std::fmt;
use std::ops::{ControlFlow, Deref};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use sinew_engine::hub::{HubOverrides, InstallTarget};
use sinew_engine::{Engine, EngineError, LearnSource, LiveEngine, LiveView, WatchEvent};
use sinew_listener::blocking;
use sinew_settings::config::ModelChoice;

use crate::access::WebAccess;
use crate::api::Problem;
use change_follower::ChangeFollower;
pub(crate) use event_bus::{
    EventBus, MAX_CLIENT_STREAMS, MAX_STREAMS, ServerEvent, ServerEventKind, StreamClient,
    StreamPlace, StreamRefusal,
};
pub(crate) use metrics::{WebMetrics, count, family};

/// How often the store is checked for changes by other processes, while an event stream is open.
const FOLLOW_EVERY: Duration = Duration::from_secs(1);

/// How often agents' sessions are looked through, where the configuration says so.
const LEARN_EVERY: Duration = Duration::from_secs(60);

/// How often to check whether registries are due to be asked about installed skills. They are asked
/// once a day.
const RECHECK_EVERY: Duration = Duration::from_secs(60 * 60);
/// How soon a waiting thread notices that its app is gone.
const NOTICE: Duration = Duration::from_secs(1);

/// What all routes share. Cheap to clone.
#[derive(Clone)]
pub struct WebApp(Arc<WebAppState>);

struct WebAppState {
    live: Arc<LiveEngine>,
    /// The engine that was last seen: another one means that the configuration changed.
    seen: Mutex<Weak<Engine>>,
    access: WebAccess,
    bus: EventBus,
    metrics: WebMetrics,
    poke: Mutex<Option<SyncSender<()>>>,
    /// What pages asked to install, by the approval that it waits for.
    installs: Mutex<HashMap<String, PendingInstall>>,
}

/// An install that waits for approval.
#[derive(Debug, Clone)]
pub(crate) enum PendingInstall {
    /// A skill that is new here.
    New { reference: String, place: InstallTarget },
    /// A newer version of one that is here.
    Update { key: String, place: InstallTarget },
}

/// Installs that are remembered; one beyond it has to be requested again.
const MAX_INSTALLS: usize = 100;

impl fmt::Debug for WebApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("App")
    }
}

/// The engine and the skills, as one request sees them.
pub(crate) struct WebContext {
    pub(crate) app: WebApp,
    view: LiveView,
}

impl Deref for WebContext {
    type Target = LiveView;

    fn deref(&self) -> &LiveView {
        &self.view
    }
}

impl WebApp {
    /// An app over an engine that is kept up to date.
    pub fn new(live: Arc<LiveEngine>) -> Result<Self, EngineError> {
        let engine = live.engine();
        let access = WebAccess::new(&engine.settings().access_token()?);
        Ok(Self(Arc::new(WebAppState {
            live,
            seen: Mutex::new(Arc::downgrade(&engine)),
            access,
            bus: EventBus::default(),
            metrics: WebMetrics::default(),
            poke: Mutex::new(None),
            installs: Mutex::default(),
        })))
    }

    /// Follows the folders and the store from now on, on threads of its own, for as long as the app
    /// is there.
    pub fn watch(&self) {
        let (poke, poked) = mpsc::sync_channel(1);
        *self.0.poke.lock().unwrap_or_else(PoisonError::into_inner) = Some(poke);
        let app = Arc::downgrade(&self.0);
        self.0.live.follow(move |event| match app.upgrade() {
            Some(app) => {
                let app = Self(app);
                match event {
                    // The first question finds the vectors there, as far as they could be computed.
                    WatchEvent::Started { .. } => app.warm(),
                    WatchEvent::Changed(_) => {
                        app.warm();
                        app.wake_follower();
                    }
                    // `doctor` reports where watching has become slower.
                    WatchEvent::Notice(_) => {}
                }
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        });
        let app = Arc::downgrade(&self.0);
        thread::spawn(move || follow(&app, &poked));
        let app = Arc::downgrade(&self.0);
        thread::spawn(move || run_every(&app, RECHECK_EVERY, recheck));
        let app = Arc::downgrade(&self.0);
        thread::spawn(move || run_every(&app, LEARN_EVERY, learn));
        let app = Arc::downgrade(&self.0);
        thread::spawn(move || run_every(&app, RECHECK_EVERY, back_up));
        let app = Arc::downgrade(&self.0);
        thread::spawn(move || run_every(&app, RECHECK_EVERY, tend));
    }

    /// Has the follower read the store at once after a change, so that clients need not wait a second.
    pub(crate) fn wake_follower(&self) {
        if let Some(poke) = &*self.0.poke.lock().unwrap_or_else(PoisonError::into_inner) {
            // A wake-up that is already queued covers this one too.
            let _ = poke.try_send(());
        }
    }

    /// The engine, under the configuration as it is now.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        let engine = self.0.live.engine();
        self.tell_of_config(&engine);
        engine
    }

    /// Tells clients that the configuration changed, where the engine is another one than before.
    fn tell_of_config(&self, engine: &Arc<Engine>) {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(seen.as_ptr(), Arc::as_ptr(engine)) {
            *seen = Arc::downgrade(engine);
            drop(seen);
            self.0.bus.publish(ServerEventKind::ConfigChanged, json!({}));
        }
    }

    /// The engine and the skills as they are now. May read many files.
    pub(crate) fn context(&self) -> WebContext {
        let began = Instant::now();
        let view = self.0.live.view();
        self.0.metrics.record_snapshot(began.elapsed());
        self.tell_of_config(&view.engine);
        WebContext { app: self.clone(), view }
    }

    /// Asks the engine, on a thread that may block.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&WebContext) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = self.clone();
        let work = move || {
            let _asking = app.0.live.begin_question();
            work(&app.context())
        };
        match blocking(work).await {
            Some(answer) => answer.map_err(Problem::from),
            None => Err(Problem::internal()),
        }
    }

    /// The same for work that writes to the store.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&WebContext) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, Problem> {
        let gated = move |look: &WebContext| {
            look.engine.check_gate()?;
            work(look)
        };
        let done = self.ask(gated).await;
        self.wake_follower();
        done
    }

    /// Opens the router over the skills as they are now, so that the next request finds it ready.
    pub(crate) fn warm(&self) {
        let app = self.clone();
        thread::spawn(move || {
            let look = app.context();
            drop(look.engine.routing().router(&look.snapshot, ModelChoice::Default));
        });
    }

    /// Remembers what is to be installed once an approval is given.
    pub(crate) fn install_later(&self, approval: String, install: PendingInstall) {
        let mut waiting = self.0.installs.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MAX_INSTALLS {
            waiting.insert(approval, install);
        }
    }

    /// What an approval was asked for, if a page asked.
    pub(crate) fn install_of(&self, approval: &str) -> Option<PendingInstall> {
        self.0.installs.lock().unwrap_or_else(PoisonError::into_inner).remove(approval)
    }

    /// Why requests cannot be answered yet.
    pub fn ready(&self) -> Result<(), String> {
        let parts = &self.0;
        if parts.live.is_loading() {
            return Err("the catalog is being read".to_owned());
        }
        match parts.live.engine().store() {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Who may call.
    pub fn access(&self) -> &WebAccess {
        &self.0.access
    }

    pub(crate) fn bus(&self) -> &EventBus {
        &self.0.bus
    }

    pub(crate) fn metrics(&self) -> &WebMetrics {
        &self.0.metrics
    }
}

/// Does something at once and then regularly, until the app is gone.
fn run_every(app: &Weak<WebAppState>, every: Duration, work: impl Fn(&Engine)) {
    let mut waited = every;
    while let Some(parts) = app.upgrade() {
        if waited >= every {
            waited = Duration::ZERO;
            work(&WebApp(parts).engine());
        } else {
            drop(parts);
        }
        thread::sleep(NOTICE);
        waited += NOTICE;
    }
}

/// Copies the database once a day, and sweeps what killed processes left.
fn back_up(engine: &Engine) {
    sinew_engine::sweep_leftovers(engine.environment());
    if let Err(error) = engine.database().back_up_daily() {
        tracing::warn!(%error, "the database could not be copied");
    }
}

/// Looks through the learned skills once a week; what it proposes waits in the inbox. Where nothing was
/// ever stored there is nothing to look at, and no database is made for it.
fn tend(engine: &Engine) {
    if engine.workshop().has_learned()
        && let Err(error) = engine.workshop().tend_weekly()
    {
        tracing::warn!(%error, "the learned skills could not be looked through");
    }
}

/// Asks registries again about what is installed. What cannot be asked now is asked an hour later;
/// `sinew verify --online` says why.
fn recheck(engine: &Engine) {
    let hub = match engine.hub().open(&HubOverrides::default()) {
        Ok(hub) => hub,
        Err(error) => {
            tracing::warn!(%error, "the settings of the registries cannot be used");
            return;
        }
    };
    for workdir in engine.hub().workdirs() {
        if let Err(error) = hub.refresh_verdicts(&workdir) {
            tracing::warn!(%error, "registries could not be asked again about installed skills");
        }
    }
}

/// Looks through new sessions of the agents that the configuration names. What cannot be read now is
/// read a minute later; `sinew learn` says why.
fn learn(engine: &Engine) {
    if let Err(error) = engine.traces().learn(&LearnSource::Sources, None, &|_, _| {}) {
        tracing::warn!(%error, "new sessions of agents could not be looked through");
    }
}

/// Announces changes in the store while an event stream is open, until the app is gone.
fn follow(app: &Weak<WebAppState>, poked: &mpsc::Receiver<()>) {
    let mut follower = ChangeFollower::default();
    loop {
        let waited = poked.recv_timeout(FOLLOW_EVERY);
        let (Some(app), Ok(()) | Err(RecvTimeoutError::Timeout)) = (app.upgrade(), waited) else {
            return;
        };
        if app.bus.listeners() == 0 {
            follower = ChangeFollower::default();
            continue;
        }
        let app = WebApp(app);
        for (kind, data) in follower.new_events(&app.engine()) {
            if kind == ServerEventKind::CatalogChanged {
                app.warm();
            }
            app.0.bus.publish(kind, data);
        }
    }
}
