//! What all routes share: one engine that is kept up to date, what happened, and who may call.

mod bus;
mod follow;
mod metrics;

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use sinew_catalog::Snapshot;
use sinew_engine::hub::{Place, Said};
use sinew_engine::{CatalogRouter, Digests, Engine, Error, LearnFrom, ModelChoice, WatchEvent};

use crate::access::Access;
use crate::api::Problem;
use crate::blocking::blocking;
use crate::mcp::Host;
pub(crate) use bus::{Bus, Happened, Kind, MAX_STREAMS};
use follow::Follower;
pub(crate) use metrics::{Metrics, count, family};

/// How often the books are looked at for what other processes did, while somebody listens.
const FOLLOW_EVERY: Duration = Duration::from_secs(1);

/// How often agents' sessions are looked through, where the configuration says so.
const LEARN_EVERY: Duration = Duration::from_secs(60);

/// How often it is seen whether registries are to be asked about installed skills again. They are
/// asked once a day.
const RECHECK_EVERY: Duration = Duration::from_secs(60 * 60);
/// How soon a thread that waits for that notices that its app is gone.
const NOTICE: Duration = Duration::from_secs(1);

/// What all routes share. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

struct Parts {
    host: Arc<Host>,
    /// The engine that was last seen: another one means that the configuration changed.
    seen: Mutex<Weak<Engine>>,
    /// Somebody looks at the folders, so that a request need not.
    watched: AtomicBool,
    loaded: AtomicBool,
    access: Access,
    bus: Bus,
    metrics: Metrics,
    poke: Mutex<Option<SyncSender<()>>>,
    /// What pages asked to install, by the approval that it waits for.
    installs: Mutex<HashMap<String, Install>>,
}

/// What waits for a yes.
#[derive(Debug, Clone)]
pub(crate) enum Install {
    /// A skill that is new here.
    New { reference: String, place: Place },
    /// A newer version of one that is here.
    Update { key: String, place: Place },
}

/// Installs that are remembered; an older one is asked for again.
const MAX_INSTALLS: usize = 100;

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("App")
    }
}

/// The engine and the skills, as one request sees them.
pub(crate) struct Look {
    pub(crate) app: App,
    pub(crate) engine: Arc<Engine>,
    pub(crate) snapshot: Arc<Snapshot>,
}

impl Look {
    /// The router over these skills.
    pub(crate) fn router(&self, choice: ModelChoice) -> Arc<CatalogRouter> {
        self.app.0.host.routers.get(&self.engine, &self.snapshot, choice)
    }

    /// Digests of files that are known from before.
    pub(crate) fn digests(&self) -> &Digests {
        &self.app.0.host.digests
    }
}

impl App {
    /// An app over the engine that a host keeps up to date.
    pub fn new(host: Arc<Host>) -> Result<Self, Error> {
        let engine = host.engine();
        let access = Access::new(&engine.access_token()?);
        Ok(Self(Arc::new(Parts {
            host,
            seen: Mutex::new(Arc::downgrade(&engine)),
            watched: AtomicBool::new(false),
            loaded: AtomicBool::new(false),
            access,
            bus: Bus::default(),
            metrics: Metrics::default(),
            poke: Mutex::new(None),
            installs: Mutex::default(),
        })))
    }

    /// Follows the folders and the books from now on, on threads of its own, for as long as the app
    /// is there.
    pub fn watch(&self) {
        let (engine, app) = (self.engine(), Arc::downgrade(&self.0));
        self.0.watched.store(true, Ordering::Release);
        thread::spawn(move || {
            engine.watch(|event| match app.upgrade() {
                Some(app) => {
                    Self(app).saw(&event);
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            });
        });
        let (poke, poked) = mpsc::sync_channel(1);
        *self.0.poke.lock().unwrap_or_else(PoisonError::into_inner) = Some(poke);
        let app = Arc::downgrade(&self.0);
        thread::spawn(move || follow(&app, &poked));
        let app = Arc::downgrade(&self.0);
        thread::spawn(move || regularly(&app, RECHECK_EVERY, recheck));
        let app = Arc::downgrade(&self.0);
        thread::spawn(move || regularly(&app, LEARN_EVERY, learn));
    }

    fn saw(&self, event: &WatchEvent) {
        match event {
            WatchEvent::Started { .. } => self.0.loaded.store(true, Ordering::Release),
            WatchEvent::Changed(_) => self.poke(),
            // Watching goes on more slowly; `doctor` tells.
            WatchEvent::Notice(_) => {}
        }
    }

    /// Something was done that the books know of: whoever listens need not wait a second for it.
    pub(crate) fn poke(&self) {
        if let Some(poke) = &*self.0.poke.lock().unwrap_or_else(PoisonError::into_inner) {
            // A poke that waits already does for this one too.
            let _ = poke.try_send(());
        }
    }

    /// The engine, under the configuration as it is now.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        let engine = self.0.host.engine();
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(seen.as_ptr(), Arc::as_ptr(&engine)) {
            *seen = Arc::downgrade(&engine);
            drop(seen);
            self.0.bus.publish(Kind::ConfigChanged, json!({}));
        }
        engine
    }

