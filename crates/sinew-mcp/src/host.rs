//! What all conversations share: the engine behind them, and what their clients follow.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, Weak};

use rmcp::ErrorData;
use sinew_engine::{Engine, EngineError, LiveEngine, LiveView};
use sinew_listener::blocking;
use tokio::sync::broadcast;

use super::changes::{ChangeNotice, NoticeBaseline};
use super::questions::QuestionSeal;

/// Notices that a slow session may be behind; one that is further behind is told everything changed.
const NOTICES: usize = 64;

/// The engine of the process, for any number of conversations.
#[derive(Debug)]
pub struct McpHost {
    pub(super) live: Arc<LiveEngine>,
    pub(super) notices: broadcast::Sender<ChangeNotice>,
    pub(super) seen: Mutex<NoticeBaseline>,
    pub(super) seal: QuestionSeal,
    /// What each conversation has subscribed to.
    pub(super) subscribed: Mutex<Vec<Weak<UriSubscriptions>>>,
}

/// Addresses that one conversation follows.
pub(super) type UriSubscriptions = Mutex<HashSet<String>>;

impl McpHost {
    /// A host over an engine that was opened with [`RESERVED_COMMANDS`](super::RESERVED_COMMANDS).
    pub fn new(live: Arc<LiveEngine>) -> Result<Arc<Self>, EngineError> {
        Ok(Arc::new(Self {
            live,
            notices: broadcast::channel(NOTICES).0,
            seen: Mutex::default(),
            seal: QuestionSeal::new()?,
            subscribed: Mutex::default(),
        }))
    }

    /// The engine, under the configuration as it is now.
    pub(super) fn engine(&self) -> Arc<Engine> {
        self.live.engine()
    }

    /// The engine and the skills as they are now: an agent may have written a file just before.
    pub(super) fn view(&self) -> LiveView {
        let view = self.live.fresh_view();
        self.notify_skill_changes(&view.snapshot);
        view
    }

    /// Does blocking work apart from the conversation.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&LiveView) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let host = Arc::clone(self);
        let work = move || {
            let _asking = host.live.begin_question();
            work(&host.view())
        };
        blocking(work)
            .await
            .ok_or_else(|| ErrorData::internal_error("the engine failed; see standard error", None))
    }
}

/// Whether agents may use the workshop now.
pub(super) fn workshop_is_on(view: &LiveView) -> bool {
    view.engine.workshop().settings().0.is_on()
}

/// The engine's error as a protocol error, for requests that are not tool calls.
pub(super) fn internal(error: &EngineError) -> ErrorData {
    ErrorData::internal_error(error.message.clone(), serde_json::to_value(error).ok())
}
