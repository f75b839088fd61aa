//! What happened, for the streams that are open now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::sync::broadcast;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Streams at once: a few browser tabs and a few programs. Each holds a connection.
pub(crate) const MAX_STREAMS: usize = 16;
/// Events kept for a slow client; one that falls further behind is told to load again.
const BACKLOG: usize = 256;

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEventKind {
    CatalogChanged,
    RouteDecided,
    ApprovalOpened,
    ApprovalDecided,
    ProposalCreated,
    ProposalChanged,
    ScanFinished,
    OutcomeRecorded,
    CortexChanged,
    ConfigChanged,
}

impl ServerEventKind {
    /// Every kind there is.
    pub(crate) const ALL: [Self; 10] = [
        Self::CatalogChanged,
        Self::RouteDecided,
        Self::ApprovalOpened,
        Self::ApprovalDecided,
        Self::ProposalCreated,
        Self::ProposalChanged,
        Self::ScanFinished,
        Self::OutcomeRecorded,
        Self::CortexChanged,
        Self::ConfigChanged,
    ];

    /// Its name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CatalogChanged => "catalog.changed",
            Self::RouteDecided => "route.decided",
            Self::ApprovalOpened => "approval.opened",
            Self::ApprovalDecided => "approval.decided",
            Self::ProposalCreated => "proposal.created",
            Self::ProposalChanged => "proposal.changed",
            Self::ScanFinished => "scan.finished",
            Self::OutcomeRecorded => "outcome.recorded",
            Self::CortexChanged => "cortex.changed",
            Self::ConfigChanged => "config.changed",
        }
    }
}

/// One event.
#[derive(Debug)]
pub(crate) struct ServerEvent {
    pub(crate) id: u64,
    pub(crate) kind: ServerEventKind,
    pub(crate) data: Value,
}

/// Sends events to the open streams.
#[derive(Debug)]
pub(crate) struct EventBus {
    sender: broadcast::Sender<Arc<ServerEvent>>,
    last: AtomicU64,
    places: Arc<Semaphore>,
}

impl Default for EventBus {
    fn default() -> Self {
        let places = Arc::new(Semaphore::new(MAX_STREAMS));
        Self { sender: broadcast::channel(BACKLOG).0, last: AtomicU64::new(0), places }
    }
}

impl EventBus {
    pub(crate) fn publish(&self, kind: ServerEventKind, data: Value) {
        let id = self.last.fetch_add(1, Ordering::AcqRel) + 1;
        // An error means that no stream is open, so there is nothing to deliver to.
        let _ = self.sender.send(Arc::new(ServerEvent { id, kind, data }));
    }

    pub(crate) fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }

    /// Opens a stream, unless too many are open.
    pub(crate) fn listen(
        &self,
    ) -> Option<(OwnedSemaphorePermit, broadcast::Receiver<Arc<ServerEvent>>)> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        Some((place, self.sender.subscribe()))
    }
}