    /// The engine and the skills as they are now. May read many files.
    pub(crate) fn look(&self) -> Look {
        let engine = self.engine();
        let began = Instant::now();
        let snapshot = match self.0.watched.load(Ordering::Acquire) {
            true => engine.current(),
            false => engine.snapshot(),
        };
        self.0.metrics.looked(began.elapsed());
        Look { app: self.clone(), engine, snapshot }
    }

    /// Asks the engine, on a thread that may wait.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Look) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = self.clone();
        let work = move || {
            let _asking = app.0.host.routers.asking();
            work(&app.look())
        };
        match blocking(work).await {
            Some(answer) => answer.map_err(Problem::from),
            None => Err(Problem::internal()),
        }
    }

    /// The same for something that changes the books.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Look) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let done = self.ask(work).await;
        self.poke();
        done
    }

    /// Opens the router over the skills as they are now, for somebody who is about to ask.
    pub(crate) fn warm(&self) {
        let app = self.clone();
        thread::spawn(move || drop(app.look().router(ModelChoice::Default)));
    }

    /// Remembers what is to be installed once an approval is given.
    pub(crate) fn install_later(&self, approval: String, install: Install) {
        let mut waiting = self.0.installs.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MAX_INSTALLS {
            waiting.insert(approval, install);
        }
    }

    /// What an approval was asked for, if a page asked.
    pub(crate) fn install_of(&self, approval: &str) -> Option<Install> {
        self.0.installs.lock().unwrap_or_else(PoisonError::into_inner).remove(approval)
    }

    /// Why requests cannot be answered yet.
    pub fn ready(&self) -> Result<(), String> {
        let parts = &self.0;
        if parts.watched.load(Ordering::Acquire) && !parts.loaded.load(Ordering::Acquire) {
            return Err("the catalog is being read".to_owned());
        }
        match parts.host.engine().store() {
            Ok(_) => Ok(()),
            Err(error) => Err(error.message),
        }
    }

    /// Who may call.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    pub(crate) fn bus(&self) -> &Bus {
        &self.0.bus
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }
}

/// Does something at once and then regularly, until the app is gone.
fn regularly(app: &Weak<Parts>, every: Duration, work: impl Fn(&Engine)) {
    let mut waited = every;
    while let Some(parts) = app.upgrade() {
        if waited >= every {
            waited = Duration::ZERO;
            work(&App(parts).engine());
        } else {
            drop(parts);
        }
        thread::sleep(NOTICE);
        waited += NOTICE;
    }
}

/// Asks registries again about what is installed. What cannot be asked now is asked an hour later;
/// `sinew verify --online` says why.
fn recheck(engine: &Engine) {
    if let Ok(hub) = engine.hub(&Said::default()) {
        for workdir in engine.workdirs() {
            let _ = hub.ask_again(&workdir);
        }
    }
}

/// Looks through new sessions of the agents that the configuration names. What cannot be read now is
/// read a minute later; `sinew learn` says why.
fn learn(engine: &Engine) {
    let _ = engine.learn(&LearnFrom::Sources, None, &|_, _| {});
}

/// Looks at the books while somebody listens, until the app is gone.
fn follow(app: &Weak<Parts>, poked: &mpsc::Receiver<()>) {
    let mut follower = Follower::default();
    loop {
        let waited = poked.recv_timeout(FOLLOW_EVERY);
        let (Some(app), Ok(()) | Err(RecvTimeoutError::Timeout)) = (app.upgrade(), waited) else {
            return;
        };
        if app.bus.listeners() == 0 {
            follower = Follower::default();
            continue;
        }
        let app = App(app);
        for (kind, data) in follower.look(&app.engine()) {
            if kind == Kind::CatalogChanged {
                app.warm();
            }
            app.0.bus.publish(kind, data);
        }
    }
}
