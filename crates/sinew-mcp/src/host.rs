//! The engine behind every conversation, as the configuration wants it now.

use std::collections::HashSet;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::SystemTime;

use rmcp::ErrorData;
use sinew_catalog::{RefreshCause, Snapshot};
use sinew_engine::{DigestCache, Engine, EngineError, RouterPool};
use tokio::sync::broadcast;

use super::changes::{ChangeNotice, NoticeBaseline};
use super::questions::QuestionSeal;
use sinew_listener::blocking;

/// Notices that a slow session may be behind; one that is further behind is told everything changed.
const NOTICES: usize = 64;

/// The one engine of the process, for any number of conversations.
#[derive(Debug)]
pub struct McpHost {
    engine: RwLock<Arc<Engine>>,
    /// What the configuration file looked like when it was read.
    config: Mutex<Option<(SystemTime, u64)>>,
    /// Routers that stay open between questions.
    pub routers: Arc<RouterPool>,
    /// Digests of files that are known from before.
    pub digests: DigestCache,
    pub(super) notices: broadcast::Sender<ChangeNotice>,
    pub(super) seen: Mutex<NoticeBaseline>,
    pub(super) seal: QuestionSeal,
    /// What each conversation wants to hear about.
    pub(super) subscribed: Mutex<Vec<Weak<UriSubscriptions>>>,
}

/// Addresses that one conversation follows.
pub(super) type UriSubscriptions = Mutex<HashSet<String>>;

/// What a call works with: the engine and one version of the catalog.
#[derive(Debug, Clone)]
pub(super) struct McpContext {
    pub(super) host: Arc<McpHost>,
    pub(super) engine: Arc<Engine>,
    pub(super) snapshot: Arc<Snapshot>,
}

impl McpHost {
    /// A host over an engine that was opened with [`RESERVED_COMMANDS`](super::RESERVED_COMMANDS).
    pub fn new(engine: Engine) -> Result<Arc<Self>, EngineError> {
        let config = stamp(&engine);
        Ok(Arc::new(Self {
            engine: RwLock::new(Arc::new(engine)),
            config: Mutex::new(config),
            routers: Arc::default(),
            digests: DigestCache::default(),
            notices: broadcast::channel(NOTICES).0,
            seen: Mutex::default(),
            seal: QuestionSeal::new()?,
            subscribed: Mutex::default(),
        }))
    }

    /// The engine, opened anew where the configuration says something else.
    pub fn engine(&self) -> Arc<Engine> {
        let mut known = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken only now: whoever held the lock may have opened a newer one.
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner).clone();
        let now = stamp(&engine);
        if *known == now {
            return engine;
        }
        *known = now;
        // A file that makes no sense right now is being written; the next call looks again.
        let Ok(Some(newer)) = engine.reload_if_changed() else { return engine };
        newer.refresh(RefreshCause::Settings);
        let newer = Arc::new(newer);
        *self.engine.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&newer);
        newer
    }

    /// The engine and the skills as they are now.
    pub(super) fn context(self: &Arc<Self>) -> McpContext {
        let engine = self.engine();
        let snapshot = engine.snapshot();
        self.notify_skill_changes(&snapshot);
        McpContext { host: Arc::clone(self), engine, snapshot }
    }

    /// Does blocking work apart from the conversation.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&McpContext) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let host = Arc::clone(self);
        let work = move || {
            let _asking = host.routers.begin_question();
            work(&host.context())
        };
        blocking(work).await.ok_or_else(|| {
            ErrorData::internal_error("the engine failed; standard error says more", None)
        })
    }
}

impl McpContext {
    /// Whether agents may use the workshop now.
    pub(super) fn workshop_is_on(&self) -> bool {
        self.engine.workshop_settings().0.is_on()
    }
}

/// What the configuration file looks like without reading it.
fn stamp(engine: &Engine) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(&engine.config_source().path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The engine's error in the words of the protocol, for what is no tool's answer.
pub(super) fn internal(error: &EngineError) -> ErrorData {
    ErrorData::internal_error(error.message.clone(), serde_json::to_value(error).ok())
}
